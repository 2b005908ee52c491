// The game: a tree of positions, and what the server says of each. The address of the page has the first position and
// the moves to the one that is shown.

const known = new Map();

/** What the server says of something; its message is thrown if it refuses. */
export async function ask(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  const answer = await fetch(query ? `${path}?${query}` : path);
  const said = await answer.json();
  if (!answer.ok) {
    throw new Error(said.error);
  }
  return said;
}

/** The answer to a position. Those that leave nothing open are asked for once. */
async function positionOf(fen) {
  if (!known.has(fen)) {
    const view = await ask('/api/position', { fen });
    if (view.result === 'unknown' || 'proof' in view || view.hoffman.missing.length) {
      return view;
    }
    known.set(fen, view);
  }
  return known.get(fen);
}

const node = (fen, parent = null, move = null) => ({ fen, parent, move, children: [], view: null });

export class Game {
  /** `changed` is called whenever another position is shown. */
  constructor(changed) {
    this.changed = changed;
    this.root = null;
    this.current = null;
    /** Grows with every request, so that late answers are passed over. */
    this.turn = 0;
  }

  /** The nodes from the first position to the one that is shown. */
  path(node = this.current) {
    const path = [];
    for (let at = node; at; at = at.parent) {
      path.unshift(at);
    }
    return path;
  }

  /** Begins with another position, and plays moves from there. `how` is pushState, replaceState or nothing. */
  async start(fen, moves, how) {
    const turn = ++this.turn;
    const root = node(fen);
    root.view = await positionOf(fen);
    root.fen = root.view.fen;
    let at = root;
    for (const uci of moves) {
      const move = at.view.moves.find((move) => move.uci === uci);
      if (!move) {
        break;
      }
      at = child(at, move);
      at.view = await positionOf(at.fen);
    }
    if (turn === this.turn) {
      this.root = root;
      this.show(at, how);
    }
  }

  /** Plays a legal move, or goes where it was played before. */
  async play(uci) {
    const move = this.current.view.moves.find((move) => move.uci === uci);
    await this.go(move && child(this.current, move), 'pushState');
  }

  /** Shows a position of the tree. */
  async go(to, how = 'replaceState') {
    if (!to || to === this.current) {
      return;
    }
    const turn = ++this.turn;
    to.view ??= await positionOf(to.fen);
    if (turn === this.turn) {
      this.show(to, how);
    }
  }

  back() {
    return this.go(this.current.parent);
  }

  /** The move that was played last from here, else the best one. */
  forward() {
    const played = this.current.last ?? this.current.children[0];
    return played ? this.go(played) : this.along(1);
  }

  /** So many moves of best play. */
  async along(count) {
    let at = this.current;
    for (const step of this.current.view.line.slice(0, count)) {
      at = child(at, step);
    }
    await this.go(at, 'pushState');
  }

  /** The end of the line that was played, or of best play. */
  async last() {
    let at = this.current;
    while (at.children.length) {
      at = at.last ?? at.children[0];
    }
    if (at !== this.current) {
      return this.go(at);
    }
    return this.along(Infinity);
  }

  show(to, how) {
    for (let at = to; at.parent; at = at.parent) {
      at.parent.last = at;
    }
    this.current = to;
    if (how) {
      history[how](null, '', this.address());
    }
    this.changed();
  }

  /** The address of what is shown. */
  address() {
    const moves = this.path().slice(1).map((node) => node.move.uci);
    const fen = this.root.fen.replaceAll(' ', '_');
    return `?fen=${fen}${moves.length ? `&moves=${moves.join(',')}` : ''}`;
  }
}

/** The position behind a move. */
function child(parent, { uci, san, fen }) {
  let found = parent.children.find((child) => child.move.uci === uci);
  if (!found) {
    found = node(fen, parent, { uci, san });
    parent.children.push(found);
  }
  return found;
}

/** The position and the moves of an address. */
export function fromAddress(search) {
  const parameters = new URLSearchParams(search);
  const fen = parameters.get('fen')?.replaceAll('_', ' ');
  const moves = parameters.get('moves')?.split(',') ?? [];
  return { fen, moves };
}
