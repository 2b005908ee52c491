// Uses the page of `hoffman serve` in a browser as people do.
//
//     node page.mjs ADDRESS MODULES CHROMIUM PICTURES
//
// MODULES is the folder where npm has put playwright-core and axe-core. Pictures for the documents are written to
// PICTURES. What is wrong ends it with an error.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [, , address, modules, executablePath, pictures] = process.argv;
const require = createRequire(join(modules, 'node_modules/'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const QUEEN = '8/8/8/5k2/8/8/1Q6/K7 w - - 0 1';
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 375, height: 667 };

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });

/** What a browser says is wrong: errors of scripts, forbidden styles, files that are not there. */
const complaints = [];

async function open(path, options = {}) {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => {
    // A page that is closed soon has no use for its icon any more; a proof and a count may be stopped.
    const { errorText } = request.failure();
    if (!(errorText === 'net::ERR_ABORTED' && /\/icon\.svg$|\/api\/(prove|stats)\?/.test(request.url()))) {
      complaints.push(`${request.url()}: ${errorText}`);
    }
  });
  await page.goto(`http://${address}/${path}`);
  await shows(page, /to move/);
  return page;
}

const link = (fen, moves = []) => `?fen=${fen.replaceAll(' ', '_')}${moves.length ? `&moves=${moves}` : ''}`;
const fenOf = (page) => page.inputValue('#fen');

/** Waits until the result says something. */
async function shows(page, words) {
  await page.locator('#result').filter({ hasText: words }).waitFor({ timeout: 10_000 });
}

/** The middle of a square on the screen. */
async function square(page, key) {
  const board = await page.locator('cg-board').boundingBox();
  const black = await page.locator('.orientation-black').count();
  const [file, rank] = ['abcdefgh'.indexOf(key[0]), Number(key[1]) - 1];
  const [column, row] = black ? [7 - file, rank] : [file, 7 - rank];
  return [board.x + ((column + 0.5) * board.width) / 8, board.y + ((row + 0.5) * board.height) / 8];
}

async function click(page, key) {
  await page.mouse.click(...(await square(page, key)));
}

async function drag(page, from, to) {
  await page.mouse.move(...(await square(page, from)));
  await page.mouse.down();
  await page.mouse.move(...(await square(page, to)), { steps: 5 });
  await page.mouse.up();
}

