//! The library as its users see it.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use hoffman::shakmaty::fen::Fen;
use hoffman::shakmaty::{CastlingMode, Chess};
use hoffman::{
    Bound, Cancel, Change, Color, ConvertOptions, Event, IndexType, Judged, ListOptions,
    ListProgress, ListQuery, ListedPosition, OpenOptions, Options, Plies, Position, ProbeError,
    ReadOptions, Role, Square, Table, TableEntry, Tablebase, Target, UniqueLine, Value, Variant,
    Verdict, VerifyOptions, WantedResult, Wdl, ZugzwangOf,
};
use tempfile::TempDir;

fn built(endings: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    build_into(folder.path(), endings);
    folder
}

fn build_into(folder: &Path, endings: &[&str]) {
    let targets: Vec<Target> = endings.iter().map(|name| name.parse().unwrap()).collect();
    hoffman::build(&targets, &Options::new(folder).blocks(false), &mut |_| {}).unwrap();
}

const KQK: &str = "8/8/8/5k2/8/8/1Q6/K7 w - - 0 1";

#[test]
fn a_position_is_a_fen_or_one_of_shakmaty() {
    let folder = built(&["KQvK"]);
    let tables = Tablebase::open(folder.path()).unwrap();
    let expected = Value::Win { plies: Some(Plies(19)) };
    let chess: Chess = KQK.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap();
    let setup = KQK.parse::<Fen>().unwrap().into_setup();
    let own = Position::from(&setup);
    assert_eq!(tables.value(KQK).unwrap(), expected);
    assert_eq!(tables.value(KQK.to_owned()).unwrap(), expected);
    assert_eq!(tables.value(&chess).unwrap(), expected);
    assert_eq!(tables.value(&setup).unwrap(), expected);
    assert_eq!(tables.value(&own).unwrap(), expected);
    assert_eq!(Chess::try_from(&own).unwrap(), chess);
    assert_eq!(tables.wdl(&own).unwrap(), Some(Wdl::Win));
    // With the colours exchanged, and after a move.
    assert_eq!(tables.value(own.mirrored()).unwrap(), expected);
    let after = format!("{KQK} moves b2b4");
    assert!(tables.value(&after).unwrap().is_loss());
}

#[test]
fn answers_say_where_they_come_from() {
    let folder = built(&["KQvK"]);
    let tables = Tablebase::open(folder.path()).unwrap();
    let answer = tables.probe(KQK).unwrap();
    assert_eq!(answer.bound, Bound::Exact);
    let table = answer.table.unwrap();
    assert_eq!(table.path(), folder.path().join("kqk.htb"));
    assert_eq!(table.variant(), Variant::Normal);
    assert!(table.assumes().is_empty() && table.index() > 0);

    let moves = tables.moves(KQK).unwrap();
    let line = tables.line(KQK).unwrap();
    assert_eq!(line.len(), 19);
    assert_eq!(moves[0].m, line[0]);
    let best = moves[0].answer.as_ref().unwrap();
    assert_eq!(best.value, Value::Loss { plies: Some(Plies(18)) });
    // A move of `shakmaty` and back.
    let m: hoffman::shakmaty::Move = line[0].into();
    assert_eq!(hoffman::Move::try_from(m).unwrap(), line[0]);
    assert!(tables.report(KQK).unwrap().to_text().contains("White wins, mate in 10 moves"));
}

#[test]
fn games_that_are_over_need_no_table() {
    let tables = OpenOptions::new().open().unwrap();
    let mate = tables.probe("R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1").unwrap();
    assert_eq!(mate.value, Value::Loss { plies: Some(Plies(0)) });
    assert_eq!((mate.end, mate.bound), (Some(hoffman::GameEnd::Checkmate), Bound::Exact));
    let stalemate = tables.probe("7k/8/5KQ1/8/8/8/8/8 b - - 0 1").unwrap();
    assert_eq!((stalemate.value, stalemate.end), (Value::Draw, Some(hoffman::GameEnd::Stalemate)));
    assert!(tables.value("8/8/8/4k3/8/8/8/K7 w - - 0 1").unwrap().is_draw());
}

