//! The library as its users see it.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use hoffman::shakmaty::fen::Fen;
use hoffman::shakmaty::{CastlingMode, Chess};
use hoffman::{
    Bound, Cancel, Event, OpenOptions, Options, Plies, Position, ProbeError, Tablebase, Target,
    Value, Variant, Verdict, VerifyOptions, Wdl,
};
use tempfile::TempDir;

fn built(endings: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    build_into(folder.path(), endings);
    folder
}

fn build_into(folder: &Path, endings: &[&str]) {
    let targets: Vec<Target> = endings.iter().map(|name| name.parse().unwrap()).collect();
    hoffman::build(&targets, &Options::new(folder), &mut |_| {}).unwrap();
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
        hoffman::build(&[target], &Options::new(folder.path()), &mut |_| {}).unwrap();
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
    let options = Options::new(folder.path()).threads(2);
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
    let stopped = Options::new(folder.path()).cancel(cancel.clone());
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
