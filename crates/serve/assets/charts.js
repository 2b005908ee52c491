// Pictures: the distance over the plies of a line, and how many positions of a table are how far from mate.

import { RESULTS, element, movesOf } from '/assets/words.js';

const SPACE = 'http://www.w3.org/2000/svg';

function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** Which side a result is good for: 1 White, -1 Black. */
const side = (result) => (result.endsWith('white') ? 1 : result.endsWith('black') ? -1 : 0);

/**
 * The distances along a game and the best play behind it. Above the middle White mates, below it Black does.
 * `points` are { result, plies, label }, of which `now` is shown on the board.
 */
export function distances(points, now, go) {
  if (points.every(({ plies }) => !plies)) {
    return element('p', { class: 'note' }, 'No distance is known here.');
  }
  const [width, height, margin] = [600, 180, 28];
  const longest = Math.max(2, ...points.map(({ plies }) => movesOf(plies ?? 0)));
  const x = (at) => margin + ((width - 2 * margin) * at) / Math.max(1, points.length - 1);
  const y = ({ result, plies }) => height / 2 - (side(result) * (height / 2 - margin) * movesOf(plies ?? 0)) / longest;
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, class: 'chart', role: 'img' });
  const changes = points.filter((point, at) => at > 0 && point.result !== points[at - 1].result);
  const summary = changes.length
    ? `The result changes with ${changes.map(({ label, result }) => `${label} (${RESULTS[result].name})`).join(', ')}.`
    : 'No move changes the result.';
  picture.append(
    svg('title', {}, `Moves to mate over ${points.length - 1} half moves. ${summary}`),
    svg('line', { x1: margin, x2: width - margin, y1: height / 2, y2: height / 2, class: 'axis' }),
    svg('text', { x: width - 4, y: 20, 'text-anchor': 'end' }, `White mates in ${longest}`),
    svg('text', { x: width - 4, y: height - 8, 'text-anchor': 'end' }, `Black mates in ${longest}`),
  );
  const known = points.map((point, at) => ({ ...point, at })).filter(({ result }) => result !== 'unknown');
  const line = (some, name) =>
    svg('polyline', { points: some.map((point) => `${x(point.at)},${y(point)}`).join(' '), class: name });
  picture.append(line(known.filter(({ at }) => at <= now), 'played'), line(known.filter(({ at }) => at >= now), 'best'));
  for (const point of known) {
    const changed = point.at > 0 && points[point.at - 1].result !== point.result;
    const name = `${point.at === now ? 'now' : ''}${changed ? ' changed' : ''}`;
    const dot = svg('circle', { cx: x(point.at), cy: y(point), r: changed || point.at === now ? 5 : 2.5, class: name });
    dot.append(svg('title', {}, `${point.label}: ${RESULTS[point.result].name}${point.plies ? ` in ${movesOf(point.plies)}` : ''}`));
    dot.addEventListener('click', () => go(point.at));
    picture.append(dot);
    if (changed) {
      picture.append(svg('text', { x: x(point.at), y: y(point) - 9, 'text-anchor': 'middle' }, point.label));
    }
  }
  return element('figure', {}, picture, element('figcaption', {}, summary));
}

/**
 * How many positions are won or lost in how many moves, on a logarithmic scale. `show` is given the deepest position,
 * `list` the side to move, the result and the moves of a bar.
 */
export function histogram(stats, show, list) {
  const sides = [
    ['white', 'White to move', stats.white_to_move],
    ['black', 'Black to move', stats.black_to_move],
  ];
  return element('div', {}, ...sides.map(([turn, title, counts]) => oneSide(title, counts, show, (bar) => list(turn, bar))));
}

function oneSide(title, counts, show, list) {
  const { histogram, legal } = counts;
  if (!histogram.length) {
    return element('p', {}, `${title}: ${legal.toLocaleString('en')} positions, no distances.`);
  }
  const bars = histogram.map(([plies, count]) => ({ won: plies > 0, moves: movesOf(Math.abs(plies)), count }));
  const deepest = Math.max(...bars.map(({ moves }) => moves));
  const [width, height, margin] = [600, 160, 24];
  const most = Math.log10(1 + Math.max(...bars.map(({ count }) => count)));
  const step = (width - 2 * margin) / (deepest + 1);
  const words = `${title}: ${bars.length} distances, the longest ${deepest} moves, up to ${Math.max(...bars.map(({ count }) => count)).toLocaleString('en')} positions each.`;
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, class: 'chart', role: 'img' }, svg('title', {}, words));
  for (const { won, moves, count } of bars) {
    const tall = ((height - 2 * margin) * Math.log10(1 + count)) / most;
    const left = margin + step * moves + (won ? 0 : step / 2);
    const bar = svg('rect', { x: left, y: height - margin - tall, width: Math.max(1, step / 2 - 0.5), height: tall, class: won ? 'won' : 'lost' });
    bar.append(svg('title', {}, `${won ? 'Won' : 'Lost'} in ${moves}: ${count.toLocaleString('en')} positions`));
    bar.addEventListener('click', () => list({ won, moves }));
    picture.append(bar);
  }
  for (let mark = 0; mark <= deepest; mark += Math.max(1, Math.ceil(deepest / 10))) {
    picture.append(svg('text', { x: margin + step * (mark + 0.5), y: height - 6, 'text-anchor': 'middle' }, mark));
  }
  const longest = counts.longest_win_fen
    ? element('button', { type: 'button', onclick: () => show(counts.longest_win_fen) }, `Show the longest win: ${counts.longest_win_moves} moves`)
    : null;
  const number = (count, what) => (count === null ? '' : `${count.toLocaleString('en')} ${what}`);
  const tally = [number(counts.win, 'won'), number(counts.draw, 'drawn'), number(counts.loss, 'lost')].filter(Boolean).join(', ');
  const caption = element('figcaption', {}, `${title}: ${tally}. Positions by moves to mate, logarithmic; won left, lost right of each number. `, longest);
  return element('figure', {}, picture, caption);
}
