// The board: men to drag, to tap and to move with keys; setting up; the heat map over it.

import { Chessground } from '/assets/chessground.js';
import { RESULTS, element, movesOf } from '/assets/words.js';

const FILES = 'abcdefgh';
const ROLES = { k: 'king', q: 'queen', r: 'rook', b: 'bishop', n: 'knight', p: 'pawn' };
const LETTERS = Object.fromEntries(Object.entries(ROLES).map(([letter, role]) => [role, letter]));

export class Board {
  /** `play` gets a move as `e7e8q`, `placed` the men that were set up, `heated` a square of the heat map, `say` text. */
  constructor({ play, placed, heated, say }) {
    Object.assign(this, { play, placed, heated, say });
    this.element = document.getElementById('board');
    this.overlay = document.getElementById('heat');
    this.mark = document.getElementById('cursor');
    this.orientation = 'white';
    this.editing = false;
    /** The man that taps put down while setting up; `none` removes. */
    this.chosen = null;
    /** The square that keys are on. */
    this.cursor = null;
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.ground = Chessground(this.element, {
      animation: { enabled: !still, duration: 150 },
      premovable: { enabled: false },
      drawable: { enabled: false },
      draggable: { showGhost: true, deleteOnDropOff: true },
      events: { change: () => this.changed(), select: (key) => this.selected(key) },
    });
    this.element.addEventListener('keydown', (event) => this.pressed(event));
    this.element.addEventListener('focus', () => this.moveCursor(this.cursor ?? 'e4', false));
    this.element.addEventListener('blur', () => (this.mark.hidden = true));
    // A tap on an empty square selects nothing, but puts a man down.
    this.element.addEventListener('click', (event) => this.tapped(event));
    this.palette();
  }

  /** Shows a position. `move` led to it. */
  show(view, move) {
    this.view = view;
    const dests = new Map();
    for (const { uci } of view.moves) {
      const [from, to] = [uci.slice(0, 2), uci.slice(2, 4)];
      dests.set(from, [...(dests.get(from) ?? []), to]);
    }
    this.ground.set({
      fen: view.fen,
      orientation: this.orientation,
      turnColor: view.turn,
      lastMove: move ? [move.uci.slice(0, 2), move.uci.slice(2, 4)] : undefined,
      check: view.check ? view.turn : false,
      selected: undefined,
      selectable: { enabled: !this.editing || !this.chosen },
      movable: {
        free: this.editing,
        color: this.editing ? 'both' : view.turn,
        dests: this.editing ? undefined : dests,
        showDests: true,
        events: { after: (from, to) => this.editing || this.moved(from, to) },
      },
    });
    this.element.setAttribute('aria-label', `Chess board, ${view.turn} to move`);
  }

  /** Shows the position behind a move for a while. */
  preview(move) {
    this.ground.set({ fen: move.fen, lastMove: [move.uci.slice(0, 2), move.uci.slice(2, 4)], check: false });
  }

  flip() {
    this.orientation = this.orientation === 'white' ? 'black' : 'white';
    this.ground.set({ orientation: this.orientation });
    this.moveCursor(this.cursor, false);
    if (this.numbered) {
      this.number(this.numbered);
    } else {
      this.heat(this.heatMap);
    }
  }

