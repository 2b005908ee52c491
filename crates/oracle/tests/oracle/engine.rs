//! The solver against everything independent of it: the slow solver position by position, the
//! published counts and longest mates, Syzygy tables, other numbers of threads.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use hoffman_board::{Color, Material, Role, Value};
use hoffman_oracle::{
    Coverage, KnownStats, SlowPosition, SlowTables, compare, compare_syzygy, known_stats,
};
use hoffman_plan::{complete, reachable};
use hoffman_solve::{SolveOptions, Tables, solve_table};
use hoffman_space::{
    Code, Codes, Counts, KingPlacement, Orientation, PawnSquares, TableValues, king_pairs,
};

/// One large test at a time: they want all memory.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The engine's tables of some endings and all they need.
fn solved(names: &[&str], count: bool) -> Tables {
    let mut tables = Tables::default();
    for job in complete(names.iter().map(|n| n.parse().unwrap())) {
        let mut values = TableValues::new(job.material, job.slices());
        solve_table(
            &mut values,
            &tables,
            &SolveOptions { count, keep: true, ..SolveOptions::default() },
            &|| {},
        )
        .unwrap();
        tables.insert(job.material, Arc::new(values));
    }
    tables
}

/// The engine's value of a position.
fn value(tables: &Tables, position: &SlowPosition) -> Option<Value> {
    let (normal, swapped) = position.material().normalized();
    let table = tables.get(&normal)?;
    let turned = Orientation { swap: swapped, mirror: false };
    let symmetry = turned.symmetry();
    let mut pawns = PawnSquares::default();
    let mut men = Vec::new();
    for man in &position.men {
        let square = symmetry.apply(man.square) as u8;
        let color = turned.color(man.color);
        if man.role == Role::Pawn {
            *pawns.of_mut(color) |= 1 << square;
        } else {
            men.push((color, man.role, square));
        }
    }
    let mut squares = Vec::new();
    for mover in table.layout.movers() {
        let at = men.iter().position(|&(c, r, _)| c == mover.color && r == mover.role)?;
        squares.push(men.swap_remove(at).2);
    }
    let en_passant = position.en_passant.map(|s| symmetry.apply(s) as u8);
    table.value(&squares, pawns, turned.color(position.turn), en_passant)
}

/// Every position of the endings, every distance.
fn compare_all(names: &[&str], coverage: Coverage) -> u64 {
    let tables = solved(names, false);
    let mut slow = SlowTables::new();
    let mut total = 0;
    for name in names {
        let material: Material = name.parse().unwrap();
        let result =
            compare(&mut slow, &material, coverage, |position| value(&tables, position)).unwrap();
        assert!(result.is_perfect(), "{name}: {result:?}");
        assert!(result.compared > 0);
        total += result.compared;
    }
    total
}

#[test]
fn three_men_agree_in_every_position() {
    let names = ["KQvK", "KRvK", "KBvK", "KNvK", "KPvK"];
    let positions = compare_all(&names, Coverage::EVERYTHING);
    eprintln!("{positions} positions of three men agree");
    // The same with the colours exchanged.
    compare_all(&["KvKQ", "KvKP"], Coverage::EVERYTHING);
}

#[test]
fn typical_four_men_agree_in_every_position() {
    let positions = compare_all(&["KQvKR", "KBNvK"], Coverage::CANONICAL);
    eprintln!("{positions} positions of four men agree");
}

#[test]
#[ignore = "slow: a minute or two for each of ten endings of four men"]
fn ten_four_men_endings_agree_in_every_position() {
    let _alone = alone();
    let names = [
        "KPvKP", "KQvKQ", "KNNvK", "KBNvK", "KRvKP", "KPPvK", "KQvKR", "KRvKB", "KQvKP", "KBvKN",
        "KRPvK", "KRvKR",
    ];
    let positions = compare_all(&names, Coverage::CANONICAL);
    eprintln!("{positions} positions of {} endings agree", names.len());
}

/// Where the Syzygy tables are, if they are.
fn syzygy() -> Option<PathBuf> {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("HOFFMAN_SHARED")
        .map_or_else(|| manifest.join("../../../shared"), PathBuf::from);
    let folder = std::env::var_os("HOFFMAN_SYZYGY")
        .map_or_else(|| shared.join("data/syzygy"), PathBuf::from);
    if folder.join("KQvK.rtbw").is_file() {
        return Some(folder);
    }
    eprintln!("SKIPPED: no Syzygy tables under {} (set HOFFMAN_SYZYGY)", folder.display());
    None
}

