//! What the tests beside the code share: tables with values, and positions as `shakmaty` sees
//! them.

use std::sync::{Arc, OnceLock};

use hoffman_board::shakmaty::{CastlingMode, Chess, Position as _, PositionError, Setup};
use hoffman_board::{Bitboard, Color, Material, Piece, Role, Square, Value};
use hoffman_plan::complete;
use hoffman_space::{Codes, Layout, Orientation, PawnSquares, SliceValues, TableValues};

use crate::options::SolveOptions;
use crate::table_solver::{Tables, solve_table};
use crate::view::MaterialChange;

/// Men with their squares.
pub(crate) type Men = Vec<(Color, Role, Square)>;

/// Pseudo-random numbers, the same every time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// The tables behind an ending.
pub(crate) fn solved_behind(ending: &str) -> (TableValues, Tables) {
    let ending: Material = ending.parse().unwrap();
    let mut tables = Tables::default();
    let options = SolveOptions { keep: true, ..SolveOptions::default() };
    for job in complete([ending]) {
        let mut values = TableValues::new(job.material, job.slices());
        if job.material == ending {
            return (values, tables);
        }
        solve_table(&mut values, &tables, &options, &|| {}).unwrap();
        tables.insert(job.material, Arc::new(values));
    }
    panic!("the ending itself comes last");
}

/// A table with a value of its own at every place, as far as they go.
pub(crate) fn numbered(layout: Layout, material: &str, pawns: PawnSquares) -> TableValues {
    let mut random = Random(7);
    let mut codes = || Codes::Narrow((0..layout.len()).map(|_| random.below(256) as u8).collect());
    let codes = [codes(), codes()];
    let slice = SliceValues { codes, en_passant: Vec::new(), counts: None, max_moves: 126 };
    let mut table = TableValues::with_layout(
        material.parse().unwrap(),
        layout,
        TableValues::new(material.parse().unwrap(), []).form,
        [],
    );
    let (normal, _) = table.normalize(pawns);
    table.slices.insert(normal, OnceLock::from(Arc::new(slice)));
    table
}

/// What a table says of a position, whose colours are exchanged against its own if `swapped`.
pub(crate) fn value(table: &TableValues, swapped: bool, men: &Men, turn: Color) -> Value {
    let seen = Orientation { swap: swapped, mirror: false };
    let mut left: Men = men
        .iter()
        .map(|&(color, role, square)| (seen.color(color), role, seen.symmetry().apply(square)))
        .collect();
    let movers = table.layout.movers().iter().filter(|m| m.is_man());
    let stands: Vec<u8> = movers
        .map(|m| {
            let at = left.iter().position(|man| (man.0, man.1) == (m.color, m.role)).unwrap();
            u8::from(left.remove(at).2)
        })
        .collect();
    let mut pawns = PawnSquares::default();
    for (color, role, square) in left {
        assert_eq!(role, Role::Pawn);
        *pawns.of_mut(color) |= Bitboard::from_square(square).0;
    }
    table.value(&stands, pawns, seen.color(turn), None).unwrap()
}

/// A position of chess; none if it is not legal.
pub(crate) fn position(men: &Men, turn: Color) -> Option<Chess> {
    let mut setup = Setup::empty();
    setup.turn = turn;
    for &(color, role, square) in men {
        if setup.board.piece_at(square).is_some() {
            return None;
        }
        setup.board.set_piece_at(square, Piece { color, role });
    }
    let position = setup.position::<Chess>(CastlingMode::Standard);
    let position = position.or_else(PositionError::ignore_impossible_check);
    position.or_else(PositionError::ignore_too_much_material).ok()
}

/// The men of a position.
pub(crate) fn men_of(position: &Chess) -> Men {
    let men = position.board().iter();
    men.map(|(square, piece)| (piece.color, piece.role, square)).collect()
}

/// The men behind an exit: the movers of the slice that it leaves where they stand, what changes,
/// and the pawns behind it.
pub(crate) fn men_behind(
    ours: &Layout,
    stands: impl Iterator<Item = (usize, u8)>,
    change: MaterialChange,
    pawns: PawnSquares,
) -> Men {
    let movers = ours.movers();
    let movers =
        stands.map(|(m, square)| (movers[m].color, movers[m].role, Square::new(u32::from(square))));
    let pawns = Color::ALL.into_iter().flat_map(|color| {
        let squares = Bitboard(pawns.of(color)).into_iter();
        squares.map(move |square| (color, Role::Pawn, square))
    });
    movers.chain(change.promoted).chain(pawns).collect()
}

/// Men in words, for messages.
pub(crate) fn written(men: &Men, turn: Color) -> String {
    let man = |&(color, role, square): &(Color, Role, Square)| {
        format!("{}{}", Piece { color, role }.char(), square)
    };
    format!("{} with {turn} to move", men.iter().map(man).collect::<Vec<_>>().join(" "))
}
