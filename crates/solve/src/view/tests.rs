use hoffman_board::Variant;
use hoffman_space::Mover;

use super::*;
use crate::for_tests::{Random, men_behind, numbered, value, written};
use crate::kernels::tables::tables;

/// A fetch from one table, in words of the ending that an exit leaves.
struct Case<'c> {
    table: &'c TableValues,
    swapped: bool,
    ours: &'c Layout,
    pawns: PawnSquares,
    change: MaterialChange,
}

impl Case<'_> {
    fn check(&self, all: &[&[usize]]) {
        for axes in all {
            self.check_axes(axes);
        }
    }

    /// Fetches with the movers of `axes` everywhere and the others on some squares, and
    /// compares places with what the table says of the position there.
    fn check_axes(&self, axes: &[usize]) {
        let Case { table, swapped, ours, pawns, change } = *self;
        let turn = Color::Black;
        let view = View::all(table, swapped, pawns, turn, ours, change).remove(0);
        let mut random = Random(axes.len() as u64 + 1);
        for _ in 0..20 {
            let others = (0..ours.movers().len()).filter(|m| !axes.contains(m));
            let others = others.filter(|&m| change.captured != Some(m));
            let placed: Vec<_> = others.map(|m| (m, random.below(64) as u8)).collect();
            let mut out = vec![0_u8; 1 << (6 * axes.len())];
            fetch_view(&view, Section { tables: tables(), placed: &placed, axes }, &mut out);
            for _ in 0..200 {
                let place = random.below(out.len() as u64) as usize;
                let shift = |i: usize| 6 * (axes.len() - 1 - i);
                let along = axes.iter().enumerate();
                let along = along.map(|(i, &m)| (m, (place >> shift(i) & 63) as u8));
                let stands = along.chain(placed.iter().copied());
                let men = men_behind(ours, stands, change, pawns);
                let expected = u8::from_value(value(table, swapped, &men, turn)).negate();
                assert_eq!(out[place], expected, "{}, axes {axes:?}", written(&men, turn));
            }
        }
    }
}

#[test]
fn fetches_from_paired_kings_are_what_the_table_says() {
    let table = numbered(Layout::new(&"KQRvK".parse().unwrap()), "KQRvK", PawnSquares::default());
    // White king, black king, queen, rook, bishop that was taken.
    let ours = Layout::new(&"KQRvKB".parse().unwrap());
    let change = MaterialChange { captured: Some(4), promoted: None };
    let pawns = PawnSquares::default();
    let case = Case { table: &table, swapped: false, ours: &ours, pawns, change };
    case.check(&[&[], &[3], &[2, 3], &[3, 2], &[1, 2, 3], &[0, 1], &[0], &[3, 0, 2]]);
}

#[test]
fn fetches_with_exchanged_colours_and_a_promotion_are_too() {
    let table = numbered(Layout::new(&"KQvK".parse().unwrap()), "KQvK", PawnSquares::default());
    let ours = Layout::new(&"KvKP".parse().unwrap());
    let change =
        MaterialChange { captured: None, promoted: Some((Color::Black, Role::Queen, Square::C1)) };
    let pawns = PawnSquares::default();
    let case = Case { table: &table, swapped: true, ours: &ours, pawns, change };
    case.check(&[&[], &[0], &[1], &[0, 1]]);
}

#[test]
fn fetches_from_a_mirrored_slice_with_a_pawn_are_too() {
    // The normal form of a pawn on the h-file is one on the a-file.
    let pawns = PawnSquares { white: 1 << 31, black: 0 };
    let table = numbered(Layout::new(&"KRPvK".parse().unwrap()), "KRPvK", pawns);
    let ours = Layout::new(&"KRPvKN".parse().unwrap());
    let change = MaterialChange { captured: Some(3), promoted: None };
    let case = Case { table: &table, swapped: false, ours: &ours, pawns, change };
    case.check(&[&[], &[2], &[1, 2], &[2, 0], &[0, 1, 2], &[1]]);
}

#[test]
fn fetches_from_a_restricted_table_are_too() {
    let movers = [
        Mover { color: Color::White, role: Role::King, squares: 0xff00_ff00 },
        Mover { color: Color::Black, role: Role::King, squares: u64::MAX },
        Mover { color: Color::White, role: Role::Rook, squares: 0x0101_0101_0101_0101 },
    ];
    let layout = Layout::restricted(&movers, true, Variant::Normal);
    let pawns = PawnSquares { white: 1 << 28, black: 0 };
    let table = numbered(layout, "KRPvK", pawns);
    let ours = Layout::new(&"KRPvKN".parse().unwrap());
    let change = MaterialChange { captured: Some(3), promoted: None };
    let case = Case { table: &table, swapped: false, ours: &ours, pawns, change };
    case.check(&[&[], &[2], &[0], &[1, 2], &[0, 1, 2]]);
}