fn names_up_to(men: usize) -> Vec<&'static str> {
    known_stats().iter().filter(|k| k.material.men() <= men).map(|k| k.name).collect()
}

fn compare_with_syzygy(names: &[&str]) {
    let Some(folder) = syzygy() else { return };
    let tables = solved(names, false);
    let mut total = 0;
    for name in names {
        let material = name.parse().unwrap();
        let coverage = Coverage::CANONICAL;
        let result = compare_syzygy(&folder, &material, coverage, |p| value(&tables, p)).unwrap();
        assert!(result.is_perfect(), "{name}: {result:?}");
        total += result.compared;
    }
    eprintln!("{total} positions of {} endings agree with Syzygy", names.len());
}

#[test]
fn some_endings_agree_with_syzygy() {
    compare_with_syzygy(&["KQvK", "KRvK", "KPvK", "KBNvK", "KRvKN"]);
}

#[test]
#[ignore = "slow: every position of 35 endings"]
fn all_three_and_four_men_agree_with_syzygy() {
    let _alone = alone();
    compare_with_syzygy(&names_up_to(4));
}

/// Counts as Syzygy publishes them: orbits, like men told apart, no en passant. Twice, to stay
/// whole.
fn counts(table: &TableValues) -> ([[u64; 3]; 2], [u16; 2]) {
    let mut counts = [[0; 3]; 2];
    let mut longest = [0; 2];
    let movers = table.layout.movers().len();
    let inner = if movers > 2 { 1_usize << (6 * (movers - 2)) } else { 1 };
    let diagonal = |s: usize| s >> 3 == s & 7;
    for (structure, slice) in &table.slices {
        let slice = slice.get().unwrap();
        // The images of the structure, and whether they exchange the sides to move.
        let mut images: Vec<(PawnSquares, bool)> = Vec::new();
        for (swap, mirror) in [(false, false), (false, true), (true, false), (true, true)] {
            let image = structure.oriented(Orientation { swap, mirror });
            let known = images.iter().any(|&(i, _)| i == image);
            if !known && (!swap || table.material.is_symmetric()) {
                images.push((image, swap));
            }
        }
        for side in 0..2 {
            let mut add = |offset: usize, value: Value| {
                let kind = match value {
                    Value::Illegal => return,
                    Value::Win(moves) => {
                        longest[side] = moves.max(longest[side]);
                        0
                    }
                    Value::Draw => 1,
                    Value::Loss(_) => 2,
                };
                let mut weight = if table.material.has_pawns() { 1 } else { 2 };
                if table.layout.kings() == KingPlacement::Pairs {
                    let (white, black) = king_pairs().pairs[offset / inner];
                    if diagonal(white as usize) && diagonal(black as usize) {
                        let mut rest = offset % inner;
                        let mut fixed = true;
                        for _ in 2..movers {
                            fixed &= diagonal(rest & 63);
                            rest >>= 6;
                        }
                        weight = if fixed { 2 } else { 1 };
                    }
                }
                for &(_, swap) in &images {
                    counts[side ^ usize::from(swap)][kind] += weight;
                }
            };
            match &slice.codes[side] {
                Codes::Narrow(c) => c.iter().enumerate().for_each(|(i, c)| add(i, c.value())),
                Codes::Wide(c) => c.iter().enumerate().for_each(|(i, c)| add(i, c.value())),
                stored @ Codes::Stored(_) => {
                    (0..stored.len()).for_each(|i| add(i, stored.value(i)));
                }
            }
        }
    }
    if table.material.is_symmetric() {
        let both = longest[0].max(longest[1]);
        longest = [both, both];
    }
    (counts, longest)
}

fn check_published(known: &KnownStats, table: &TableValues) {
    let (counts, longest) = counts(table);
    let factorial = |n: u8| (1..=u64::from(n)).product::<u64>();
    let pawns = |c: Color| table.material.count.get(c).pawn;
    let orders = factorial(pawns(Color::White)) * factorial(pawns(Color::Black));
    for (side, expected) in [known.white, known.black].into_iter().enumerate() {
        let twice = [expected.wins, expected.draws, expected.losses].map(|n| 2 * n);
        let ours = counts[side].map(|n| n * orders);
        assert_eq!(ours, twice, "{}: side {side}", known.name);
    }
    let moves = |l: Option<hoffman_oracle::Longest>| l.map_or(0, |l| l.moves);
    let mut expected = [moves(known.longest_white_win), moves(known.longest_black_win)];
    if table.material.is_symmetric() {
        expected = [expected[0].max(expected[1]); 2];
    }
    assert_eq!(longest, expected, "{}: longest mates", known.name);
}

