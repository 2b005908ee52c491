// The page: what its buttons do, and what is shown when the position changes.

import { Board } from '/assets/board.js';
import { mayWork, offer, offerProof } from '/assets/build.js';
import { distances } from '/assets/charts.js';
import { Game, ask, fromAddress } from '/assets/game.js';
import { halfMoves, showGame, showLine, showMoves, showProblem, showResult } from '/assets/panels.js';
import { listTables } from '/assets/tables.js';
import { spoken } from '/assets/words.js';

const byId = (id) => document.getElementById(id);
const FIRST = '8/8/8/5k2/8/8/1Q6/K7 w - - 0 1';

const say = (text) => (byId('spoken').textContent = text);
const game = new Game(show);
const board = new Board({ play, placed, heated, say });

/** Whether what is set up is no position, so that the board shows something else than the game. */
let astray = false;

/** Whether a position is being typed, which is not to be overwritten by an answer that comes late. */
let typing = false;

/** Does something that may fail, and says why. */
async function attempt(work) {
  try {
    await work();
  } catch (error) {
    byId('problem').textContent = error.message;
    say(error.message);
    return false;
  }
  return true;
}

/** Shows the position of the game. */
function show() {
  const { current } = game;
  const { view } = current;
  astray = false;
  byId('problem').textContent = '';
  if (!typing) {
    byId('fen').value = current.fen;
  }
  byId('turn').value = view.turn[0];
  board.show(view, current.move);
  showResult(view);
  offerToSolve(view);
  showMoves(view, { play, preview: (move) => board.preview(move), restore });
  showLine(view, halfMoves(current), (count) => attempt(() => game.along(count)));
  showGame(game);
  showChart();
  byId('first').disabled = byId('back').disabled = !current.parent;
  byId('forward').disabled = byId('last').disabled = !current.children.length && !view.line.length;
  document.title = `${view.words} – Hoffman`;
  say(`${current.move ? `${spoken(current.move.san)}. ` : ''}${view.over ?? view.words}`);
  listMen();
  showSquares(Boolean(board.numbered && view.corresponding));
  if (board.heatMap) {
    refreshHeat();
  }
}

/** The board as it was before a move was looked at. */
function restore() {
  if (!astray) {
    board.show(game.current.view, game.current.move);
  }
}

async function play(uci) {
  const had = document.activeElement?.closest?.('#moves');
  if (!uci || !(await attempt(() => game.play(uci)))) {
    restore();
  }
  // The button that was pressed has gone; the keyboard stays at the moves.
  if (had) {
    (document.querySelector('#moves button') ?? byId('moves')).focus();
  }
}

/** The distances of the game and of the best play behind it. */
function showChart() {
  const { current } = game;
  const path = game.path();
  const name = (node) => node.move?.san ?? 'the first position';
  const points = path.map((node) => ({ result: node.view?.result ?? 'unknown', plies: node.view?.plies ?? null, label: name(node) }));
  const { result, plies, line } = current.view;
  line.forEach(({ san }, at) => points.push({ result, plies: plies === null ? null : plies - at - 1, label: san }));
  const go = (at) => attempt(() => (at < path.length ? game.go(path[at]) : game.along(at - path.length + 1)));
  byId('chart').replaceChildren(distances(points, path.length - 1, go));
}

// ---- setting up

/** Another arrangement of men, with the side to move that is chosen. */
async function placed(men) {
  await start(`${men} ${byId('turn').value} - - 0 1`);
}

async function start(fen, moves = [], how = 'pushState') {
  byId('fen').value = fen;
  try {
    await game.start(fen, moves, how);
    byId('fen').setAttribute('aria-invalid', 'false');
    return true;
  } catch (error) {
    astray = true;
    showProblem(error.message);
    byId('fen').setAttribute('aria-invalid', 'true');
    say(error.message);
    return false;
  }
}

byId('edit').addEventListener('click', () => {
  const editing = byId('setup').hidden;
  byId('setup').hidden = !editing;
  byId('edit').setAttribute('aria-expanded', String(editing));
  board.edit(editing);
  if (!astray) {
    restore();
  }
});
byId('turn').addEventListener('change', () => placed(board.ground.getFen()));
byId('clear').addEventListener('click', () => start('4k3/8/8/8/8/8/8/4K3 w - - 0 1'));
byId('fen-form').addEventListener('submit', (event) => {
  event.preventDefault();
  typing = false;
  start(byId('fen').value.trim());
});

byId('fen').addEventListener('input', () => (typing = true));
byId('fen').addEventListener('blur', () => (typing = false));

// ---- going to and fro

byId('first').addEventListener('click', () => attempt(() => game.go(game.root)));
byId('back').addEventListener('click', () => attempt(() => game.back()));
byId('forward').addEventListener('click', () => attempt(() => game.forward()));
byId('last').addEventListener('click', () => attempt(() => game.last()));
byId('flip').addEventListener('click', () => board.flip());
document.addEventListener('keydown', (event) => {
  const buttons = { ArrowLeft: 'back', ArrowRight: 'forward', Home: 'first', End: 'last' };
  const elsewhere = event.target.closest?.('input, select, textarea, dialog, #heat, .scroll');
  if (buttons[event.key] && !elsewhere && !event.altKey && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    byId(buttons[event.key]).click();
  }
});
addEventListener('popstate', () => load(null));

