// Making tables that are missing: what it would take, then the work with its progress, which can be stopped.

import { ask } from '/assets/game.js';
import { element, size } from '/assets/words.js';

const duration = (seconds) => (seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`);

/** Whether this server makes tables. */
export async function mayBuild() {
  try {
    return (await ask('/api/plan')).limit !== null;
  } catch {
    return false;
  }
}

/** Shows in a place what it takes to make something (`ending` or `fen`), and makes it if that is wanted. */
export async function offer(place, wanted, made) {
  place.replaceChildren(element('p', { role: 'status' }, 'Planning …'));
  try {
    const { tables, bytes, seconds, limit, allowed } = await ask('/api/plan', wanted);
    if (!tables.length) {
      place.replaceChildren(element('p', { role: 'status' }, 'Everything is there already.'));
      return;
    }
    const names = tables.length > 6 ? `${tables.slice(0, 6).join(', ')} and ${tables.length - 6} more` : tables.join(', ');
    const what = `${tables.length} ${tables.length === 1 ? 'table' : 'tables'} (${names}), up to ${size(bytes)}, about ${duration(seconds)} of work.`;
    if (!allowed) {
      place.replaceChildren(element('p', { role: 'status' }, `${what} This server makes ${size(limit)} at a time.`));
      return;
    }
    const go = element('button', { type: 'button', onclick: () => work(place, wanted, made) }, 'Make them');
    place.replaceChildren(element('p', { role: 'status' }, what), go);
    go.focus();
  } catch (error) {
    place.replaceChildren(element('p', { role: 'alert' }, error.message));
  }
}

async function work(place, wanted, made) {
  const stop = new AbortController();
  const bar = element('progress', { max: 1, value: 0, 'aria-label': 'Work done' });
  const words = element('span', {}, 'Beginning …');
  const cancel = element('button', { type: 'button', onclick: () => stop.abort() }, 'Stop');
  place.replaceChildren(element('p', { class: 'bar' }, bar, words, cancel));
  cancel.focus();
  try {
    const query = new URLSearchParams(wanted).toString();
    const answer = await fetch(`/api/build?${query}`, { method: 'POST', signal: stop.signal });
    if (!answer.ok) {
      throw new Error((await answer.json()).error);
    }
    for await (const { name, data } of events(answer.body)) {
      if (name === 'failed') {
        throw new Error(data.error);
      }
      if (name === 'done') {
        place.replaceChildren(element('p', { role: 'status' }, 'The tables are there.'));
        await made();
        return;
      }
      bar.value = data.work ? data.done / data.work : 0;
      const left = data.seconds_left === null ? '' : `, about ${duration(data.seconds_left)} left`;
      words.textContent = `${data.table} ${Math.floor(100 * bar.value)} %${left}`;
    }
    throw new Error('The server has stopped.');
  } catch (error) {
    const text = error.name === 'AbortError' ? 'Stopped. What is finished stays.' : error.message;
    place.replaceChildren(element('p', { role: 'alert' }, text));
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