#[test]
fn errors_have_codes() {
    let folder = built(&["KQvK"]);
    let tables = Tablebase::open(folder.path()).unwrap();
    let code = |fen: &str| tables.probe(fen).unwrap_err().code();
    assert_eq!(code("nonsense"), "bad-fen");
    assert_eq!(code("8/8/8/8/8/8/8/8 w - - 0 1"), "impossible-position");
    assert_eq!(code("8/8/8/8/8/8/8/4K2R w K - 0 1"), "impossible-position");
    assert_eq!(code("4k3/8/8/8/8/8/8/4K2R w K - 0 1"), "castling");
    assert_eq!(code(&format!("{KQK} moves a1a8")), "bad-move");
    let missing = tables.probe("8/8/8/5k2/8/8/1Q4r1/K7 w - - 0 1").unwrap_err();
    assert!(matches!(&missing, ProbeError::NoTable { table } if table == "kqkr.htb"), "{missing}");
    assert_eq!(missing.code(), "no-table");
    assert_eq!(Tablebase::open(folder.path().join("none")).unwrap_err().code(), "bad-folder");
    assert_eq!("KQvX".parse::<Target>().unwrap_err().code(), "bad-ending");

    let rights: Chess = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
        .parse::<Fen>()
        .unwrap()
        .into_position(CastlingMode::Standard)
        .unwrap();
    assert_eq!(tables.probe(&rights).unwrap_err().code(), "castling");

    let path = folder.path().join("kqk.htb");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0);
    std::fs::write(&path, bytes).unwrap();
    let damaged = Tablebase::open(folder.path()).unwrap();
    let all = (0..64).map(|square| {
        let square = hoffman::Square::new(square);
        let men = [
            (hoffman::Square::A1, hoffman::Color::White, hoffman::Role::King),
            (square, hoffman::Color::White, hoffman::Role::Queen),
            (hoffman::Square::F5, hoffman::Color::Black, hoffman::Role::King),
        ];
        damaged.probe(Position::from_men(men, hoffman::Color::Black, None))
    });
    let codes: Vec<&str> = all.filter_map(|answer| Some(answer.err()?.code())).collect();
    assert!(codes.contains(&"damaged-table"), "{codes:?}");
}

#[test]
fn a_missing_or_damaged_successor_spoils_its_move_only() {
    let folder = built(&["KPvK"]);
    std::fs::remove_file(folder.path().join("krk.htb")).unwrap();
    std::fs::write(folder.path().join("kqk.htb"), "damaged").unwrap();
    let tables = Tablebase::open(folder.path()).unwrap();
    let fen = "8/4P3/4K3/8/8/8/8/k7 w - - 0 1";
    assert!(tables.value(fen).unwrap().is_win());
    let moves = tables.moves(fen).unwrap();
    let code = |san: &str| {
        let found = moves.iter().find(|option| option.san == san).unwrap();
        found.answer.as_ref().map_or_else(ProbeError::code, |_| "known")
    };
    assert_eq!(code("e8=Q"), "damaged-table");
    assert_eq!(code("e8=R"), "no-table");
    assert_eq!(code("Kd7"), "known");
}

#[test]
fn new_tables_are_seen() {
    let folder = built(&["KQvK"]);
    let tables = Tablebase::open(folder.path()).unwrap();
    let clone = tables.clone();
    let fen = "8/8/8/5k2/8/8/1Q4r1/K7 w - - 0 1";
    assert_eq!(tables.probe(fen).unwrap_err().code(), "no-table");
    build_into(folder.path(), &["KQvKR"]);
    assert!(tables.probe(fen).unwrap().value.is_win());
    assert!(clone.probe(fen).is_ok());
    // One that was damaged when it was first asked.
    let path = folder.path().join("krk.htb");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, "damaged").unwrap();
    let again = Tablebase::open(folder.path()).unwrap();
    let krk = "8/8/8/5k2/8/8/1R6/K7 w - - 0 1";
    assert_eq!(again.probe(krk).unwrap_err().code(), "damaged-table");
    std::fs::write(&path, whole).unwrap();
    assert!(again.probe(krk).unwrap().value.is_win());
}

