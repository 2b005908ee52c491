// What is said of the position: result, what it rests on, moves, lines.

import { extent } from '/assets/build.js';
import { RESULTS, badge, element, spoken } from '/assets/words.js';

const byId = (id) => document.getElementById(id);

const BOUNDS = {
  exact: 'Proved: the truth of chess.',
  'white-at-least': 'A bound: White does at least as well.',
  'white-at-most': 'A bound: White does at most as well.',
  none: 'Nothing is proved.',
};

const ENDS = { checkmate: 'Checkmate.', stalemate: 'Stalemate.', over: 'The game is over.' };

/** The result, and what it rests on. */
export function showResult(view) {
  const { hoffman } = view;
  const turn = view.turn === 'white' ? 'White' : 'Black';
  byId('result').replaceChildren(
    element('span', { class: `badge ${view.result}` }, RESULTS[view.result].sign),
    ` ${turn} to move: ${view.words}`,
  );
  byId('over').hidden = !view.over;
  byId('over').textContent = ENDS[view.over] ?? '';

  const fifty = byId('fifty');
  fifty.hidden = !(hoffman.fifty_move || hoffman.clock > 0);
  const inTime = { true: ' The line shown is in time.', false: ' The line shown is too late.' }[hoffman.line_in_time] ?? '';
  fifty.textContent = hoffman.fifty_move
    ? `The fifty-move rule may come first: the clock is at ${hoffman.clock} of 100.${inTime}`
    : `The clock of the fifty-move rule is at ${hoffman.clock} of 100.`;
  fifty.classList.toggle('warning', hoffman.fifty_move);

  byId('rests').replaceChildren(...grounds(view).map((text) => element('li', {}, text)));
  const why = byId('why');
  why.hidden = !view.why;
  why.querySelector('pre').textContent = view.why?.trim() ?? '';
  byId('squares-button').hidden = !view.corresponding;
}

/** What an answer rests on. */
function grounds(view) {
  const { hoffman, proof } = view;
  if ('proof' in view) {
    const took = proof === null ? 'by the proof of the position before.' : `${extent(proof)}.`;
    return [`Proved without tables: ${took}`];
  }
  const rests = [];
  const isOpen = view.result === 'unknown' && !hoffman.table;
  rests.push(isOpen ? 'No table has the position.' : BOUNDS[hoffman.bound]);
  if (view.certain) {
    rests.push(`Certain in chess: ${view.certain}`);
  }
  if (hoffman.said) {
    const { result, plies } = hoffman.said;
    rests.push(`The table says, by its own rules: ${result}${plies ? `, ${Math.abs(plies)} plies` : ''}.`);
  }
  rests.push(...hoffman.assumes.map((text) => `The table assumes: ${text}.`));
  if (hoffman.table) {
    rests.push(`From ${hoffman.table}, index ${hoffman.index}.`);
  }
  if (hoffman.missing.length) {
    rests.push(`Missing tables: ${hoffman.missing.join(', ')}.`);
  }
  return rests;
}

/** Nothing can be said of a position. */
export function showProblem(text) {
  byId('result').textContent = 'No position';
  byId('problem').textContent = text;
  for (const id of ['rests', 'moves', 'line', 'chart']) {
    byId(id).replaceChildren();
  }
  for (const id of ['over', 'fifty', 'why']) {
    byId(id).hidden = true;
  }
}

/** The legal moves, by results, best first. */
export function showMoves(view, { play, preview, restore }) {
  const groups = [];
  for (const move of view.moves) {
    const name = move.pruned ? `${RESULTS[move.result].name} (${move.pruned})` : RESULTS[move.result].name;
    if (groups.at(-1)?.name !== name) {
      groups.push({ name, moves: [] });
    }
    groups.at(-1).moves.push(move);
  }
  const button = (move) =>
    element(
      'button',
      {
        type: 'button',
        'data-uci': move.uci,
        title: move.error ?? move.words,
        onclick: () => play(move.uci),
        onmouseenter: () => preview(move),
        onmouseleave: restore,
        onfocus: () => preview(move),
        onblur: restore,
      },
      element('span', { class: 'san' }, move.san),
      element('span', { class: `badge ${move.result}`, 'aria-hidden': 'true' }, move.pruned ?? badge(move)),
      element('span', { class: 'hidden' }, ` ${spoken(move.san)}: ${move.words}`),
    );
  const group = ({ name, moves }) =>
    element(
      'section',
      {},
      element('h3', {}, `${name} (${moves.length})`),
      element('ol', { class: 'moves' }, ...moves.map((move) => element('li', {}, button(move)))),
    );
  const none = element('p', { class: 'note' }, 'There is no legal move.');
  byId('moves').replaceChildren(...(groups.length ? groups.map(group) : [none]));
}

/** Best play from here, each move a way to go there. */
export function showLine(view, number, along) {
  const steps = view.line.map(({ san }, at) => {
    const ply = number + at;
    const before = ply % 2 === 0 ? `${ply / 2 + 1}. ` : at === 0 ? `${(ply - 1) / 2 + 1}… ` : '';
    const go = { type: 'button', class: 'step', onclick: () => along(at + 1) };
    return element('span', {}, before, element('button', go, san, aside(san)), ' ');
  });
  const rules = view.hoffman.assumes.length && steps.length ? ['By the rules of the table: '] : [];
  byId('line').replaceChildren(...rules, ...(steps.length ? steps : ['No line is known.']));
}

/** The moves that were played, with branches. */
export function showGame(game) {
  const place = byId('game');
  if (!game.root.children.length) {
    place.replaceChildren(element('p', { class: 'note' }, 'No move was played yet.'));
    return;
  }
  const first = halfMoves(game.root);
  const onPath = new Set(game.path());
  place.replaceChildren(branch(game, game.root, first, onPath, true));
}

/** Half moves since the beginning of the numbering. */
export function halfMoves(node) {
  const [, turn, , , , number] = node.fen.split(' ');
  return 2 * (Number(number) - 1) + (turn === 'b' ? 1 : 0);
}

/** The moves from a node on: the first child in line, the others as lists of their own. */
function branch(game, node, ply, onPath, isFirst) {
  const line = element('div', { class: 'branch' });
  let at = node;
  let numbered = isFirst;
  while (at.children.length) {
    const [main, ...others] = at.children;
    line.append(step(game, main, ply, numbered, onPath));
    numbered = false;
    for (const other of others) {
      const own = element('div', { class: 'branch other' }, step(game, other, ply, true, onPath));
      if (other.children.length) {
        own.append(...branch(game, other, ply + 1, onPath, false).childNodes);
      }
      line.append(own);
      numbered = true;
    }
    at = main;
    ply += 1;
  }
  return line;
}

function step(game, node, ply, numbered, onPath) {
  const before = ply % 2 === 0 ? `${ply / 2 + 1}. ` : numbered ? `${(ply - 1) / 2 + 1}… ` : '';
  const attributes = {
    type: 'button',
    class: `step${onPath.has(node) ? ' on' : ''}`,
    'aria-current': node === game.current ? 'step' : null,
    onclick: () => game.go(node),
  };
  return element('span', {}, before, element('button', attributes, node.move.san, aside(node.move.san)), ' ');
}

/** A move as it is spoken, beside its name, for those who do not see. */
const aside = (san) => element('span', { class: 'hidden' }, ` ${spoken(san)}`);
