//! Sections `TABL` and `STRM`. See docs/hbf.md, 3 and 4.

use crate::board::{Color, Kind, Man};
use crate::cells::Space;
use crate::container::number_at;
use crate::material::Material;

/// What the numbers of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The distance to mate.
    Mate,
    /// The distance to conversion.
    Conversion,
    /// Who wins.
    Outcome,
    /// Whether White wins.
    WhiteWins,
    /// Whether White wins or draws.
    WhiteDraws,
}

impl Metric {
    const ALL: [Metric; 5] =
        [Metric::Mate, Metric::Conversion, Metric::Outcome, Metric::WhiteWins, Metric::WhiteDraws];
}

/// What the values prove of chess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims(pub(crate) u8);

impl Claims {
    /// All values are those of chess.
    pub const ALL: Claims = Claims(0b1111);

    /// Claims by side, White first: whether its wins are certain, and that it does not lose where
    /// it does not.
    pub fn new(wins: [bool; 2], holds: [bool; 2]) -> Claims {
        let bits = [wins[0], wins[1], holds[0], holds[1]];
        Claims(bits.into_iter().rev().fold(0, |set, bit| set << 1 | u8::from(bit)))
    }

    /// Whether the wins of a side are certain.
    pub const fn wins(self, color: Color) -> bool {
        self.0 >> color as u8 & 1 != 0
    }

    /// Whether it is certain that a side does not lose where the table does not say so.
    pub const fn holds(self, color: Color) -> bool {
        self.0 >> (2 + color as u8) & 1 != 0
    }

    /// Whether every value is that of chess.
    pub const fn is_exact(self) -> bool {
        self.0 & 0b1111 == 0b1111
    }
}

/// How a table's values are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Entries by index: so many, of so many bits each.
    Generic {
        /// How many entries.
        entries: u64,
        /// Bits of an entry, 1 to 16.
        bits: u8,
    },
    /// The cells of an ending.
    Complete(Material),
}

/// What a table is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// How it is stored.
    pub mode: Mode,
    /// Whether it is one of suicide chess.
    pub suicide: bool,
    /// What its numbers are.
    pub metric: Metric,
    /// What they prove.
    pub claims: Claims,
    /// The longest win in moves, White and Black to move; none if that is not known.
    pub longest_wins: [Option<u16>; 2],
    /// The longest loss, likewise.
    pub longest_losses: [Option<u16>; 2],
}

const TABLE_BYTES: usize = 64;
const UNKNOWN: u16 = u16::MAX;

impl TableInfo {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; TABLE_BYTES];
        bytes[1] = self.suicide.into();
        bytes[2] = Metric::ALL.iter().position(|&metric| metric == self.metric).unwrap_or(0) as u8;
        bytes[4] = self.claims.0;
        match &self.mode {
            Mode::Generic { entries, bits } => {
                bytes[3] = *bits;
                bytes[8..16].copy_from_slice(&entries.to_le_bytes());
            }
            Mode::Complete(material) => {
                bytes[0] = 1;
                bytes[5] = material.men().len() as u8;
                for (byte, man) in bytes[16..32].iter_mut().zip(material.men()) {
                    *byte = (man.color as u8) << 3 | man.kind as u8;
                }
            }
        }
        let longest = self.longest_wins.iter().chain(&self.longest_losses);
        for (k, moves) in longest.enumerate() {
            let moves = moves.unwrap_or(UNKNOWN);
            bytes[32 + 2 * k..34 + 2 * k].copy_from_slice(&moves.to_le_bytes());
        }
        bytes
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<TableInfo> {
        let bytes: &[u8; TABLE_BYTES] = bytes.first_chunk()?;
        let metric = *Metric::ALL.get(usize::from(bytes[2]))?;
        let suicide = bytes[1] == 1;
        let mode = match bytes[0] {
            0 if (1..=16).contains(&bytes[3]) && bytes[5] == 0 => {
                Mode::Generic { entries: number_at(bytes, 8), bits: bytes[3] }
            }
            1 if matches!(metric, Metric::Mate | Metric::Outcome) && bytes[1] == 0 => {
                Mode::Complete(parse_men(bytes.get(16..16 + usize::from(bytes[5]))?)?)
            }
            _ => return None,
        };
        let moves = |k: usize| {
            let moves = u16::from_le_bytes([bytes[32 + 2 * k], bytes[33 + 2 * k]]);
            (moves != UNKNOWN).then_some(moves)
        };
        let claims = Claims(bytes[4]);
        let is_sound = bytes[1] <= 1 && (matches!(mode, Mode::Generic { .. }) || claims.is_exact());
        is_sound.then(|| TableInfo {
            mode,
            suicide,
            metric,
            claims,
            longest_wins: [moves(0), moves(1)],
            longest_losses: [moves(2), moves(3)],
        })
    }
}