// ---- heat map

/** The men in the list of those that can be put everywhere. */
function listMen() {
  const list = byId('heat-man');
  const chosen = list.value;
  const men = board.men().sort((one, other) => (one.key < other.key ? -1 : 1));
  list.replaceChildren(...men.map(({ key, color, role }) => new Option(`${color} ${role} ${key}`, key)));
  const same = men.some(({ key }) => key === chosen) ? chosen : men.find(({ color }) => color === game.current.view.turn)?.key;
  list.value = same ?? '';
}

async function refreshHeat() {
  const square = byId('heat-man').value;
  const { fen } = game.current;
  await attempt(async () => {
    const map = await ask('/api/heat', { fen, square });
    if (!byId('heat-panel').hidden && fen === game.current.fen) {
      board.heat(map);
      say(`Heat map of the ${map.man}`);
    }
  });
}

/** A square of the heat map was chosen. */
async function heated(key, put) {
  if (!put) {
    byId('heat-man').value = key;
    await refreshHeat();
    return;
  }
  const from = byId('heat-man').value;
  const man = board.ground.state.pieces.get(from);
  board.ground.setPieces(new Map([[from, undefined], [key, man]]));
  await placed(board.ground.getFen());
  byId('heat-man').value = key;
  await refreshHeat();
}

function closeHeat() {
  byId('heat-panel').hidden = true;
  byId('heat-button').setAttribute('aria-expanded', 'false');
  board.heat(null);
}

byId('heat-button').addEventListener('click', () => {
  if (!byId('heat-panel').hidden) {
    closeHeat();
    return;
  }
  showSquares(false);
  byId('heat-panel').hidden = false;
  byId('heat-button').setAttribute('aria-expanded', 'true');
  refreshHeat();
});
byId('heat-man').addEventListener('change', refreshHeat);

// ---- corresponding squares

function showSquares(shown) {
  byId('squares-button').setAttribute('aria-pressed', String(shown));
  byId('squares-legend').hidden = !shown;
  if (shown) {
    closeHeat();
    board.number(game.current.view.corresponding);
  } else if (board.numbered) {
    board.number(null);
  }
}

byId('squares-button').addEventListener('click', () => showSquares(!board.numbered));

// ---- tables that are missing

/** What this server does, and the position that is being solved. */
let may = { limit: null, prove: null, men: 0 };
let solving = null;

/** Whether no table is made of so many men. */
const hasManyMen = (fen) => fen.split(' ')[0].replace(/[^a-z]/gi, '').length > may.men;

function offerToSolve(view) {
  const leavesOpen = view.result === 'unknown' || ('proof' in view && view.moves.some(({ result }) => result === 'unknown'));
  const isOpen = leavesOpen && !view.over;
  const work = hasManyMen(view.fen) ? isOpen && may.prove : view.hoffman.missing.length && may.limit;
  byId('solve').hidden = !work;
  if (solving !== view.fen) {
    byId('solve-work').replaceChildren();
  }
}

byId('solve-button').addEventListener('click', () => {
  const { fen } = game.current;
  const place = byId('solve-work');
  solving = fen;
  if (!hasManyMen(fen)) {
    offer(place, { fen }, async () => {
      await listTables(showFrom);
      await again();
      keepFocus();
    });
    return;
  }
  offerProof(place, fen, may.prove, async () => {
    // Somebody may have gone on meanwhile.
    if (game.current.fen === fen) {
      await again();
      keepFocus();
    }
  });
});

/** Whoever was at a button that is gone is at the result then, not at the top of the page. */
function keepFocus() {
  const { activeElement } = document;
  if (activeElement === document.body || !activeElement.getClientRects().length) {
    byId('result').focus();
  }
}

/** Asks anew for all positions of the game. */
async function again() {
  const path = game.path().slice(1).map((node) => node.move.uci);
  await start(game.root.fen, path, null);
}

byId('build').addEventListener('submit', (event) => {
  event.preventDefault();
  offer(byId('build-work'), { ending: byId('ending').value.trim() }, () => listTables(showFrom));
});

// ---- the beginning

/** Shows a position of a table. */
async function showFrom(fen) {
  if (fen && (await start(fen))) {
    byId('result').scrollIntoView({ block: 'center' });
  }
}

/** Shows what the address says. */
function load(how) {
  const { fen, moves } = fromAddress(location.search);
  return start(fen || FIRST, moves, how);
}

if (!(await load('replaceState'))) {
  // The address names no position. There has to be one to go on from.
  const problem = byId('problem').textContent;
  await start(FIRST, [], null);
  byId('problem').textContent = problem;
}
listTables(showFrom);
may = await mayWork();
byId('build').hidden = may.limit === null;
if (game.current) {
  offerToSolve(game.current.view);
}
