// Results in words and signs. Who wins comes from the server; nothing here knows chess.

const PIECES = { K: 'king', Q: 'queen', R: 'rook', B: 'bishop', N: 'knight' };

export const RESULTS = {
  white: { sign: '1–0', name: 'White wins' },
  'maybe-white': { sign: '1–0?', name: 'White may win' },
  'white-holds': { sign: '≥ ½', name: 'White at least draws' },
  draw: { sign: '½–½', name: 'Draw' },
  unknown: { sign: '?', name: 'Not known' },
  'black-holds': { sign: '≤ ½', name: 'Black at least draws' },
  'maybe-black': { sign: '0–1?', name: 'Black may win' },
  black: { sign: '0–1', name: 'Black wins' },
  impossible: { sign: '', name: 'Impossible' },
};

/** Moves of the winner in so many plies. */
export const movesOf = (plies) => Math.ceil(plies / 2);

/** The sign of a result behind a move, as `1–0 #12`. */
export function badge({ result, plies }) {
  const sign = RESULTS[result].sign;
  return plies === null || result === 'draw' ? sign : `${sign} #${movesOf(plies + 1)}`;
}

/** A move as it is spoken: `rook takes d1, check`. */
export function spoken(san) {
  if (san.startsWith('O-O')) {
    return san.startsWith('O-O-O') ? 'castles queenside' : 'castles kingside';
  }
  const parts = san.match(/^([KQRBN]?)([a-h]?[1-8]?)(x?)([a-h][1-8])(?:=([KQRBN]))?([+#]?)$/);
  if (!parts) {
    return san;
  }
  const [, piece, from, takes, to, promoted, check] = parts;
  const words = [piece ? PIECES[piece] : 'pawn', from && `from ${from}`, takes ? 'takes' : 'to', to];
  let text = words.filter(Boolean).join(' ');
  if (promoted) {
    text += `, promotes to ${PIECES[promoted]}`;
  }
  return text + ({ '+': ', check', '#': ', mate' }[check] ?? '');
}

/** A number of bytes for readers. */
export function size(bytes) {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  while (bytes >= 1000 && at < units.length - 1) {
    bytes /= 1000;
    at += 1;
  }
  return `${at ? bytes.toPrecision(3) : bytes} ${units[at]}`;
}

/** An element with attributes, listeners (`onclick`) and children. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) {
      made.addEventListener(key.slice(2), value);
    } else if (value !== undefined && value !== null && value !== false) {
      made.setAttribute(key, value === true ? '' : value);
    }
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