/// The men of an ending; they must be in their order.
fn parse_men(bytes: &[u8]) -> Option<Material> {
    let mut men = Vec::new();
    for &byte in bytes {
        let color = if byte >> 3 & 1 == 0 { Color::White } else { Color::Black };
        let kind = *Kind::ALL.get(usize::from(byte & 7))?;
        if byte > 15 {
            return None;
        }
        men.push(Man { color, kind });
    }
    let material = Material::new(men.iter().copied())?;
    (material.men() == men).then_some(material)
}

/// What a stream holds.
#[derive(Clone, Debug)]
pub(crate) enum StreamKind {
    Cells {
        space: Space,
        outcomes: bool,
        turn: Color,
        exits: bool,
    },
    /// Tiles of `2^log` entries.
    Entries {
        log: u8,
    },
}

/// A stream's header.
#[derive(Clone, Debug)]
pub(crate) struct StreamHeader {
    pub(crate) kind: StreamKind,
    pub(crate) tiles: u64,
    order: [u8; 16],
}

const STREAM_BYTES: usize = 32;

impl StreamHeader {
    pub(crate) fn new(kind: StreamKind, tiles: u64, order: &[u8]) -> StreamHeader {
        let mut padded = [0; 16];
        padded.iter_mut().zip(order).for_each(|(to, from)| *to = *from);
        StreamHeader { kind, tiles, order: padded }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; STREAM_BYTES];
        match &self.kind {
            StreamKind::Cells { space, outcomes, turn, exits } => {
                bytes[0] = u8::from(*outcomes);
                bytes[1] = *turn as u8;
                bytes[2] = u8::from(*exits);
                bytes[3] = space.rows();
            }
            StreamKind::Entries { log } => {
                bytes[0] = 2;
                bytes[3] = *log;
            }
        }
        bytes[8..16].copy_from_slice(&self.tiles.to_le_bytes());
        bytes[16..].copy_from_slice(&self.order);
        bytes
    }

    pub(crate) fn parse(bytes: &[u8], table: &TableInfo) -> Option<StreamHeader> {
        let bytes: &[u8; STREAM_BYTES] = bytes.first_chunk()?;
        let tiles = number_at(bytes, 8);
        let mut order = [0; 16];
        order.copy_from_slice(&bytes[16..]);
        if bytes[2] > 1 {
            return None;
        }
        let (kind, expected) = match (&table.mode, bytes[0]) {
            (Mode::Complete(material), outcomes @ 0..=1) => {
                let space = Space::new(material, order.get(..material.men().len())?, bytes[3])?;
                let turn = if bytes[1] == 0 { Color::White } else { Color::Black };
                let white_only = material.is_symmetric() && turn == Color::Black;
                let mismatch = table.metric == Metric::Outcome && outcomes == 0;
                if bytes[1] > 1 || white_only || mismatch {
                    return None;
                }
                let tiles = space.tiles();
                let exits = bytes[2] == 1;
                (StreamKind::Cells { space, outcomes: outcomes == 1, turn, exits }, tiles)
            }
            (Mode::Generic { entries, .. }, 2) if (6..=16).contains(&bytes[3]) => {
                let tiles = entries.div_ceil(1 << bytes[3]);
                (StreamKind::Entries { log: bytes[3] }, tiles)
            }
            _ => return None,
        };
        (tiles == expected).then_some(StreamHeader { kind, tiles, order })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_round_trip() {
        let generic = TableInfo {
            mode: Mode::Generic { entries: 1000, bits: 7 },
            suicide: true,
            metric: Metric::Conversion,
            claims: Claims::new([true, false], [false, true]),
            longest_wins: [Some(17), None],
            longest_losses: [None, Some(3)],
        };
        assert_eq!(TableInfo::parse(&generic.to_bytes()), Some(generic.clone()));
        assert!(generic.claims.wins(Color::White) && generic.claims.holds(Color::Black));
        assert!(!generic.claims.wins(Color::Black) && !generic.claims.is_exact());
        let material = Material::parse("KRPvKR").expect("an ending");
        let mode = Mode::Complete(material);
        let claims = Claims::ALL;
        let table = TableInfo { mode, suicide: false, metric: Metric::Mate, claims, ..generic };
        assert_eq!(TableInfo::parse(&table.to_bytes()), Some(table.clone()));
        for at in [0, 1, 2, 4, 5, 16] {
            let mut bytes = table.to_bytes();
            bytes[at] = 0xee;
            assert_eq!(TableInfo::parse(&bytes), None, "{at}");
        }
    }
}
