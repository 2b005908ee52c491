// The tables that there are, and what they contain.

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
  const { name, ending, men, bytes, metric, partial, assumes, error } = table;
  const notes = [METRICS[metric] ?? metric, partial && 'some positions only', ...assumes.map((text) => `assumes: ${text}`)];
  const says = error ?? notes.filter(Boolean).join('; ');
  const count = error
    ? ''
    : element('button', { type: 'button', onclick: (event) => contents(name, show, event.currentTarget), 'aria-label': `Count ${name}` }, 'Count');
  const cells = [ending ?? '', men ?? '', size(bytes), says, count];
  return element('tr', {}, element('th', { scope: 'row' }, name), ...cells.map((cell) => element('td', {}, cell)));
}

/** Counts a table and shows what it contains. */
async function contents(name, show, button) {
  const place = document.getElementById('contents');
  button.disabled = true;
  place.replaceChildren(element('p', { role: 'status' }, `Counting ${name} …`));
  try {
    const stats = await ask('/api/stats', { table: name });
    const title = element('h3', { tabindex: '-1' }, `${name}: ${stats.table}`);
    place.replaceChildren(title, histogram(name, stats, show));
    title.focus();
    title.scrollIntoView({ block: 'nearest' });
  } catch (error) {
    place.replaceChildren(element('p', { role: 'alert' }, error.message));
  }
  button.disabled = false;
}
