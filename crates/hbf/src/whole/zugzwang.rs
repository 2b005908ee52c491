//! The mutual zugzwangs of a table, for which the results of most positions are never asked.
//!
//! A side that wins if it is to move is in no zugzwang. Of the side that is stored most wins are
//! seen without looking at exits, and there the other side is not followed. Where it is, it may
//! have a quiet move that is good enough, and its exits are not looked at either; nor are its
//! underpromotions, which hardly ever are its only good moves. What is left are the zugzwangs and a
//! few other positions, of which each is looked at by itself.

use crate::answer::{Asked, Lookup, Stored, answer};
use crate::board::{Color, Man, Position, squares};
use crate::cells::TilePlace;
use crate::code::{Code, DRAW, squares_where};
use crate::container::{HbfError, TILES};
use crate::encode::Source;
use crate::header::Metric;
use crate::move_rows::MoveRow;
use crate::selection::Selection;
use crate::table::HbfFile;
use crate::workers::{Crew, in_order};

use super::{
    LEGAL, NeededSides, OwnAndBehind, Raised, WholeError, WholeSide, WholeTable, own_streams,
};

/// A position whose result is worse for whoever is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MutualZugzwang {
    /// With one side to move.
    pub position: Position,
    /// Its code.
    pub code: Code,
    /// The code of the same men with the other side to move.
    pub other: Code,
}

/// The values of a table as far as they are known before zugzwangs are looked for.
struct KnownSides<'a> {
    whole: &'a WholeTable,
    /// The side whose cells are gone through.
    side: &'a WholeSide,
    turn: Color,
    outcomes: bool,
    /// What the values of the other side follow from beside these, if they are not known.
    behind: Option<&'a dyn Source>,
    /// Whether codes of wins may be less than those of the best exits.
    exits: bool,
}

impl WholeTable {
    /// All mutual zugzwangs of a file, without rights to take en passant, in the order of its
    /// cells: positions that are the same by a symmetry may come more than once, and so do those
    /// of an ending with the same men on both sides, with the colours exchanged. `behind` as for
    /// [`WholeTable::read`] with all positions; but values behind underpromotions of the sides that
    /// [`WholeTable::followed`] names are asked for seldom, one by one.
    ///
    /// # Errors
    /// As there.
    pub fn mutual_zugzwangs(
        file: &HbfFile,
        behind: &dyn Source,
        crew: Crew<'_>,
    ) -> Result<Vec<MutualZugzwang>, WholeError> {
        let NeededSides { decoded, followed } = NeededSides::of(file, &Selection::all());
        if followed == [false; 2] {
            return WholeTable::read(file, &Selection::all(), behind, crew)?
                .known_zugzwangs(file, crew);
        }
        let mut whole = WholeTable { sides: [None, None] };
        let raised = (behind, Raised::ButForWins);
        for stream in own_streams(file).filter(|stream| decoded[stream.turn as usize]) {
            whole.decode(file, (&stream, &Selection::all()), raised, crew)?;
        }
        whole.zugzwangs((file, Some(behind)), crew)
    }

    /// The sides to move whose values are not in a file: they follow from those of the other one.
    pub fn followed(file: &HbfFile) -> [bool; 2] {
        NeededSides::of(file, &Selection::all()).followed
    }

    /// The same of a file whose positions all were read.
    ///
    /// # Errors
    /// The caller asked to stop.
    pub fn known_zugzwangs(
        &self,
        file: &HbfFile,
        crew: Crew<'_>,
    ) -> Result<Vec<MutualZugzwang>, WholeError> {
        self.zugzwangs((file, None), crew)
    }

    fn zugzwangs(
        &self,
        (file, behind): (&HbfFile, Option<&dyn Source>),
        crew: Crew<'_>,
    ) -> Result<Vec<MutualZugzwang>, WholeError> {
        let outcomes = file.info().metric == Metric::Outcome;
        let known = [Color::White, Color::Black].into_iter().find_map(|turn| {
            let side = self.sides[turn as usize].as_ref()?;
            let exits = own_streams(file).any(|stream| stream.turn == turn && stream.exits);
            Some(KnownSides { whole: self, side, turn, outcomes, behind, exits })
        });
        let known = known.ok_or_else(|| HbfError::Section("STRM".to_owned()))?;
        let mut all = Vec::new();
        let blocks = known.side.space.tiles().div_ceil(TILES);
        let take = |found: Vec<MutualZugzwang>| {
            all.extend(found);
            Ok::<_, WholeError>(())
        };
        in_order(crew, blocks, |block| known.found_in(block), take)?;
        Ok(all)
    }
}