#[test]
fn many_threads_ask_at_once() {
    let folder = built(&["KPvK"]);
    // A cache that holds next to nothing.
    let tables = OpenOptions::new().folder(folder.path()).cache(100_000).open().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let tables = tables.clone();
            scope.spawn(move || {
                for square in (thread..64).chain(0..thread) {
                    let square = hoffman::Square::new(square);
                    let men = [
                        (hoffman::Square::E6, hoffman::Color::White, hoffman::Role::King),
                        (hoffman::Square::E5, hoffman::Color::White, hoffman::Role::Pawn),
                        (square, hoffman::Color::Black, hoffman::Role::King),
                    ];
                    let position = Position::from_men(men, hoffman::Color::White, None);
                    // With king and pawn like this White always wins.
                    if let Ok(value) = tables.value(&position) {
                        assert!(value.is_win() || position.men().count() < 3, "{position:?}");
                    }
                }
            });
        }
    });
}

#[test]
fn what_is_not_in_memory_is_not_read() {
    let folder = built(&["KQvK"]);
    let tables = Tablebase::open(folder.path()).unwrap();
    assert!(tables.probe_cached(KQK).unwrap().is_none());
    let found = tables.probe(KQK).unwrap();
    assert_eq!(tables.probe_cached(KQK).unwrap().unwrap().value, found.value);
    assert_eq!(tables.probe_cached("nonsense").unwrap_err().code(), "bad-fen");
}

#[test]
fn tables_of_every_format_answer_with_their_bound() {
    let folder = built(&["KQvK"]);
    let fen = "8/k1P5/8/K7/8/8/8/8 w - - 0 1";
    let control = |name: &str, format: &str, prunes: &str| {
        let text = format!(
            r#"<tablebase><prune-enable color="white" type="discard"/>{format}
               <piece color="white" type="king"/><piece color="black" type="king"/>
               <piece color="white" type="pawn"/>
               <futurebase filename="{dir}/kk.htb"/><futurebase filename="{dir}/kqk.htb"/>
               {prunes}<output filename="{name}.htb"/></tablebase>"#,
            dir = folder.path().display()
        );
        let path = folder.path().join(format!("{name}.xml"));
        std::fs::write(&path, text).unwrap();
        let target = Target::ControlFile(path);
        hoffman::build(&[target], &Options::new(folder.path()).blocks(false), &mut |_| {}).unwrap();
        OpenOptions::new().file(folder.path().join(format!("{name}.htb"))).open().unwrap()
    };
    let prunes = r#"<prune color="white" move="P=[RBN]" type="discard"/>"#;
    for format in ["<dtm/>", "<basic/>", "<flag type=\"white-wins\"/>"] {
        let name = format!("queen-{}", format.len());
        let answer = control(&name, format, prunes).probe(fen).unwrap();
        assert!(!answer.value.is_draw(), "{format}");
        assert!(matches!(answer.value, Value::AtLeastDraw | Value::Unknown), "{answer:?}");
        assert_eq!(answer.table.unwrap().assumes().len(), 1);
    }
    let won = "8/8/8/8/4P3/8/1k6/4K3 w - - 0 1";
    let tables = control("queen", "<dtm/>", prunes);
    let answer = tables.probe(won).unwrap();
    assert!(answer.value.is_win());
    assert_eq!(answer.bound, Bound::WhiteAtLeast);
    let tables = control("converts", "<dtc/>", prunes);
    let answer = tables.probe(won).unwrap();
    assert_eq!(answer.value, Value::Win { plies: None });
    assert!(answer.conversion().unwrap().0 > 0);
}