fn check_all_published(names: &[&str]) {
    let tables = solved(names, false);
    let known = known_stats();
    for name in names {
        let known = known.iter().find(|k| k.name == *name).unwrap();
        check_published(known, &tables[&known.material]);
    }
    eprintln!("published counts and longest mates of {} endings agree", names.len());
}

#[test]
fn all_three_and_four_men_have_the_published_counts() {
    let names = names_up_to(4);
    assert_eq!(names.len(), 35);
    check_all_published(&names);
}

#[test]
#[ignore = "slow: five men, gigabytes of memory"]
fn five_men_have_the_published_counts() {
    let _alone = alone();
    // Others can be named, as in HOFFMAN_ENDINGS="KQPvKP KNNvKP"; all of them take some 40 GB.
    let chosen = std::env::var("HOFFMAN_ENDINGS");
    let chosen = chosen.as_deref().unwrap_or("KRRvKR KQRvKR KBNvKN KRPvKR KRPvKP KQPvKP KQQvKQ");
    for name in chosen.split_whitespace() {
        check_all_published(&[name]);
    }
}

#[test]
#[ignore = "slow: all endings of five men that two pawns and a rook can come to"]
fn forced_en_passant_is_no_stalemate() {
    // Black's only legal move is the capture; no published count sees it.
    let positions = [("8/8/8/8/Pp6/1K6/1R6/k7 b - a3", 2), ("8/8/2R5/k7/Pp6/1K6/8/8 b - a3", 9)];
    let positions =
        positions.map(|(fen, moves)| (fen, SlowPosition::from_fen(fen).unwrap(), moves));
    let structure = |position: &SlowPosition| -> Vec<(Color, u64)> {
        let pawns = position.men.iter().filter(|man| man.role == Role::Pawn);
        pawns.map(|man| (man.color, 1 << man.square as u64)).collect()
    };
    // Both have the same pawns, so the same tables are behind them.
    let [(_, first, _), (_, second, _)] = &positions;
    assert_eq!(structure(first), structure(second));
    let mut tables = Tables::default();
    for job in reachable(&first.material(), &structure(first)) {
        let mut values = TableValues::new(job.material, job.slices());
        let options = SolveOptions { count: false, keep: true, ..SolveOptions::default() };
        solve_table(&mut values, &tables, &options, &|| {}).unwrap();
        tables.insert(job.material, Arc::new(values));
    }
    for (fen, position, moves) in positions {
        assert_eq!(value(&tables, &position), Some(Value::Loss(moves)), "{fen}");
    }
}

/// Everything a solved table holds.
type Contents = Vec<(PawnSquares, [Codes; 2], Option<[Counts; 2]>)>;

#[test]
fn threads_do_not_matter() {
    let names = ["KQvKR", "KPvKP", "KBNvK", "KRvKP"];
    let contents = |threads: usize| -> Vec<Contents> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let tables = pool.install(|| solved(&names, true));
        names
            .iter()
            .map(|name| {
                let table = &tables[&name.parse::<Material>().unwrap()];
                let mut slices: Contents = table
                    .slices
                    .iter()
                    .map(|(s, v)| {
                        let v = v.get().unwrap();
                        (*s, v.codes.clone(), v.counts.as_ref().map(|c| c.plain))
                    })
                    .collect();
                slices.sort_unstable_by_key(|s| s.0);
                slices
            })
            .collect()
    };
    let one = contents(1);
    for threads in [2, 3, 8] {
        let other = contents(threads);
        for ((name, a), b) in names.iter().zip(&one).zip(&other) {
            for ((sa, ca, na), (sb, cb, nb)) in a.iter().zip(b) {
                assert!(sa == sb && na == nb, "{name}, {threads} threads");
                for side in 0..2 {
                    let same = match (&ca[side], &cb[side]) {
                        (Codes::Narrow(a), Codes::Narrow(b)) => a == b,
                        (Codes::Wide(a), Codes::Wide(b)) => a == b,
                        _ => false,
                    };
                    assert!(same, "{name}: {sa:?}, {threads} threads");
                }
            }
        }
    }
}