  /** A man was moved by the rules: which promotion is meant, if it is one? */
  async moved(from, to) {
    const moves = this.view.moves.filter(({ uci }) => uci.startsWith(from + to));
    if (moves.length < 2) {
      this.play(moves[0]?.uci);
      return;
    }
    const dialog = document.getElementById('promotion');
    const choice = ({ uci }) =>
      element('button', { type: 'button', onclick: () => dialog.close(uci) }, ROLES[uci[4]]);
    document.getElementById('promotions').replaceChildren(...moves.map(choice));
    dialog.returnValue = '';
    dialog.showModal();
    await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }));
    this.play(dialog.returnValue || null);
  }

  // ---- setting up

  edit(editing) {
    this.editing = editing;
    this.choose(null);
  }

  /** The buttons of the men. */
  palette() {
    const button = (name, label, ...shown) => {
      const attributes = { type: 'button', 'aria-pressed': 'false', 'aria-label': label, title: label, 'data-man': name };
      return element('button', { ...attributes, onclick: () => this.choose(this.chosen === name ? null : name) }, ...shown);
    };
    const man = (color, role) =>
      button(`${color} ${role}`, `${color} ${role}`, element('piece', { class: `${color} ${role}`, 'aria-hidden': 'true' }));
    const row = (color) => element('div', { class: 'cg-wrap men' }, ...Object.values(ROLES).map((role) => man(color, role)));
    document.getElementById('palette').replaceChildren(row('white'), row('black'), button('none', 'Remove men', 'Remove'));
  }

  choose(name) {
    this.chosen = name;
    for (const button of document.querySelectorAll('#palette button')) {
      button.setAttribute('aria-pressed', String(button.dataset.man === name));
    }
    // Men that are tapped are replaced, not taken.
    this.ground.set({ selectable: { enabled: !name }, draggable: { enabled: !name } });
  }

  tapped(event) {
    const key = this.editing && this.chosen && this.ground.getKeyAtDomPos([event.clientX, event.clientY]);
    if (key) {
      this.put(key, this.chosen);
    }
  }

  put(key, name) {
    const [color, role] = name.split(' ');
    this.ground.setPieces(new Map([[key, name === 'none' ? undefined : { color, role }]]));
    this.placed(this.ground.getFen());
  }

  /** Men were dragged about. */
  changed() {
    if (this.editing) {
      this.placed(this.ground.getFen());
    }
  }

  selected(key) {
    const man = this.ground.state.pieces.get(key);
    if (this.heatMap && man) {
      this.heated(key, false);
    }
  }

  // ---- keys

  pressed(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const key = this.cursor ?? 'e4';
    if (steps[event.key]) {
      const side = this.orientation === 'white' ? 1 : -1;
      const [file, rank] = [FILES.indexOf(key[0]) + side * steps[event.key][0], Number(key[1]) + side * steps[event.key][1]];
      if (file >= 0 && file < 8 && rank > 0 && rank < 9) {
        this.moveCursor(FILES[file] + rank, true);
      }
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.enter(key);
    } else if (event.key === 'Escape') {
      this.ground.selectSquare(null);
    } else if (this.editing && ROLES[event.key.toLowerCase()] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const letter = event.key.toLowerCase();
      this.put(key, `${letter === event.key ? 'black' : 'white'} ${ROLES[letter]}`);
      this.say(this.squareInWords(key));
    } else if (this.editing && (event.key === 'Delete' || event.key === 'Backspace')) {
      this.put(key, 'none');
      this.say(this.squareInWords(key));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  enter(key) {
    if (this.editing && this.chosen) {
      this.put(key, this.chosen);
      return;
    }
    const before = this.ground.state.selected;
    this.ground.selectSquare(key);
    const after = this.ground.state.selected;
    if (after) {
      this.say(`${this.squareInWords(after)} taken up`);
    } else if (before && !this.editing) {
      this.say('');
    }
  }

  moveCursor(key, aloud) {
    this.cursor = key ?? this.cursor;
    if (!this.cursor || document.activeElement !== this.element) {
      return;
    }
    const [file, rank] = [FILES.indexOf(this.cursor[0]), Number(this.cursor[1]) - 1];
    const [column, row] = this.orientation === 'white' ? [file, 7 - rank] : [7 - file, rank];
    this.mark.style.left = `${column * 12.5}%`;
    this.mark.style.top = `${row * 12.5}%`;
    this.mark.hidden = false;
    if (aloud) {
      this.say(this.squareInWords(this.cursor));
    }
  }

  squareInWords(key) {
    const man = this.ground.state.pieces.get(key);
    return man ? `${key}, ${man.color} ${man.role}` : `${key}, empty`;
  }

  /** The men, as `white king a1`, by squares. */
  men() {
    return [...this.ground.state.pieces].map(([key, { color, role }]) => ({ key, color, role, letter: LETTERS[role] }));
  }

  // ---- over the board

  /** Shows what `cell` makes of each square, or nothing. */
  cover(cell) {
    this.overlay.hidden = !cell;
    const keys = [...Array(64).keys()].map((at) => {
      const [column, row] = [at % 8, Math.floor(at / 8)];
      return this.orientation === 'white' ? FILES[column] + (8 - row) : FILES[7 - column] + (row + 1);
    });
    this.overlay.replaceChildren(...(cell ? keys.map(cell) : []));
  }

  /** Shows which squares of the kings correspond to each other, by numbers, or nothing. What it says stands beside it, too. */
  number(groups) {
    this.heatMap = null;
    this.numbered = groups;
    const numbers = (key, color) => groups.flatMap((group, at) => (group[color].includes(key) ? [at + 1] : [])).join(' ');
    const half = (key, color) => element('span', numbers(key, color) ? { class: `half ${color}` } : { class: 'half' }, numbers(key, color));
    this.cover(groups && ((key) => element('span', { class: 'cell halves', 'aria-hidden': 'true' }, half(key, 'black'), half(key, 'white'))));
  }

  // ---- heat map

  /** Shows what a man is worth on each square, or nothing. */
  heat(map) {
    this.heatMap = map;
    this.numbered = null;
    const longest = Math.max(1, ...(map?.squares.map(({ plies }) => plies ?? 0) ?? []));
    const by = new Map(map?.squares.map((square) => [square.square, square]));
    this.cover(map && ((key) => this.cell(key, by.get(key), longest, map.from)));
  }

  cell(key, heat, longest, from) {
    if (!heat || heat.result === 'impossible') {
      return element('span', { class: 'cell' });
    }
    const { result, plies, words } = heat;
    const signs = { white: '+', black: '−', draw: '=', 'maybe-white': '+?', 'maybe-black': '−?' };
    const text = (signs[result] ?? '?') + (plies && RESULTS[result] ? movesOf(plies) : '');
    const depth = plies ? 1 + Math.min(3, Math.floor((4 * plies) / (longest + 1))) : 1;
    const here = key === from ? ' here' : '';
    const attributes = { type: 'button', class: `cell ${result} depth${depth}${here}`, title: words };
    const [seen, heard] = [element('span', { 'aria-hidden': 'true' }, text), element('span', { class: 'hidden' }, `${key}: ${words}`)];
    return element('button', { ...attributes, onclick: () => this.heated(key, true) }, seen, heard);
  }
}
