// Making tables that are missing, proving positions that no table has, and counting large tables: what it would take, then
// the work with its progress, which can be stopped.

import { ask } from '/assets/game.js';
import { element, size } from '/assets/words.js';

const duration = (seconds) => (seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`);

/** What this server does: how many bytes of tables it makes, how many seconds it proves, and of how many men tables are. */
export async function mayWork() {
  try {
    return await ask('/api/plan');
  } catch {
    return { limit: null, prove: null, men: 0 };
  }
}

/** Says something in a place. Whoever was at a button there is at what is said then, not at the top of the page. */
function say(place, role, text) {
  const held = place.contains(document.activeElement);
  const said = element('p', { role, tabindex: '-1' }, text);
  place.replaceChildren(said);
  if (held) {
    said.focus();
  }
}

/** Shows in a place what it takes to make something (`ending` or `fen`), and makes it if that is wanted. */
export async function offer(place, wanted, made) {
  say(place, 'status', 'Planning …');
  try {
    const { tables, bytes, seconds, limit, allowed } = await ask('/api/plan', wanted);
    if (!tables.length) {
      say(place, 'status', 'Everything is there already.');
      return;
    }
    const names = tables.length > 6 ? `${tables.slice(0, 6).join(', ')} and ${tables.length - 6} more` : tables.join(', ');
    const what = `${tables.length} ${tables.length === 1 ? 'table' : 'tables'} (${names}), up to ${size(bytes)} of memory or of the disk, about ${duration(seconds)} of work.`;
    if (!allowed) {
      say(place, 'status', `${what} This server takes ${size(limit)} at a time.`);
      return;
    }
    const go = element('button', { type: 'button', onclick: () => make(place, wanted, made) }, 'Make them');
    place.replaceChildren(element('p', { role: 'status' }, what), go);
    go.focus();
  } catch (error) {
    say(place, 'alert', error.message);
  }
}

function make(place, wanted, made) {
  const shown = ({ table, done, work, seconds_left: left }) => {
    const part = work ? done / work : 0;
    const until = left === null ? '' : `, about ${duration(left)} left`;
    return { part, words: table ? `${table} ${Math.floor(100 * part)} %${until}` : 'Beginning …' };
  };
  const finished = async () => {
    say(place, 'status', 'The tables are there.');
    await made();
  };
  return follow(place, '/api/build', wanted, { shown, finished, stopped: 'Stopped. What is finished stays.' });
}

/** Shows in a place how long a position may be proved, and proves it if that is wanted. */
export function offerProof(place, fen, most, proved) {
  const what = `No table holds so many men, but its result can be proved: that takes ${duration(most)} at most, and may leave it open.`;
  const go = element('button', { type: 'button', onclick: () => prove(place, fen, proved) }, 'Prove it');
  place.replaceChildren(element('p', { role: 'status' }, what), go);
  go.focus();
}

function prove(place, fen, proved) {
  const shown = (effort) => ({ part: effort.seconds / effort.seconds_at_most, words: `${effort.words}; ${extent(effort)}` });
  const finished = async () => {
    place.replaceChildren();
    await proved();
  };
  return follow(place, '/api/prove', { fen }, { shown, finished, stopped: 'Stopped.' });
}

/** Shows in a place what a question about a large table takes (`cost`), and asks it if that is wanted. */
export function offerCount(place, path, asked, cost, answered) {
  const what = `${asked.table} is large: that takes about ${duration(cost.seconds)} and up to ${size(cost.bytes)} of the server’s memory.`;
  const go = element('button', { type: 'button', onclick: () => count(place, path, asked, answered) }, 'Start');
  place.replaceChildren(element('p', { role: 'status' }, what), go);
  go.focus();
}

function count(place, path, asked, answered) {
  const shown = ({ table, seconds, seconds_expected: expected }) => {
    const words = `${table}: ${Math.round(seconds)} s of about ${duration(expected)}`;
    return { part: Math.min(0.95, seconds / expected), words };
  };
  return follow(place, path, asked, { shown, finished: answered, stopped: 'Stopped.' });
}

/** What a proof took. */
export const extent = ({ one_by_one: oneByOne, slices, known, positions, bytes, seconds }) => {
  const looked = oneByOne
    ? `${slices} of ${known} positions looked at one by one`
    : `${slices} of ${known} pawn structures opened, ${Math.round(positions / 1e6)} million positions evaluated`;
  return `${looked}, ${size(bytes)}, ${duration(seconds)}`;
};

/** Begins work and shows its progress: `shown` tells it as a part of 1 and in words. */
async function follow(place, path, wanted, { shown, finished, stopped }) {
  const stop = new AbortController();
  const bar = element('progress', { max: 1, value: 0, 'aria-label': 'Work done' });
  const words = element('span', {}, 'Beginning …');
  const cancel = element('button', { type: 'button', onclick: () => stop.abort() }, 'Stop');
  place.replaceChildren(element('p', { class: 'bar' }, bar, words, cancel));
  cancel.focus();
  try {
    const query = new URLSearchParams(wanted).toString();
    const answer = await fetch(`${path}?${query}`, { method: 'POST', signal: stop.signal });
    if (!answer.ok) {
      throw new Error((await answer.json()).error);
    }
    for await (const { name, data } of events(answer.body)) {
      if (name === 'failed') {
        throw new Error(data.error);
      }
      if (name === 'done') {
        await finished(data);
        return;
      }
      const { part, words: text } = shown(data);
      bar.value = part;
      words.textContent = text;
    }
    throw new Error('The server has stopped.');
  } catch (error) {
    say(place, 'alert', error.name === 'AbortError' ? stopped : error.message);
  }
}

/** The events of a stream: lines `event: NAME` and `data: JSON`, and an empty one behind each. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    text += value;
    const parts = text.split('\n\n');
    text = parts.pop();
    for (const part of parts) {
      const [, name, data] = part.match(/^event: (\S+)\ndata: (.*)$/);
      yield { name, data: JSON.parse(data) };
    }
  }
}