#[test]
fn work_is_told_and_can_be_stopped() {
    let folder = TempDir::new().unwrap();
    let options = Options::new(folder.path()).blocks(false).threads(2);
    // What is missing is built, and the answer comes first.
    let (mut solved, mut order) = (None, Vec::new());
    let found =
        hoffman::solve("8/8/8/8/1k6/1p6/1K6/8 w - - 0 1", &options, &mut |event| match event {
            Event::Solved(tables) => {
                order.push("solved");
                solved = Some(tables);
            }
            Event::Finished { .. } => order.push("finished"),
            _ => {}
        });
    let found = found.unwrap();
    assert!(found.answer.value.is_draw() && found.built.written().next().is_some());
    assert!(order.contains(&"solved") && order.contains(&"finished"), "{order:?}");
    let fen = "8/8/8/8/1k6/1p6/1K6/8 w - - 0 1";
    assert_eq!(solved.unwrap().value(fen).unwrap(), found.tables.value(fen).unwrap());

    let cancel = Cancel::new();
    cancel.cancel();
    let stopped = Options::new(folder.path()).blocks(false).cancel(cancel.clone());
    let error = hoffman::build(&["KRvKN".parse().unwrap()], &stopped, &mut |_| {}).unwrap_err();
    assert_eq!(error.code(), "cancelled");
    assert!(cancel.is_cancelled() && !folder.path().join("krkn.htb").exists());

    let plan = hoffman::plan(&["KRvKN".parse().unwrap()], &options).unwrap();
    assert!(plan.tables.iter().any(|table| table.table == "krkn.htb" && !table.kept));
}

#[test]
fn tables_are_checked_and_counted() {
    let folder = built(&["KQvK"]);
    let path = folder.path().join("kqk.htb");
    let report = hoffman::verify(&path, &VerifyOptions::new(), &mut |_| {}).unwrap();
    assert_eq!((report.verdict, report.different), (Verdict::Right, 0));
    let stats = hoffman::stats(&path).unwrap();
    assert_eq!(stats.white_to_move.win, Some(18081));

    // A clone of the request stops the work, from whatever thread.
    let cancel = Cancel::new();
    let options = VerifyOptions::new().cancel(cancel.clone());
    let mut told = 0;
    let stopped = hoffman::verify(&path, &options, &mut |event| {
        if let Event::Entries { .. } = event {
            told += 1;
            cancel.cancel();
        }
    });
    assert_eq!((stopped.unwrap_err().code(), told > 0), ("cancelled", true));
}

/// Whoever asks for a whole small table waits for it, and may stop waiting.
#[test]
fn reading_a_whole_table_can_be_stopped() {
    let folder = TempDir::new().unwrap();
    hoffman::build(&["KQvK".parse().unwrap()], &Options::new(folder.path()), &mut |_| {}).unwrap();
    let cancel = Cancel::new();
    let open = || Table::open(folder.path().join("kqk.hbf"), cancel.reading(ReadOptions::new()));
    assert!(open().unwrap().stats().is_ok());

    let table = open().unwrap();
    cancel.cancel();
    let is_cancelled = |error| matches!(error, hoffman::Error::Cancelled { goes_on: false, .. });
    assert!(is_cancelled(table.stats().unwrap_err()));
    let listed = table.list(&ListQuery::default(), &ListOptions::default(), None);
    assert!(is_cancelled(listed.unwrap_err()));
}

/// What is counted or converted is left alone when it is asked to stop, in either container.
#[test]
fn counting_and_converting_can_be_stopped() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    hoffman::build(&["KQvK".parse().unwrap()], &Options::new(folder.path()), &mut |_| {}).unwrap();
    let table = Table::open(at("kqk.hbf"), ReadOptions::new()).unwrap();
    table.convert(at("kqk.htb"), &ConvertOptions::default(), &mut |_| {}).unwrap();

    let (cancel, simple) = (Cancel::new(), Some(IndexType::Simple));
    let reading = || cancel.reading(ReadOptions::new());
    let tables = ["kqk.hbf", "kqk.htb"].map(|name| Table::open(at(name), reading()).unwrap());
    cancel.cancel();
    for table in &tables {
        assert_eq!(table.stats().unwrap_err().code(), "cancelled");
        for (target, index) in [("a.hbf", None), ("a.htb", None), ("b.htb", simple)] {
            let options = ConvertOptions { index, ..ConvertOptions::default() };
            let stopped = table.convert(at(target), &options, &mut |_| {});
            assert_eq!(stopped.unwrap_err().code(), "cancelled", "{target}");
            assert!(!at(target).exists(), "{target}");
        }
    }
}