impl KnownSides<'_> {
    /// Those of a block of tiles.
    fn found_in(&self, block: u64) -> Result<Vec<MutualZugzwang>, WholeError> {
        let space = &self.side.space;
        let mut found = Vec::new();
        for tile in block * TILES..space.tiles().min((block + 1) * TILES) {
            let Some(place) = space.tile(tile) else { continue };
            // Lent for no longer, as lookups may need it themselves.
            let legal = LEGAL.with_borrow_mut(|rows| {
                rows.start_legal(&place);
                for row in 0..space.rows() {
                    let other = self.turn.other();
                    rows.begin_legal(space, other, usize::from(row), place.first_row);
                }
                rows.legal
            });
            for (row, legal) in (0..space.rows()).zip(legal) {
                self.look_at_row((tile, row), &place, legal, &mut found)?;
            }
        }
        Ok(found)
    }

    /// Those of a row, of which positions with the other side to move are legal on some squares.
    fn look_at_row(
        &self,
        (tile, row): (u64, u8),
        place: &TilePlace,
        legal: u64,
        found: &mut Vec<MutualZugzwang>,
    ) -> Result<(), WholeError> {
        let codes = self.side.row_codes(tile, row);
        let lanes = legal & not_won(&codes);
        if lanes == 0 {
            return Ok(());
        }

        let (fixed, man) = self.side.space.row_position(place, row, self.turn.other());
        let others = match self.behind {
            Some(behind) => {
                let source = OwnAndBehind { own: self.side, behind };
                let mut moves = MoveRow::new(&source, (&fixed, man, lanes), self.outcomes);
                moves.bound(&codes.map(no_worse));
                source.best_moves(moves, (place, row))?
            }
            None => self.looked_up(&fixed, man, lanes),
        };
        for lane in squares(lanes) {
            let [code, other] = [&codes, &others].map(|codes| codes[usize::from(lane)]);
            if other < no_worse(code) {
                found.extend(self.zugzwang(fixed.with(lane, man))?);
            }
        }
        Ok(())
    }

    /// The codes of positions that are known, by lane square.
    fn looked_up(&self, fixed: &Position, man: Man, lanes: u64) -> [Code; 64] {
        let mut codes = [0; 64];
        for lane in squares(self.whole.row(fixed, man, lanes, &mut codes)) {
            let code = self.whole.code(&fixed.with(lane, man));
            codes[usize::from(lane)] = code.unwrap_or(Code::MAX);
        }
        codes
    }

    /// A position that may be one, given with the other side to move.
    fn zugzwang(&self, with_other: Position) -> Result<Option<MutualZugzwang>, WholeError> {
        let mut position = with_other;
        position.turn = self.turn;
        let code = |position| {
            answer(self, position, Asked::exactly(self.outcomes)).map_err(WholeError::Missing)
        };
        let (code, other) = (code(&position)?, code(&with_other)?);
        let is_worse = code <= DRAW && other < no_worse(code);
        Ok(is_worse.then_some(MutualZugzwang { position, code, other }))
    }
}

impl Lookup for KnownSides<'_> {
    type Error = Position;

    fn stored(&self, position: &Position, _: Asked) -> Result<Stored, Position> {
        let code = self.whole.code(position);
        match (code, self.behind) {
            (Some(code), Some(_)) if self.exits && code > DRAW => Ok(Stored::AtLeast(code)),
            (Some(code), _) => Ok(Stored::Exactly(code)),
            (None, Some(_)) if self.side.space.locate(position).is_some() => Ok(Stored::OtherSide),
            (None, behind) => {
                let code = behind.and_then(|behind| behind.code(position));
                code.map(Stored::Exactly).ok_or(*position)
            }
        }
    }
}

/// The lane squares of a row with positions that are not won.
fn not_won(codes: &[Code; 64]) -> u64 {
    squares_where(|lane| codes[lane].wrapping_sub(1) < DRAW)
}

/// The least code of the other side to move with which a position of this code, which is not won,
/// is no zugzwang.
const fn no_worse(code: Code) -> Code {
    if code == DRAW { DRAW } else { DRAW + 1 }
}