/** No rule of accessibility is broken. */
async function accessible(page, what) {
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).slice(0, 3).join(' | ')}`);
  assert.deepEqual(found, [], `${what}: rules of accessibility`);
  assert.ok(passes.length > 10, `${what}: too few rules were checked`);
}

/** Nothing has to be scrolled sideways. */
async function fits(page, what) {
  const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= seen, `${what}: ${wide} pixels in ${seen}`);
}

/** No text is cut off by the box that it is in, and no button lies over another one. */
async function unclipped(page, what) {
  const cut = await page.evaluate(() => {
    // What is of class hidden is for readers of screens alone.
    const seen = (element) => element.offsetParent && !element.closest('.hidden');
    const wide = ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1;
    const hides = (element) => getComputedStyle(element).overflowX === 'hidden';
    const cut = [...document.querySelectorAll('body *')]
      .filter((element) => seen(element) && element.textContent.trim() && hides(element) && wide(element))
      .map((element) => `cut: ${element.outerHTML.slice(0, 80)}`);
    // As far as lists that scroll show it.
    const shown = (element) => {
      let { left, top, right, bottom } = element.getBoundingClientRect();
      for (let box = element.parentElement; box; box = box.parentElement) {
        if (getComputedStyle(box).overflowY === 'visible') continue;
        const edge = box.getBoundingClientRect();
        [left, top] = [Math.max(left, edge.left), Math.max(top, edge.top)];
        [right, bottom] = [Math.min(right, edge.right), Math.min(bottom, edge.bottom)];
      }
      return { left, top, right, bottom };
    };
    const boxes = [...document.querySelectorAll('button, select, input')]
      .filter((element) => seen(element) && !element.closest('#heat, cg-container'))
      .map((element) => [element, shown(element)]);
    const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    boxes.forEach(([one, a], at) => boxes.slice(at + 1).forEach(([other, b]) => {
      if (over(a, b)) cut.push(`over each other: ${one.outerHTML.slice(0, 60)}, ${other.outerHTML.slice(0, 60)}`);
    }));
    return cut;
  });
  assert.deepEqual(cut, [], what);
}

const tests = {
  async 'the first view is small and shows who wins'() {
    const context = await browser.newContext({ viewport: DESKTOP });
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    let bytes = 0;
    await devtools.send('Network.enable');
    devtools.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
    await page.goto(`http://${address}/`);
    await shows(page, 'White to move: White wins, mate in 10 moves (19 plies)');
    await page.locator('#table-rows tr').first().waitFor();
    assert.ok(bytes > 10_000 && bytes < 100_000, `${bytes} bytes`);
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
    console.log(`  ${bytes} bytes, first paint after ${Math.round(paint)} ms`);
    await context.close();
  },

  async 'a position is set up with the mouse'() {
    const page = await open('');
    await page.click('#edit');
    await page.click('#clear');
    await shows(page, 'Draw');
    await page.click('#palette button[data-man="white queen"]');
    await click(page, 'd5');
    await shows(page, 'White wins');
    await page.click('#palette button[data-man="black rook"]');
    await click(page, 'h8');
    await page.click('#palette button[data-man="none"]');
    await click(page, 'd5');
    await page.click('#palette button[data-man="none"]');
    // Without a chosen man, men are dragged; off the board they vanish.
    await drag(page, 'e1', 'a1');
    await page.waitForFunction(() => document.querySelector('#fen').value.startsWith('4k2r/8/8/8/8/8/8/K7 '));
    await page.selectOption('#turn', 'b');
    await shows(page, 'Black to move: Black wins');
    const problem = await page.textContent('#problem');
    assert.equal(problem, '');
    // What cannot be is said, and mended.
    await drag(page, 'e8', 'b1');
    await page.locator('#problem').filter({ hasText: 'side by side' }).waitFor();
    await drag(page, 'b1', 'e8');
    await shows(page, 'Black wins');
    await page.context().close();
  },

  async 'a mate is played to the end'() {
    const page = await open(link(QUEEN));
    // The first moves on the board: dragged and tapped; then by the list.
    await drag(page, 'a1', 'b1');
    await shows(page, 'Black to move: White wins');
    await click(page, 'f5');
    await click(page, 'e6');
    await shows(page, /White to move: White wins, mate in 9 moves/);
    for (let ply = 2; ply < 19; ply += 1) {
      const before = await fenOf(page);
      await page.locator('#moves button').first().click();
      await page.waitForFunction((fen) => document.querySelector('#fen').value !== fen, before);
    }
    await page.locator('#over').filter({ hasText: 'Checkmate' }).waitFor();
    assert.equal(await page.locator('#game .step').count(), 19);
    assert.match(await page.textContent('#game'), /#/);
    assert.match(await page.textContent('#moves'), /no legal move/);
    await page.click('#back');
    await shows(page, 'mate in 1 move');
    await page.context().close();
  },

  async 'the main line is stepped through, and the board turned'() {
    const page = await open(link(QUEEN));
    await shows(page, 'White wins, mate in 10 moves');
    await page.locator('#line').filter({ hasText: '#' }).waitFor();
    // The best move, where none was made.
    await page.click('#forward');
    await shows(page, 'Black to move: White wins');
    assert.equal(await page.locator('#game .step').count(), 1);
    await page.click('#last');
    await page.locator('#over').filter({ hasText: 'Checkmate' }).waitFor();
    assert.equal(await page.locator('#game .step').count(), 19);
    await page.click('#first');
    await page.waitForFunction((fen) => document.querySelector('#fen').value === fen, QUEEN);

    for (const color of ['black', 'white']) {
      await page.click('#flip');
      assert.equal(await page.locator(`.cg-wrap.orientation-${color}`).count(), 1);
    }
    await page.context().close();
  },

  async 'the address says everything, and back and forward work'() {
    const page = await open(link(QUEEN));
    await page.click('#moves button[data-uci="b2g2"]');
    await shows(page, 'Black to move');
    await page.locator('#moves button').first().click();
    await shows(page, 'White to move');
    const [fen, url] = [await fenOf(page), page.url()];
    assert.match(url, /moves=b2g2,/);
    const other = await open(new URL(url).search);
    assert.equal(await fenOf(other), fen);
    assert.equal(await other.locator('#game .step').count(), 2);
    await other.context().close();

    await page.goBack();
    await shows(page, 'Black to move');
    await page.goBack();
    await page.waitForFunction((fen) => document.querySelector('#fen').value === fen, QUEEN);
    await page.goForward();
    await page.goForward();
    await page.waitForFunction((fen) => document.querySelector('#fen').value === fen, fen);
    const bad = await open('?fen=nonsense');
    assert.match(await bad.textContent('#problem'), /nonsense/);
    await bad.context().close();
    await page.context().close();
  },

  async 'branches are kept'() {
    const page = await open(link(QUEEN));
    await page.click('#moves button[data-uci="b2g2"]');
    await shows(page, 'Black to move');
    await page.click('#back');
    await shows(page, 'White to move');
    await page.click('#moves button[data-uci="b2e5"]');
    await shows(page, 'Draw');
    assert.equal(await page.locator('#game .branch.other .step').count(), 1);
    assert.match(await page.textContent('#chart figcaption'), /The result changes with Qe5\+ \(Draw\)/);
    // Looking at a move shows the position behind it, and no more.
    await page.click('#back');
    await page.hover('#moves button[data-uci="b2b8"]');
    await page.waitForFunction(() => [...document.querySelectorAll('cg-board piece.white.queen')].some((piece) => piece.cgKey === 'b8'));
    assert.equal(await fenOf(page), QUEEN);
    await page.mouse.move(1, 1);
    await page.waitForFunction(() => [...document.querySelectorAll('cg-board piece.white.queen')].some((piece) => piece.cgKey === 'b2'));
    await page.context().close();
  },

  async 'a pawn becomes what is chosen'() {
    const page = await open(link('8/4P1k1/8/8/8/8/8/K7 w - - 0 1'));
    await drag(page, 'e7', 'e8');
    await page.locator('#promotion button').filter({ hasText: 'rook' }).click();
    await shows(page, 'Black to move: White wins');
    assert.match(await fenOf(page), /^4R3\//);
    // Closing the choice takes the pawn back.
    await page.click('#back');
    await drag(page, 'e7', 'e8');
    await page.locator('#promotion').waitFor();
    await page.keyboard.press('Escape');
    assert.match(await fenOf(page), /^8\/4P1k1\//);
    await page.waitForFunction(() => document.querySelector('cg-board piece.white.pawn')?.cgKey === 'e7');
    await page.context().close();
  },

  async 'everything can be done with keys alone'() {
    const page = await open('');
    const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Skip to the moves');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await shows(page, 'Black to move');
    assert.match(await page.textContent('#spoken'), /^king to b1\. White wins, mate in/);
    await page.keyboard.press('ArrowLeft');
    await shows(page, 'White to move');

    // On the board: the cursor begins on e4.
    await page.focus('#board');
    for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowDown', 'ArrowDown']) {
      await page.keyboard.press(key);
    }
    assert.equal(await page.textContent('#spoken'), 'b2, white queen');
    await page.keyboard.press('Enter');
    assert.equal(await page.textContent('#spoken'), 'b2, white queen taken up');
    for (let step = 0; step < 5; step += 1) {
      await page.keyboard.press('ArrowRight');
    }
    await page.keyboard.press('Enter');
    await shows(page, 'Black to move');
    assert.match(await fenOf(page), /\/6Q1\/K7 b /);

    // Setting up.
    await page.focus('#edit');
    await page.keyboard.press('Enter');
    await page.focus('#board');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Shift+R');
    await page.waitForFunction(() => location.search.includes('/6R1/6Q1/'));
    await page.keyboard.press('Delete');
    await page.waitForFunction(() => location.search.includes('/8/6Q1/'));
    await page.focus('#fen');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('8/8/8/8/8/1k6/7q/K7 b - - 0 1');
    await page.keyboard.press('Enter');
    await shows(page, 'Black wins, mate in 1 move');
    await page.context().close();
  },

  async 'it can be used on a phone'() {
    const page = await open(link(QUEEN), { viewport: PHONE, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
    await fits(page, 'phone');
    await page.touchscreen.tap(...(await square(page, 'b2')));
    await page.touchscreen.tap(...(await square(page, 'g2')));
    await shows(page, 'Black to move');
    await page.tap('#edit');
    await page.tap('#heat-button');
    await page.locator('#heat button').first().waitFor();
    await fits(page, 'phone, everything open');
    const small = await page.evaluate(() =>
      [...document.querySelectorAll('button:not(.step)')].filter((button) => button.offsetParent && button.offsetHeight < 24).length);
    assert.equal(small, 0, 'buttons too small for fingers');
    await accessible(page, 'phone');
    await page.tap('#edit');
    await page.tap('#heat-button');
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: join(pictures, 'serve-phone.png') });
    await page.context().close();
  },

  async 'it can be used at twice its size'() {
    // A window of 1280 by 900 at 200 %: half as many units each way, with everything open.
    const view = { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2, reducedMotion: 'reduce' };
    const page = await open(link(QUEEN), view);
    const opened = async (what) => {
      await page.click('#edit');
      await page.click('#heat-button');
      await page.locator('#heat button').first().waitFor();
      await page.locator('#table-rows tr').filter({ hasText: 'kqk.htb' }).getByRole('button').click();
      await page.locator('#contents rect').first().waitFor();
      await fits(page, what);
      await unclipped(page, what);
      await accessible(page, what);
      await page.click('#edit');
      await page.click('#heat-button');
    };
    await opened('at 200 %');
    const board = await page.locator('cg-board').boundingBox();
    assert.ok(board.height <= 450 && board.height >= 300, `a board of ${board.height} units`);
    await page.locator('cg-board').scrollIntoViewIfNeeded();
    // The board learns where it is when the next picture is drawn.
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    await click(page, 'b2');
    await click(page, 'g2');
    await shows(page, 'Black to move');
    await page.keyboard.press('ArrowLeft');
    await shows(page, 'White to move');
    // Letters alone of twice the size.
    await page.setViewportSize(DESKTOP);
    await page.evaluate(() => (document.documentElement.style.fontSize = '200%'));
    await opened('letters at 200 %');
    await page.context().close();
  },

  async 'the heat map says what a man is worth on each square'() {
    const page = await open(link('8/8/8/4k3/8/8/4P3/4K3 w - - 0 1'));
    await page.click('#heat-button');
    await page.selectOption('#heat-man', 'e1');
    const cell = page.getByRole('button', { name: /^e4: / });
    assert.equal(await cell.count(), 0, 'the kings would touch');
    const d3 = page.getByRole('button', { name: /^d3: / });
    await d3.waitFor();
    // Another result than where the king stands: what is shown next is the answer to this, not the one before it.
    await shows(page, 'Draw');
    const words = await d3.getAttribute('title');
    const wins = /White wins in (\d+)/.exec(words);
    assert.ok(wins, words);
    await d3.click();
    await shows(page, `mate in ${wins[1]} moves`);
    assert.ok((await fenOf(page)).includes('/3K4/4P3/8 w'));
    await page.context().close();
  },

  async 'tables are listed and counted'() {
    const page = await open('');
    await page.fill('#filter', 'KQvK');
    const row = page.locator('#table-rows tr').filter({ hasText: 'kqk.htb' });
    await row.getByRole('button').click();
    await page.locator('#contents h3').filter({ hasText: 'KQvK' }).waitFor();
    assert.ok((await page.locator('#contents rect').count()) > 15);
    await page.getByRole('button', { name: 'Show the longest win: 10 moves' }).click();
    await page.waitForFunction((fen) => document.querySelector('#fen').value === fen, QUEEN);
    // A bar leads to positions of its distance, and so do the fields below it.
    await page.locator('#contents rect.lost').filter({ hasText: 'Lost in 10:' }).click();
    await page.locator('#positions h4').filter({ hasText: 'Black to move loses in 10: ' }).waitFor();
    await page.fill('#contents input[type=number]', '10');
    await page.getByRole('button', { name: 'Show positions' }).click();
    await page.locator('#positions h4').filter({ hasText: 'White to move wins in 10: ' }).waitFor();
    await page.locator('#positions li button').first().click();
    await page.locator('#result').filter({ hasText: 'mate in 10 moves (19 plies)' }).waitFor();
    await accessible(page, 'tables');
    await page.fill('#filter', 'kpk.htb');
    await page.locator('#table-rows tr').filter({ hasText: 'kpk.htb' }).getByRole('button').click();
    await page.locator('#contents h3').filter({ hasText: 'KPvK' }).waitFor();
    await page.getByRole('button', { name: 'Mutual zugzwangs' }).click();
    await page.locator('#positions').filter({ hasText: 'White to move draws, Black to move loses: 80' }).waitFor();
    assert.equal(await page.locator('#positions li button').count(), 24);
    await page.context().close();
  },

  async 'a table that is too large to be counted says so before'() {
    const page = await open('');
    await page.route('**/tables', async (route) => {
      const tables = await (await route.fetch()).json();
      assert.ok(tables.every(({ countable, counting }) => countable || counting));
      Object.assign(tables.find(({ name }) => name === 'krk.htb'), { countable: false, counting: null });
      await route.fulfill({ json: tables });
    });
    // What is still asked when the page is loaded again is broken off.
    await page.waitForLoadState('networkidle');
    await page.reload();
    const row = page.locator('#table-rows tr').filter({ hasText: 'krk.htb' });
    await row.filter({ hasText: 'too large to count here' }).waitFor();
    assert.equal(await row.getByRole('button').count(), 0);
    await page.context().close();
  },

  async 'a large table is counted if that is wanted'() {
    const page = await open('');
    await page.fill('#filter', 'kpkp.hbf');
    const row = page.locator('#table-rows tr').filter({ hasText: 'kpkp.hbf' });
    const contents = page.locator('#contents');
    const start = page.getByRole('button', { name: 'Start' });
    await row.getByRole('button').click();
    await contents.filter({ hasText: /kpkp\.hbf is large: that takes about \d+ s and up to [\d.]+ MB/ }).waitFor();
    await accessible(page, 'a count is offered');
    await start.click();
    await contents.locator('progress').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Stop');
    await page.keyboard.press('Enter');
    await contents.filter({ hasText: 'Stopped.' }).waitFor();
    // What was stopped ends soon; until then, the server answers that it is at work.
    const ended = Date.now() + 20_000;
    const refused = contents.locator('[role=alert]');
    const counted = contents.locator('h3').filter({ hasText: 'KPvKP' });
    do {
      await page.waitForTimeout(100);
      await row.getByRole('button').click();
      await start.click();
      await refused.or(counted).first().waitFor({ timeout: 120_000 });
    } while (Date.now() < ended && (await refused.count()));
    assert.equal(await refused.count(), 0, 'what was stopped goes on');
    await page.getByRole('button', { name: 'Show the longest win: 33 moves' }).first().waitFor();
    await page.getByRole('button', { name: 'Mutual zugzwangs' }).click();
    await start.click();
    await page.locator('#positions h4').filter({ hasText: 'Mutual zugzwangs: 121 positions' }).waitFor({ timeout: 120_000 });
    await accessible(page, 'a large table');
    await page.context().close();
  },

  async 'what an answer rests on is shown'() {
    const page = await open(link('8/8/8/5k2/8/8/1Q6/K7 w - - 90 1'));
    await page.locator('#fifty.warning').filter({ hasText: 'the clock is at 90 of 100' }).waitFor();
    assert.match(await page.textContent('#rests'), /Proved.*kqk\.htb/);
    await page.fill('#fen', '8/8/2n1k3/8/8/2QRB3/8/K7 w - - 0 1');
    await page.keyboard.press('Enter');
    await page.locator('#rests').filter({ hasText: 'Missing tables: ' }).waitFor();
    assert.match(await page.textContent('#rests'), /No table has the position/);
    assert.match(await page.textContent('#rests'), /Missing tables: .*KQRBvKN/);
    // A table that was made under assumptions.
    const pruned = '4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/2KB4 w - - 0 1';
    await page.fill('#fen', pruned);
    await page.keyboard.press('Enter');
    await page.locator('#rests').filter({ hasText: 'The table assumes: ' }).waitFor();
    await page.context().close();
  },

  async 'what is missing is made'() {
    const page = await open(link('8/8/8/4k3/8/8/8/KBN5 w - - 0 1'));
    await shows(page, 'Unknown');
    await page.click('#solve-button');
    await page.locator('#solve-work').filter({ hasText: 'kbnk.htb' }).waitFor();
    await accessible(page, 'a plan');
    await page.getByRole('button', { name: 'Make them' }).click();
    await shows(page, 'White wins, mate in');
    assert.ok(await page.locator('#solve').isHidden(), 'nothing is missing any more');
    await page.waitForFunction(() => document.activeElement.id === 'result');
    // Too much is refused before it is begun.
    await page.fill('#ending', 'KRRvKRR');
    await page.keyboard.press('Enter');
    await page.locator('#build-work').filter({ hasText: 'at a time' }).waitFor();
    await page.context().close();
  },

  async 'a position that no table has is proved'() {
    const page = await open(link('8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1'));
    await shows(page, 'Unknown');
    await page.click('#solve-button');
    await page.locator('#solve-work').filter({ hasText: 'No table holds so many men' }).waitFor();
    await accessible(page, 'a proof is offered');
    await page.getByRole('button', { name: 'Prove it' }).click();
    await page.locator('#result').filter({ hasText: 'White wins' }).waitFor({ timeout: 120_000 });
    await page.locator('#rests').filter({ hasText: 'Proved without tables: ' }).waitFor();
    const groups = await page.locator('#moves h3').allTextContents();
    assert.deepEqual(groups, ['White wins (1)', 'Draw (2)']);
    await page.locator('#why summary').click();
    const why = await page.locator('#why pre').textContent();
    assert.match(why, /How White wins\n[^]*1\. Kb1!/);
    assert.match(why, /Corresponding squares, among/);
    await accessible(page, 'a proof');
    // The kings go to squares of one number.
    const squares = page.getByRole('button', { name: 'Corresponding squares on the board' });
    await squares.click();
    const numbers = (color) => page.locator(`#heat .half.${color}`).evaluateAll((halves) => halves.map((half) => half.textContent));
    const [white, black] = [await numbers('white'), await numbers('black')];
    const count = (halves, number) => halves.filter((text) => text.split(' ').includes(number)).length;
    assert.deepEqual([count(white, '1'), count(black, '1')], [2, 2], `b1 b3 and a7 c7: ${white}; ${black}`);
    assert.deepEqual([count(white, '2'), count(black, '2')], [2, 1], `c1 c3 and b7: ${white}; ${black}`);
    await accessible(page, 'corresponding squares');
    await page.locator('#frame').screenshot({ path: join(pictures, 'serve-squares.png') });
    await squares.click();
    assert(await page.locator('#heat').isHidden());
    await squares.click();
    // What is known of a move is known behind it.
    await page.getByRole('button', { name: 'Kb1' }).click();
    await page.locator('#rests').filter({ hasText: 'by the proof of the position before' }).waitFor();
    await shows(page, 'White wins');
    assert(await page.locator('#why').isHidden());
    assert(await page.locator('#heat').isHidden(), 'these are of another position');
    await page.keyboard.press('ArrowLeft');
    await page.locator('#rests').filter({ hasText: 'pawn structures opened' }).waitFor();
    // The address says it again, also to somebody else.
    await page.waitForLoadState('networkidle');
    await page.reload({ waitUntil: 'networkidle' });
    await shows(page, 'White wins');
    const other = await open(new URL(page.url()).search);
    await other.waitForLoadState('networkidle');
    await shows(other, 'White wins');
    assert.deepEqual(await other.locator('#moves h3').allTextContents(), groups);
    await other.context().close();
    await page.context().close();
  },

  async 'work is stopped'() {
    const page = await open(link('4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 1'));
    await shows(page, 'Unknown');
    await page.click('#solve-button');
    await page.getByRole('button', { name: 'Prove it' }).click();
    await page.locator('#solve-work progress').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Stop');
    await page.keyboard.press('Enter');
    await page.locator('#solve-work').filter({ hasText: 'Stopped.' }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Stopped.');
    await accessible(page, 'stopped work');
    await page.context().close();
  },

  async 'no rule of accessibility is broken, and pictures are taken'() {
    for (const colorScheme of ['light', 'dark']) {
      const page = await open(link('8/8/1k6/8/2r5/8/1PK5/1R6 w - - 0 1'), { colorScheme, reducedMotion: 'reduce' });
      await page.locator('#table-rows tr').first().waitFor();
      await accessible(page, colorScheme);
      await page.click('#edit');
      await page.click('#heat-button');
      await page.locator('#heat button').first().waitFor();
      await accessible(page, `${colorScheme}, everything open`);
      await page.context().close();
    }
    const page = await open(link('8/8/8/8/4k3/8/3KP3/8 b - - 0 1', ['e4d4', 'e2e3', 'd4c4', 'd2e2', 'c4b4']), { reducedMotion: 'reduce' });
    await page.locator('#table-rows tr').first().waitFor();
    await page.screenshot({ path: join(pictures, 'serve.png') });
    const heat = await open(link('4k3/8/8/8/8/8/4P3/4K3 w - - 0 1'));
    await heat.click('#heat-button');
    await heat.locator('#heat button').first().waitFor();
    await heat.locator('#frame').screenshot({ path: join(pictures, 'serve-heat.png') });
    await page.context().close();
    await heat.context().close();
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    assert.deepEqual(complaints.splice(0).filter((text) => !/status of 40[09]/.test(text)), [], 'complaints of the browser');
    console.log(`ok: ${name}`);
  } catch (error) {
    failed += 1;
    complaints.length = 0;
    console.log(`FAILED: ${name}\n${error.stack}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