#[test]
fn an_answer_needs_no_files() {
    let folder = TempDir::new().unwrap();
    let options = Options::new(folder.path()).blocks(false).write(false);
    let solved =
        hoffman::solve("8/8/8/8/5k2/8/1R1K2p1/8 w - - 0 1", &options, &mut |_| {}).unwrap();
    assert_eq!(solved.answer.value, Value::Draw);
    assert!(solved.built.made.iter().any(|made| made.name.starts_with("krkp")));
    // What is behind its moves is there, too.
    let moves = solved.tables.moves("8/8/8/8/5k2/8/1R1K2p1/8 b - - 0 1").unwrap();
    assert!(moves.iter().all(|option| option.answer.is_ok()), "{moves:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The positions of a table, a stretch of indices at a time, and how many of them have each result.
fn every_entry(table: &Table, stretch: u64) -> (Vec<(Position, TableEntry)>, [u64; 3]) {
    let men = table.men();
    let mut all = Vec::new();
    let mut results = [0; 3];
    let mut first = 0;
    while first < table.info().indices {
        for entry in table.entries(first..first + stretch).unwrap() {
            let TableEntry { placement, value, .. } = &entry;
            let squares = placement.squares.iter().zip(&men);
            let men = squares.map(|(&square, &(color, role))| (square, color, role));
            results[value.wdl().unwrap() as usize] += 1;
            all.push((Position::from_men(men, placement.turn, placement.en_passant), entry));
        }
        first += stretch;
    }
    (all, results)
}

#[test]
fn entries_are_the_positions_that_are_counted_and_what_they_answer() {
    let folder = built(&["KPvK", "KQvKQ"]);
    let tables = Tablebase::open(folder.path()).unwrap();
    for name in ["kpk.htb", "kqk.htb", "krk.htb"] {
        let table = Table::open(folder.path().join(name), ReadOptions::new()).unwrap();
        // No multiple of the eight entries that are unpacked together.
        let (all, results) = every_entry(&table, 5003);
        let stats = table.stats().unwrap();
        let sides = [&stats.white_to_move, &stats.black_to_move];
        let sum = |count: fn(&hoffman::SideStats) -> Option<u64>| {
            sides.iter().filter_map(|side| count(side)).sum::<u64>()
        };
        let counted = [sum(|side| side.loss), sum(|side| side.draw), sum(|side| side.win)];
        assert_eq!(results, counted, "{name}");
        for (position, entry) in &all {
            let answer = tables.probe(position).unwrap();
            assert_eq!(answer.value, entry.value, "{}", position.fen());
            assert_eq!(answer.table.map(|table| table.index()), Some(entry.index), "{name}");
        }
    }

    // Of a table of one side to move that side's.
    let table = Table::open(folder.path().join("kqkq.htb"), ReadOptions::new()).unwrap();
    let size = table.info().indices;
    let legal: usize =
        (0..size).step_by(1 << 17).map(|n| table.entries(n..n + (1 << 17)).unwrap().len()).sum();
    let stats = table.stats().unwrap();
    assert_eq!(legal as u64, stats.white_to_move.legal);
    assert!(table.entries(size..size + 1).unwrap().is_empty());
}

#[test]
fn a_folder_says_what_tables_it_has() {
    let folder = built(&["KPvK"]);
    std::fs::write(folder.path().join("notes.txt"), "none").unwrap();
    let files = hoffman::tables_in(folder.path()).unwrap();
    let name = |file: &hoffman::TableFile| file.path.file_name().unwrap().to_owned();
    let names: Vec<_> = files.iter().map(name).collect();
    assert_eq!(names, ["kbk.htb", "kk.htb", "knk.htb", "kpk.htb", "kqk.htb", "krk.htb"]);
    let pawn = hoffman::Table::open(&files[3].path, hoffman::ReadOptions::new()).unwrap().info();
    assert_eq!((pawn.ending.to_string(), pawn.variant), ("KPvK".to_owned(), Variant::Normal));
    assert_eq!((pawn.is_partial, pawn.certain.len(), pawn.assumes.len()), (false, 4, 0));
    assert!(pawn.indices > 100_000 && files[3].bytes > 1_000);
    let error = hoffman::tables_in(folder.path().join("nowhere")).unwrap_err();
    assert_eq!(error.code(), "bad-folder");
}

// ------------------------------------------------------------------------------------------ lists

/// A position of three men by their squares, the least of its images, and who is to move.
type Seen = ([u8; 3], Color);

/// The men of the ending of a test: kings first.
const KINGS: [(Color, Role); 2] = [(Color::White, Role::King), (Color::Black, Role::King)];

/// The least of the images of a position, by left and right alone if there is a pawn.
fn least(squares: [u8; 3], man: Role) -> [u8; 3] {
    let ways = if man == Role::Pawn { 2 } else { 8 };
    let image = |way: u8| {
        squares.map(|s| {
            let s = if way & 1 != 0 { s ^ 7 } else { s };
            let s = if way & 2 != 0 { s ^ 56 } else { s };
            if way & 4 != 0 { s >> 3 | (s & 7) << 3 } else { s }
        })
    };
    (0..ways).map(image).min().unwrap()
}

/// The value of every position of a white man against a bare king, each asked for by itself.
fn every_value(tables: &Tablebase, man: Role) -> HashMap<Seen, Value> {
    let mut values = HashMap::new();
    let pawn = 8..56;
    for place in 0..64_u32.pow(3) * 2 {
        let squares = [place & 63, place >> 6 & 63, place >> 12 & 63].map(|s| s as u8);
        let turn = if place >> 18 == 0 { Color::White } else { Color::Black };
        let apart =
            squares[0] != squares[1] && squares[0] != squares[2] && squares[1] != squares[2];
        let stands = man != Role::Pawn || pawn.contains(&squares[2]);
        if !apart || !stands || least(squares, man) != squares {
            continue;
        }
        let men = [KINGS[0], KINGS[1], (Color::White, man)];
        let men = squares
            .into_iter()
            .zip(men)
            .map(|(s, (color, role))| (Square::new(s.into()), color, role));
        let position = Position::from_men(men, turn, None);
        if position.check_possible(Variant::Normal).is_ok() {
            values.insert((squares, turn), tables.value(&position).unwrap());
        }
    }
    values
}

/// The positions of a list.
fn listed(table: &Table, query: &ListQuery, man: Role) -> HashSet<Seen> {
    let mut found = HashSet::new();
    let mut each = |listed: ListedPosition| {
        let of = |kind: (Color, Role)| {
            let mut men = listed.position.men();
            u8::from(men.find(|man| (man.1, man.2) == kind).unwrap().0)
        };
        let squares = [of(KINGS[0]), of(KINGS[1]), of((Color::White, man))];
        assert!(found.insert((least(squares, man), listed.position.turn)), "{:?}", listed.position);
        std::ops::ControlFlow::Continue(())
    };
    let counts = table.list(query, &ListOptions::default(), Some(&mut each)).unwrap();
    assert_eq!(counts.positions, found.len() as u64);
    assert_eq!(counts, table.list(query, &ListOptions::default(), None).unwrap());
    found
}

/// What is better for the side to move: a greater number.
fn worth(value: Value, later: i32) -> i32 {
    match value {
        Value::Win { plies } => 10_000 - plies.unwrap().0 as i32 - later,
        Value::Loss { plies } => -10_000 + plies.unwrap().0 as i32 + later,
        _ => 0,
    }
}

#[test]
fn lists_are_what_every_position_says_by_itself() {
    let folder = built(&["KPvK"]);
    let tables = Tablebase::open(folder.path()).unwrap();
    for (man, name) in [(Role::Pawn, "kpk.htb"), (Role::Rook, "krk.htb")] {
        let table = Table::open(folder.path().join(name), ReadOptions::new()).unwrap();
        let values = &every_value(&tables, man);
        let found = |query: &ListQuery| listed(&table, query, man);
        let expected = |test: &dyn Fn(&Seen, Value) -> bool| -> HashSet<Seen> {
            values
                .iter()
                .filter(|(seen, value)| test(seen, **value))
                .map(|(seen, _)| *seen)
                .collect()
        };
        assert_eq!(found(&ListQuery::default()), expected(&|_, _| true), "{name}");

        let with = |color: Color| {
            move |&(squares, turn): &Seen, value: Value| {
                let other = values.get(&(squares, turn.other())).copied();
                turn == color && other.is_some_and(|other| worth(value, 0) < -worth(other, 1))
            }
        };
        for color in [Color::White, Color::Black] {
            let query =
                ListQuery { zugzwang: Some(ZugzwangOf::Side(color)), ..ListQuery::default() };
            assert_eq!(found(&query), expected(&with(color)), "{name}");
        }
        let mutual = |&(squares, turn): &Seen, value: Value| {
            let other = values.get(&(squares, turn.other())).and_then(|other| other.wdl());
            let better = |other: Wdl| value.wdl() < Some(other.negate());
            turn == Color::White && other.is_some_and(better)
        };
        let query = ListQuery { zugzwang: Some(ZugzwangOf::Mutual), ..ListQuery::default() };
        assert_eq!(found(&query), expected(&mutual), "{name}");

        let query = ListQuery {
            result: Some(WantedResult::Loss),
            distance: Some(3..=9),
            to_move: Some(Color::Black),
            ..ListQuery::default()
        };
        let lost = |seen: &Seen, value: Value| match value {
            Value::Loss { plies } => seen.1 == Color::Black && (5..=18).contains(&plies.unwrap().0),
            _ => false,
        };
        assert_eq!(found(&query), expected(&lost), "{name}");
    }
}

/// From the file, and from what another list had read of it.
#[test]
fn zugzwangs_of_a_small_table_are_the_same_again() {
    let folder = TempDir::new().unwrap();
    let target: Target = "KRvKN".parse().unwrap();
    hoffman::build(&[target], &Options::new(folder.path()), &mut |_| {}).unwrap();
    let table = Table::open(folder.path().join("krkn.hbf"), ReadOptions::default()).unwrap();
    let lists = table.lists(&ListOptions::default()).unwrap();
    let zugzwangs = || {
        let query = ListQuery { zugzwang: Some(ZugzwangOf::Mutual), ..ListQuery::default() };
        let mut all = Vec::new();
        let mut each = |position: ListedPosition| {
            all.push(position.epd());
            std::ops::ControlFlow::Continue(())
        };
        lists.list(&query, Some(&mut each)).unwrap();
        all
    };
    let first = zugzwangs();
    assert_eq!(first.len(), 18);
    assert!(lists.list(&ListQuery::default(), None).unwrap().positions > 1_000_000);
    assert_eq!(zugzwangs(), first);
}

/// Of lists of entries, of moves and of lines, in either container.
#[test]
fn lists_tell_how_far_they_are() {
    for (blocks, name) in [(false, "kqkr.htb"), (true, "kqkr.hbf")] {
        let folder = TempDir::new().unwrap();
        let options = Options::new(folder.path()).blocks(blocks);
        hoffman::build(&["KQvKR".parse().unwrap()], &options, &mut |_| {}).unwrap();
        let table = Table::open(folder.path().join(name), ReadOptions::default()).unwrap();
        let plain = ListQuery::default();
        let only = ListQuery { only_move: true, ..ListQuery::default() };
        let lines = ListQuery { unique_line: Some(UniqueLine::Fastest), ..ListQuery::default() };
        let mut before = 0;
        for query in [plain, only, lines] {
            let told: Arc<Mutex<Vec<(u64, u64)>>> = Arc::default();
            let heard = Arc::clone(&told);
            let progress = ListProgress::new(move |event| {
                let Event::Entries { done, total } = event else { return };
                heard.lock().unwrap().push((done, total));
            });
            table.list(&query, &ListOptions { progress, ..ListOptions::default() }, None).unwrap();
            let told = told.lock().unwrap();
            let (most, total) = told.iter().copied().max().unwrap();
            assert!(told.iter().all(|(done, total)| done <= total), "{name}: {query:?}");
            // Looks of a share that are too few to be told are left out.
            assert!(most > total / 2 && most <= total, "{name}: {most} of {total}");
            // Moves are looked at besides entries, and lines besides.
            assert!(total > before, "{name}: {total}");
            before = total;
        }
    }
}

#[test]
fn only_moves_are_those_that_the_moves_say() {
    let folder = built(&["KPvK"]);
    let tables = Tablebase::open(folder.path()).unwrap();
    let table = Table::open(folder.path().join("kpk.htb"), ReadOptions::new()).unwrap();
    let query = ListQuery {
        only_move: true,
        pattern: Some("wP:d5".parse().unwrap()),
        ..ListQuery::default()
    };
    let mut found = HashMap::new();
    let mut each = |listed: ListedPosition| {
        found.insert(listed.position.fen(), listed.only.unwrap());
        std::ops::ControlFlow::Continue(())
    };
    table.list(&query, &ListOptions::default(), Some(&mut each)).unwrap();

    let mut expected = HashMap::new();
    for place in 0..64 * 64 * 2 {
        let (white, black) = (place & 63, place >> 6 & 63);
        let turn = if place >> 12 == 0 { Color::White } else { Color::Black };
        let men = [
            (Square::new(white), Color::White, Role::King),
            (Square::new(black), Color::Black, Role::King),
            (Square::D5, Color::White, Role::Pawn),
        ];
        let position = Position::from_men(men, turn, None);
        if position.men().count() < 3 || position.check_possible(Variant::Normal).is_err() {
            continue;
        }
        let Some(judged) = Judged::of(&tables, &position).unwrap() else { continue };
        if judged.value.is_loss() || judged.moves.len() < 2 || judged.keeping_result() != 1 {
            continue;
        }
        let wdl = judged.value.wdl();
        let only = judged.moves.iter().find(|m| judged.worth(m.m).unwrap().wdl() == wdl).unwrap();
        expected.insert(position.fen(), only.m);
    }
    assert!(expected.len() > 100);
    assert_eq!(found, expected);
}

#[test]
fn moves_are_judged_by_what_they_keep() {
    let folder = built(&["KPvK"]);
    let tables = Tablebase::open(folder.path()).unwrap();
    let position: Chess = "8/8/8/1k6/8/2K5/1P6/8 w - - 0 1"
        .parse::<Fen>()
        .unwrap()
        .into_position(CastlingMode::Standard)
        .unwrap();
    let judged = Judged::of(&tables, &position).unwrap().unwrap();
    assert!(judged.value.is_win());
    let change = |uci: &str| {
        let m = judged.moves.iter().find(|answer| answer.m.uci() == uci).unwrap().m;
        judged.change(m)
    };
    assert_eq!((change("c3b3"), change("b2b3")), (Change::Best, Change::HalfPoint));
    assert_eq!(judged.keeping().count(), 1);
    // Nothing is said of what no table has.
    assert!(Judged::of(&tables, Chess::default()).unwrap().is_none());
    assert!(Judged::of(&tables, "8/8/8/1k6/8/2K5/1R6/1R6 w - - 0 1").unwrap().is_none());
}
