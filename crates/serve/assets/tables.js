// The tables that there are, and what they contain.

import { offerCount } from '/assets/build.js';
import { histogram } from '/assets/charts.js';
import { ask } from '/assets/game.js';
import { element, size } from '/assets/words.js';

const METRICS = { dtm: 'moves to mate', dtc: 'moves to conversion', basic: 'win, draw, loss', flag: 'one result' };

/** Lists the tables; `show` is given positions to show. */
export async function listTables(show) {
  const rows = document.getElementById('table-rows');
  const count = document.getElementById('table-count');
  const filter = document.getElementById('filter');
  let tables;
  try {
    tables = await ask('/tables');
  } catch (error) {
    count.textContent = error.message;
    return;
  }
  const fill = () => {
    const wanted = filter.value.trim().toLowerCase();
    const fits = ({ name, ending }) => name.toLowerCase().includes(wanted) || (ending ?? '').toLowerCase().includes(wanted);
    const shown = tables.filter(fits);
    rows.replaceChildren(...shown.map((table) => row(table, show)));
    count.textContent = `${shown.length} of ${tables.length} tables, ${size(tables.reduce((sum, { bytes }) => sum + bytes, 0))} in all`;
  };
  filter.oninput = fill;
  fill();
}

function row(table, show) {
  const { name, ending, men, bytes, metric, partial, assumes, countable, counting, error } = table;
  const notes = [METRICS[metric] ?? metric, partial && 'some positions only', ...assumes.map((text) => `assumes: ${text}`)];
  const says = error ?? notes.filter(Boolean).join('; ');
  const too = error ? '' : element('span', { title: 'hoffman stats counts it' }, 'too large to count here');
  const count = !countable && !counting
    ? too
    : element('button', { type: 'button', onclick: (event) => contents(table, show, event.currentTarget), 'aria-label': `Count ${name}` }, 'Count');
  const cells = [ending ?? '', men ?? '', size(bytes), says, count];
  return element('tr', {}, element('th', { scope: 'row' }, name), ...cells.map((cell) => element('td', {}, cell)));
}

/** Asks a question about a table. A large one is asked only if that is wanted, and the work is shown. */
async function question(path, asked, { countable, counting }, place, answered) {
  if (!countable) {
    offerCount(place, path, asked, counting, answered);
    return;
  }
  try {
    answered(await ask(path, asked));
  } catch (error) {
    place.replaceChildren(element('p', { role: 'alert' }, error.message));
  }
}

/** Counts a table and shows what it contains. */
async function contents(table, show, button) {
  const { name } = table;
  const place = document.getElementById('contents');
  button.disabled = true;
  place.replaceChildren(element('p', { role: 'status' }, `Counting ${name} …`));
  await question('/api/stats', { table: name }, table, place, (stats) => {
    const title = element('h3', { tabindex: '-1' }, `${name}: ${stats.table}`);
    const found = element('div', { id: 'positions' });
    const list = (asked, what) => positions({ table: name, ...asked }, what, table, found, show);
    const bar = (turn, { won, moves }) => {
      const asked = { to_move: turn, result: won ? 'win' : 'loss', moves };
      return list(asked, `${turn === 'white' ? 'White' : 'Black'} to move ${won ? 'wins' : 'loses'} in ${moves}`);
    };
    place.replaceChildren(title, histogram(stats, show, bar), finder(stats, list, bar), found);
    title.focus();
    title.scrollIntoView({ block: 'nearest' });
  });
  button.disabled = false;
}

/** What asks for positions without a pointer: those of a number of moves, and mutual zugzwangs. */
function finder(stats, list, bar) {
  const choice = (label, ...names) =>
    element('select', { 'aria-label': label }, ...names.map(([value, name]) => element('option', { value }, name)));
  const turn = choice('Side to move', ['white', 'White to move'], ['black', 'Black to move']);
  const result = choice('Result', ['won', 'wins in'], ['lost', 'loses in']);
  const moves = element('input', { type: 'number', min: '0', value: '1', 'aria-label': 'Moves' });
  const ask = () => bar(turn.value, { won: result.value === 'won', moves: moves.valueAsNumber || 0 });
  const distances = stats.white_to_move.histogram.length + stats.black_to_move.histogram.length > 0;
  const parts = distances ? [turn, result, moves, element('button', { type: 'button', onclick: ask }, 'Show positions')] : [];
  const zugzwangs = element('button', { type: 'button', onclick: () => list({ zugzwang: 'mutual' }, 'Mutual zugzwangs') }, 'Mutual zugzwangs');
  return element('p', { class: 'bar' }, ...parts, zugzwangs);
}

/** Shows the first positions of a list, to be put on the board. */
async function positions(asked, what, table, place, show) {
  place.replaceChildren(element('p', { role: 'status' }, 'Looking …'));
  await question('/api/list', asked, table, place, ({ positions: count, kinds, list }) => {
    const more = count > list.length ? `, the first ${list.length} of them` : '';
    const title = element('h4', { tabindex: '-1' }, `${what}: ${count.toLocaleString('en')} positions${more}`);
    const said = kinds.map(([, words, number]) => element('li', {}, `${words}: ${number.toLocaleString('en')}`));
    const buttons = list.map(({ fen }) => element('li', {}, element('button', { type: 'button', onclick: () => show(fen) }, fen)));
    place.replaceChildren(title, element('ul', {}, ...said), element('ul', { class: 'fens' }, ...buttons));
    title.focus();
  });
}
