//! The classic prompt and the golden tables of the original program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hoffman_board::shakmaty::{self, Chess, Position as _};
use hoffman_board::{Color, Role, Square, Variant};
use hoffman_probe::collection::Collection;
use hoffman_probe::fen::{read_loosely, read_position};
use hoffman_probe::lines::{Bound, Category};
use hoffman_probe::position::Position;
use hoffman_probe::report::report;
use hoffman_probe::session::{Session, score};
use hoffman_table::Table;
use hoffman_table::foreign::ForeignOptions;
use serde_json::Value as Json;

/// The folder with the golden tables; none, loudly, if it is not there.
fn golden() -> Option<PathBuf> {
    let shared = std::env::var_os("HOFFMAN_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let folder = shared.join("spec/golden");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: {} is missing; set HOFFMAN_SHARED", folder.display());
    None
}

fn base(names: &[&str]) -> Option<Collection> {
    let folder = golden()?.join("base");
    Some(Collection::open(names.iter().map(|name| folder.join(name))).unwrap())
}

/// Deterministic numbers that look like chance.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % u64::from(below)) as u32
    }
}

/// The answer to a FEN as a line of JSON, or what is wrong with it.
fn json_line(collection: &Collection, fen: &str) -> String {
    match report(collection, fen) {
        Ok(report) => serde_json::to_string(&report).unwrap(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_transcript_is_reproduced() {
    let Some(folder) = golden() else { return };
    // Names as given: the session of the description was held inside the folder.
    let collection = base(&["kpk.htb", "kqk.htb"]).unwrap();
    let mut session = Session::new(collection);
    let expected = include_str!("data/session.txt");
    let mut out = String::new();
    for line in [
        "8/8/8/8/4P3/8/1k6/4K3 w",
        "zzz",
        "e4e5",
        "b2c3",
        "12",
        "99999999",
        "8/4P3/4K3/8/8/8/8/k7 w",
        "e7e8=Q",
    ] {
        out += session.prompt();
        out += line;
        out.push('\n');
        out += &session.enter(line);
    }
    out += session.prompt();
    let out = out.replace(&format!("{}/", folder.join("base").display()), "");
    assert_eq!(out.trim_end(), expected.trim_end());
}

#[test]
fn boards_have_escape_sequences() {
    let mut session = Session::new(Collection::default());
    session.set_escapes(true);
    let out = session.enter("8/8/8/8/4P3/8/1k6/4K3 w");
    let line = out.lines().find(|line| line.starts_with("2 |")).unwrap();
    let dot = " .\x1b[0m";
    assert_eq!(line, format!("2 |{dot} \x1b[7mk\x1b[0m{}", dot.repeat(6)));
    assert_eq!(out.lines().next_back(), Some("FEN 8/8/8/8/4P3/8/1k6/4K3 w - -"));
}

#[test]
fn illegal_moves_are_refused_and_undone_moves_come_back() {
    let Some(collection) = base(&["kpk.htb", "kqk.htb"]) else { return };
    let mut session = Session::new(collection);
    assert_eq!(session.prompt(), "Index or FEN? ");
    assert_eq!(session.enter("undo"), "Nothing to undo\n\n");
    assert_eq!(session.enter(""), "");
    assert_eq!(session.enter("e7e8=Q"), "Bad input\n\n");
    let first = session.enter("  8/4P3/4K3/8/8/8/8/k7 w KQkq - 3 17 and so on");
    for bad in ["e7e8", "e7e8=X", "e7e8=q", "e7e5", "e6e7", "a1a2", "e6xd5", "e7e8=K", "e7e"] {
        assert!(session.enter(bad).ends_with("Bad input\n\n"), "{bad}");
    }
    assert_eq!(session.prompt(), "Index, FEN or move? ");
    assert_eq!(session.completions("e7"), ["e7e8=Q", "e7e8=R", "e7e8=B", "e7e8=N"]);
    assert_eq!(session.completions("u"), ["undo"]);
    assert!(
        session.enter("e7e8=Q and this is ignored").contains("(\u{0})")
            || session.position().is_some()
    );
    assert_eq!(session.enter("undo"), first);
    assert!(session.take_errors().is_empty());
    assert_eq!(session.enter("undo"), "");
    assert_eq!(session.prompt(), "Index or FEN? ");
}

#[test]
fn every_placement_is_answered() {
    let Some(collection) = base(&["kpk.htb", "kqk.htb"]) else { return };
    let mut session = Session::new(collection);
    let first = |text: String| text.lines().next().unwrap_or_default().to_owned();
    let second = |text: String| text.lines().nth(1).unwrap_or_default().to_owned();
    // The king can be captured.
    let out = session.enter("8/8/K6k/7Q/8/8/8/8 w");
    assert_eq!(second(out.clone()), "Illegal position (Black mated)");
    assert!(out.lines().nth(2).unwrap().starts_with("8 |"), "{out}");
    // The colours exchanged: the table's own colours do not show.
    assert_eq!(second(session.enter("8/8/K6k/8/4q3/8/8/8 b")), "Black wins in 7");
    for bare in [
        "8/8/8/8/8/8/8/8 w",
        "8/8/8/8/8/8/8/Kk6 w",
        "PPPPPPPP/8/8/8/8/8/8/KKkk4 b",
        "8/8/8/8/8/8/8/K1k5 w",
    ] {
        let out = session.enter(bare);
        assert!(out.starts_with("No table has this position"), "{bare}: {out}");
        assert!(out.lines().any(|line| line.starts_with("8 |")), "{bare}: {out}");
    }
    for bad in [
        "8/8/8/8/8/8/8 w",
        "9/8/8/8/8/8/8/8 w",
        "8/8/8/8/8/8/8/8",
        "8/8/8/8/8/8/8/7x w",
        "8/8/8/8/8/8/8/8/8 w",
        "-1",
        "1 2",
    ] {
        assert_eq!(session.enter(bad), "Bad input\n\n", "{bad}");
    }
    // An en passant square that fits nothing is shown and ignored, one that fits the mover's own
    // pawn is in no table.
    let out = session.enter("8/8/8/8/4P3/8/1k6/4K3 w - a6");
    assert_eq!(first(out.clone()).split(' ').nth(1), Some("97892"));
    assert!(out.ends_with("FEN 8/8/8/8/4P3/8/1k6/4K3 w - a6\n"));
    let out = session.enter("8/8/8/8/4P3/8/1k6/4K3 w - e3");
    assert!(out.starts_with("No table has this position\n"), "{out}");
    // A table in which nothing is wrong, seen by the side that is mated.
    assert_eq!(second(session.enter("8/8/8/8/8/1K6/1Q6/1k6 b")), "White wins in 0");
}

#[test]
#[allow(clippy::too_many_lines, reason = "all that is compared of a session")]
fn golden_scores_are_those_of_the_original() {
    let Some(folder) = golden() else { return };
    let (mut rows, mut tables, mut exchanged) = (0, 0, 0);
    let mut differences: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for directory in std::fs::read_dir(&folder).unwrap() {
        let directory = directory.unwrap().path();
        if !directory.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&directory).unwrap() {
            let csv = file.unwrap().path();
            if csv.extension().is_none_or(|e| e != "csv") {
                continue;
            }
            let name = csv.strip_prefix(&folder).unwrap().display().to_string();
            let collection = Collection::open([csv.with_extension("htb")]).unwrap();
            tables += 1;
            for row in std::fs::read_to_string(&csv).unwrap().lines().skip(1) {
                let cells: Vec<&str> = row.split(',').collect();
                let [query, fen, index, _value, text, matched, decodes] = cells[..] else {
                    panic!("{name}: {row}");
                };
                rows += 1;
                let mut session = Session::new(Collection::default());
                if query == "index" {
                    let table = collection.tables().next().unwrap();
                    let decoded = table.space().decode(index.parse().unwrap());
                    assert_eq!(decoded.is_none(), fen == "ILLEGAL", "{name}: {row}");
                    if fen == "ILLEGAL" {
                        continue;
                    }
                }
                session.enter(fen);
                let position = session.position().unwrap();
                let Some(hit) = collection.lookup(position).unwrap() else {
                    // Ours does not exchange the colours where that is another game.
                    let pruned = !collection.tables().next().unwrap().control().prunes.is_empty();
                    let refused = matched == "inverted" && pruned;
                    assert!(refused || matched == "none", "{name}: {row}");
                    exchanged += usize::from(refused);
                    continue;
                };
                let kind = if hit.inverted { "inverted" } else { "direct" };
                assert_eq!(
                    (kind, hit.index.to_string().as_str()),
                    (matched, index),
                    "{name}: {row}"
                );
                let ours = score(&hit);
                if ours != text {
                    let illegal =
                        collection.variant() == Variant::Normal && position.is_opponent_in_check();
                    let format = table_format(&collection);
                    let reason = if illegal && matches!(format, "basic" | "flag") {
                        "D1: in check".to_owned()
                    } else if collection.variant() == Variant::Suicide
                        && !position.has_legal_move(Variant::Suicide)
                    {
                        "D6: stalemate in suicide".to_owned()
                    } else if name.contains("one-bit-field") {
                        "D5: one bit".to_owned()
                    } else if decodes == "no" {
                        "D9: naive2".to_owned()
                    } else {
                        format!("unexplained in {name}")
                    };
                    let entry = differences.entry(reason).or_insert((0, String::new()));
                    entry.0 += 1;
                    entry.1 = format!("{row} -> {ours}");
                }
            }
        }
    }
    println!("{rows} rows of {tables} tables; other texts: {differences:#?}");
    println!("{exchanged} positions are not answered with exchanged colours");
    assert_eq!((tables, rows), (228, 40846));
    assert!(exchanged > 0);
    assert!(!differences.keys().any(|k| k.starts_with("unexplained")), "{differences:#?}");
}

fn table_format(collection: &Collection) -> &'static str {
    collection.tables().next().unwrap().codec().format().name()
}

fn random_position(dice: &mut Dice) -> Position {
    let roles = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
    let mut men = vec![(Color::White, Role::King), (Color::Black, Role::King)];
    for _ in 0..dice.roll(8) {
        let color = if dice.roll(2) == 0 { Color::White } else { Color::Black };
        let role = if dice.roll(2) == 0 { Role::Pawn } else { roles[dice.roll(5) as usize] };
        men.push((color, role));
    }
    let mut taken = 0_u64;
    let mut placed = Vec::new();
    for (color, role) in men {
        loop {
            let square = dice.roll(64);
            let pawn_fits = role != Role::Pawn || (8..56).contains(&square);
            if taken & 1 << square == 0 && pawn_fits {
                taken |= 1 << square;
                placed.push((Square::new(square), color, role));
                break;
            }
        }
    }
    let turn = if dice.roll(2) == 0 { Color::White } else { Color::Black };
    let en_passant = Square::new(turn.fold_wb(40, 16) + dice.roll(8));
    Position::from_men(placed, turn, Some(en_passant)).without_useless_en_passant()
}

#[test]
fn moves_are_those_of_shakmaty() {
    let mut dice = Dice(7);
    let (mut positions, mut moves, mut captures) = (0, 0, 0);
    for _ in 0..120_000 {
        let position = random_position(&mut dice);
        if position.check_possible(Variant::Normal).is_err() {
            continue;
        }
        let fen: shakmaty::fen::Fen = position.fen().parse().unwrap();
        let setup = fen.clone().into_setup();
        let chess: Chess = setup
            .position(shakmaty::CastlingMode::Standard)
            .or_else(shakmaty::PositionError::ignore_impossible_check)
            .or_else(shakmaty::PositionError::ignore_too_much_material)
            .unwrap();
        let uci = |m: &shakmaty::Move| m.to_uci(shakmaty::CastlingMode::Standard).to_string();
        let mut theirs: Vec<String> = chess.legal_moves().iter().map(uci).collect();
        let legal = position.legal_moves(Variant::Normal);
        let mut ours: Vec<String> = legal.iter().map(hoffman_probe::moves::Move::uci).collect();
        theirs.sort();
        ours.sort();
        assert_eq!(ours, theirs, "{fen}");
        assert_eq!(position.has_legal_move(Variant::Normal), !legal.is_empty());
        for m in &legal {
            assert!(position.san(m, Variant::Normal).is_some(), "{fen} {}", m.uci());
            captures += usize::from(m.en_passant);
        }
        positions += 1;
        moves += legal.len();
    }
    println!("{positions} positions, {moves} moves, {captures} en passant");
    assert!(positions > 20_000 && captures > 50);
}

#[test]
fn moves_are_listed_in_the_order_of_the_original() {
    let listed = |fen: &str, variant| {
        let moves = read_loosely(fen, variant).unwrap().unwrap().legal_moves(variant);
        moves.iter().map(hoffman_probe::moves::Move::classic).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        listed("8/8/8/8/8/8/1R6/K1k5 w", Variant::Normal),
        "Ka1a2 Rb2c2 Rb2d2 Rb2e2 Rb2f2 Rb2g2 Rb2h2 Rb2a2 Rb2b3 Rb2b4 Rb2b5 Rb2b6 Rb2b7 Rb2b8 Rb2b1"
    );
    assert_eq!(
        listed("1n1n4/2P5/8/8/8/8/8/K1k5 w", Variant::Normal),
        "Ka1a2 Pc7c8=Q Pc7c8=R Pc7c8=B Pc7c8=N Pc7xb8=Q Pc7xb8=R Pc7xb8=B Pc7xb8=N \
         Pc7xd8=Q Pc7xd8=R Pc7xd8=B Pc7xd8=N"
    );
    // Captures are forced, also that of a king.
    assert_eq!(listed("8/8/8/3k4/8/8/8/K2Q4 w", Variant::Suicide), "Qd1xd5");
    assert_eq!(listed("8/2P5/8/8/8/8/8/k7 w", Variant::Suicide).split(' ').count(), 5);
}

#[test]
fn conversion_and_suicide_transcripts() {
    let Some(folder) = golden() else { return };
    let dtc = folder.join("format/kpk-dtc-from-basic.htb");
    let suicide = folder.join("suicide/qvr.htb");
    if dtc.is_file() {
        let kqk = folder.join("base/kqk.htb");
        let mut session = Session::new(Collection::open([dtc, kqk]).unwrap());
        let out = session.enter("8/5P2/8/8/8/8/8/k1K5 w");
        let lines: Vec<&str> = out.lines().skip(1).take(8).collect();
        assert_eq!(
            lines,
            [
                "White converts in 1",
                "   Kc1d1    (191789) White converts in 2",
                "   Kc1c2    (192131) White converts in 2",
                "   Kc1d2    (192241) White converts in 2",
                "   Pf7f8=Q  (54699) White wins in 3",
                "   Pf7f8=R  NO DATA",
                "   Pf7f8=B  NO DATA",
                "   Pf7f8=N  NO DATA",
            ]
        );
    } else {
        eprintln!("SKIPPED: {} is missing", dtc.display());
    }
    let mut session = Session::new(Collection::open([suicide]).unwrap());
    let out = session.enter("8/8/8/3r4/8/8/8/3Q4 w");
    assert_eq!(
        out.lines().skip(1).filter(|line| !line.contains(": ")).take(2).collect::<Vec<_>>(),
        ["Black wins in 1", "   Qd1xd5   BLACK WINS"]
    );
}

#[test]
fn reports_have_the_shape_of_the_server() {
    let Some(collection) = base(&["kpk.htb", "kqk.htb"]) else { return };
    let line = json_line(&collection, "8/4P3/4K3/8/8/8/8/k7 w - - 0 1");
    let json: Json = serde_json::from_str(&line).unwrap();
    let keys = [
        "checkmate",
        "stalemate",
        "variant_win",
        "variant_loss",
        "insufficient_material",
        "dtz",
        "precise_dtz",
        "dtm",
        "dtw",
        "dtc",
        "category",
    ];
    for key in keys.iter().chain(&["moves", "hoffman"]) {
        assert!(json.get(key).is_some(), "{key} in {line}");
    }
    assert_eq!((&json["category"], &json["dtm"]), (&"win".into(), &13.into()));
    assert_eq!(json["hoffman"]["index"], 186814);
    // Rooks and minor pieces come from tables that are not there; the latter need none.
    assert_eq!(json["hoffman"]["missing"], serde_json::json!(["krk.htb"]));
    assert_eq!(json["hoffman"]["pv"].as_array().unwrap().len(), 13);
    assert_eq!(json["hoffman"]["fifty_move"], false);
    let moves = json["moves"].as_array().unwrap();
    assert_eq!(moves.len(), 11);
    for m in moves {
        for key in keys.iter().chain(&["uci", "san", "zeroing", "conversion"]) {
            assert!(m.get(key).is_some(), "{key} in {m}");
        }
    }
    let first = &moves[0];
    assert_eq!((&first["uci"], &first["category"]), (&"e7e8q".into(), &"loss".into()));
    assert_eq!((&first["san"], &first["dtm"]), (&"e8=Q".into(), &(-12).into()));
    assert_eq!((&first["zeroing"], &first["conversion"]), (&true.into(), &true.into()));
    assert_eq!(json["hoffman"]["pv"][0], first["uci"]);
    let error = report(&collection, "no \"FEN\"").unwrap_err();
    assert!(error.to_string().contains("no \"FEN\""));
}

#[test]
fn ends_of_games_are_known_without_tables() {
    let empty = Collection::default();
    let mated = report(&empty, "8/8/8/8/8/1K6/1Q6/1k6 b - - 0 1").unwrap();
    assert_eq!((mated.verdict.category, mated.verdict.dtm), (Category::Loss, None));
    assert!(mated.verdict.checkmate && mated.moves.is_empty());
    assert_eq!(mated.result, "Checkmate: White has won");
    let stale = report(&empty, "8/8/8/8/8/1QK5/8/k7 b - - 0 1").unwrap();
    assert_eq!((stale.verdict.category, stale.verdict.dtm), (Category::Draw, Some(0)));
    assert!(stale.verdict.stalemate);
    let kings = report(&empty, "8/8/8/8/8/2K5/8/k7 b - - 0 1").unwrap();
    assert_eq!((kings.verdict.category, kings.verdict.dtm), (Category::Draw, Some(0)));
    assert!(kings.verdict.insufficient_material && kings.hoffman.missing.is_empty());
    let unknown = report(&empty, "8/8/8/8/8/1K6/7R/k7 w - - 0 1").unwrap();
    assert_eq!((unknown.verdict.category, unknown.verdict.dtm), (Category::Unknown, None));
    assert_eq!(unknown.hoffman.missing, ["krk.htb"]);
    // Mate on the board is seen behind a move too.
    assert_eq!((unknown.moves[0].san.as_str(), unknown.moves[0].verdict.checkmate), ("Rh1#", true));
}

#[test]
fn text_reports_read_well() {
    let Some(collection) = base(&["kpk.htb", "kqk.htb"]) else { return };
    let report = report(&collection, "8/8/8/8/4P3/8/1k6/4K3 w - - 0 1").unwrap();
    let text = report.to_text();
    println!("{text}");
    assert!(text.contains("White to move: White wins, mate in 11 moves (21 plies)\n"));
    assert!(text.contains("\n  e5   White wins, mate in 11 moves (21 plies)\n"));
    assert!(text.contains("\nMain line\n  1. e5 "));
    assert_eq!(report.hoffman.pv.len(), 21);
    assert!(text.trim_end().ends_with('#'));
}

#[test]
fn folders_are_searched() {
    let Some(golden) = golden() else { return };
    let mut collection = Collection::default();
    collection.add_folder(golden.join("base")).unwrap();
    assert!(collection.add_folder(golden.join("no such folder")).is_err());
    let value = |fen: &str| {
        let position = read_position(fen, Variant::Normal).unwrap();
        collection.value(&position).unwrap().map(|v| v.plies().unwrap_or(0))
    };
    assert_eq!(value("8/8/8/8/4P3/8/1k6/4K3 w - -"), Some(21));
    assert_eq!(value("4k3/1K6/8/4p3/8/8/8/8 b - -"), Some(21));
    assert_eq!(value("8/8/8/8/8/8/1k6/4K3 w - -"), Some(0));
    assert_eq!(value("8/8/8/8/8/8/1kr5/4K1N1 w - -"), None);
    // KRKP: the rook's side is named first, whichever side that is.
    let report = report(&collection, "8/8/8/4k3/8/8/3Kp3/r7 w - - 0 1").unwrap();
    assert!(report.hoffman.table.is_none());
    assert_eq!(report.hoffman.missing[0], "krpk.htb");
}

#[test]
fn parts_of_tables_answer_together() {
    let Some(golden) = golden() else { return };
    let folder = tempfile::tempdir().unwrap();
    for part in ["kpk-pawn-on-ranks-2-3", "kpk-pawn-on-ranks-4-to-7"] {
        let from = golden.join("restricted").join(part).with_extension("htb");
        std::fs::copy(from, folder.path().join(part).with_extension("htb")).unwrap();
    }
    std::fs::write(folder.path().join("kqk.htb"), b"nonsense").unwrap();
    std::fs::write(folder.path().join("notes.htb"), b"nonsense").unwrap();
    let mut parts = Collection::default();
    parts.add_folder(folder.path()).unwrap();
    let whole = base(&["kpk.htb"]).unwrap();
    let mut dice = Dice(3);
    let mut compared = 0;
    for _ in 0..4000 {
        let squares = [dice.roll(64), dice.roll(64), 8 + dice.roll(48)].map(Square::new);
        let men = [
            (squares[0], Color::White, Role::King),
            (squares[1], Color::Black, Role::King),
            (squares[2], Color::White, Role::Pawn),
        ];
        let position = Position::from_men(men, Color::White, None);
        if position.check_possible(Variant::Normal).is_err() {
            continue;
        }
        for position in [position.mirrored(), position] {
            let (a, b) = (whole.value(&position).unwrap(), parts.lookup(&position).unwrap());
            assert_eq!(a, b.and_then(|hit| hoffman_table::Table::exact(hit.value)), "{position:?}");
            compared += 1;
        }
    }
    assert!(compared > 5000);
    let damaged = parts.lookup(&read_position("8/8/K6k/8/4Q3/8/8/8 w", Variant::Normal).unwrap());
    assert!(damaged.unwrap_err().to_string().contains("kqk.htb"));
}

/// How fast warm look-ups are.
/// `cargo test --release -p hoffman-probe -- --ignored --nocapture speed`
#[test]
#[ignore = "a measurement"]
fn speed() {
    let Some(golden) = golden() else { return };
    let base = golden.join("base");
    for name in ["kpk", "kqkq", "krkp"] {
        let collection = Collection::open([base.join(name).with_extension("htb")]).unwrap();
        let table = collection.tables().next().unwrap();
        let mut dice = Dice(1);
        let size = table.space().size() as u32;
        let mut positions = Vec::new();
        while positions.len() < 10_000 {
            let Some(placement) = table.space().decode(u64::from(dice.roll(size))) else {
                continue;
            };
            let men =
                placement.squares.iter().zip(table.pieces()).map(|(&s, p)| (s, p.color, p.role));
            positions.push(Position::from_men(men, placement.turn, placement.en_passant));
        }
        let run = || positions.iter().filter(|p| collection.lookup(p).unwrap().is_some()).count();
        run();
        let start = std::time::Instant::now();
        let found: usize = (0..100).map(|_| run()).sum();
        let seconds = start.elapsed().as_secs_f64();
        println!("{name}: {:.0} look-ups a second", found as f64 / seconds);
    }
}

#[test]
fn tables_without_distances_answer_in_words() {
    let Some(golden) = golden() else { return };
    let second = |table: &str, fen: &str| {
        let path = golden.join("format").join(table);
        let mut session = Session::new(Collection::open([path]).unwrap());
        session.enter(fen).lines().nth(1).unwrap().to_owned()
    };
    let (white, black, captured) =
        ("8/8/K6k/8/4Q3/8/8/8 w", "8/8/K6k/8/4q3/8/8/8 w", "8/8/K6k/7Q/8/8/8/8 w");
    assert_eq!(second("kqk-basic.htb", white), "White wins");
    let path = golden.join("format/kqk-basic.htb");
    let out = Session::new(Collection::open([path]).unwrap()).enter(white);
    let (wins, draws) = (listed(&out, "White wins").len(), listed(&out, "Draw").len());
    assert!(wins > 0 && draws > 0 && wins + draws == listed(&out, "(").len(), "{out}");
    assert_eq!(second("kqk-basic.htb", black), "Black wins");
    assert_eq!(second("kqk-basic.htb", captured), "Illegal");
    assert_eq!(second("kqk-flag-white-wins.htb", white), "White wins");
    assert_eq!(second("kqk-flag-white-wins.htb", black), "Black wins");
    assert_eq!(second("kqk-flag-white-wins.htb", captured), "Illegal position (Black mated)");
}

#[test]
fn reports_say_what_their_tables_can_say() {
    let Some(golden) = golden() else { return };
    let json = |table: &str, fen: &str| -> Json {
        let collection = Collection::open([golden.join(table)]).unwrap();
        serde_json::from_str(&json_line(&collection, fen)).unwrap()
    };
    let promotion = "8/5P2/8/8/8/8/8/k1K5 w - - 0 1";
    let dtc = json("format/kpk-dtc-from-basic.htb", promotion);
    assert_eq!(
        (&dtc["category"], &dtc["dtc"], &dtc["dtm"]),
        (&"win".into(), &1.into(), &Json::Null)
    );
    let basic = json("format/kpk-basic-from-dtm.htb", promotion);
    // Version 1.7 may have made it from futurebases without distances, which spoils some wins.
    assert_eq!((&basic["category"], &basic["dtm"]), (&"maybe-win".into(), &Json::Null));
    assert!(basic["hoffman"]["assumes"][0].as_str().unwrap().starts_with("version 1.7 "));
    assert_eq!(basic["hoffman"]["pv"].as_array().map(Vec::len), Some(0));
    let conceded = json("pruned/kpk-promotions-conceded.htb", promotion);
    assert_eq!(conceded["category"], "maybe-win");
    // Suicide: the queen must take the rook, and Black has won.
    let suicide = json("suicide/qvr.htb", "8/8/8/3r4/8/8/8/3Q4 w - - 0 1");
    // Version 1.7 may have overlooked draws that are none, but no losses.
    assert_eq!((&suicide["category"], &suicide["dtw"]), (&"loss".into(), &Json::Null));
    assert_eq!(suicide["hoffman"]["said"]["plies"], -2);
    assert_eq!(suicide["dtm"], Json::Null);
    assert_eq!(suicide["moves"][0]["variant_win"], true);
    assert_eq!(suicide["moves"][0]["category"], "win");
}

#[test]
fn every_answer_of_a_report_agrees_with_its_best_move() {
    let Some(golden) = golden() else { return };
    let mut collection = Collection::default();
    collection.add_folder(golden.join("base")).unwrap();
    let mut dice = Dice(11);
    let (mut positions, mut lines) = (0, 0);
    for _ in 0..3000 {
        let role = [Role::Queen, Role::Rook, Role::Pawn][dice.roll(3) as usize];
        let squares = [dice.roll(64), dice.roll(64), 8 + dice.roll(48)].map(Square::new);
        let men = [
            (squares[0], Color::White, Role::King),
            (squares[1], Color::Black, Role::King),
            (squares[2], Color::White, role),
        ];
        let turn = if dice.roll(2) == 0 { Color::White } else { Color::Black };
        let position = Position::from_men(men, turn, None);
        if position.check_possible(Variant::Normal).is_err() {
            continue;
        }
        let report = report(&collection, &position.fen()).unwrap();
        positions += 1;
        assert_eq!(report.hoffman.missing, [""; 0], "{position:?}");
        assert_ne!(report.verdict.category, Category::Unknown);
        let Some(best) = report.moves.first() else { continue };
        assert_eq!(best.verdict.category.negate(), report.verdict.category, "{position:?}");
        let plies = report.verdict.dtm.unwrap();
        if plies != 0 {
            assert_eq!(report.hoffman.pv.len() as i32, plies.abs(), "{position:?}");
            assert_eq!(report.hoffman.pv[0], best.uci);
            assert!(report.line.last().unwrap().ends_with('#'));
            assert_eq!(best.verdict.dtm.map_or(0, i32::abs) + 1, plies.abs());
            lines += 1;
        }
    }
    println!("{positions} positions, {lines} lines to mate");
}

#[test]
fn no_line_upsets_the_prompt() {
    let Some(collection) = base(&["kpk.htb"]) else { return };
    let mut session = Session::new(collection);
    let alphabet: Vec<char> = "abh18x=Qqkw/- KP0é\u{1f600}\t".chars().collect();
    let mut dice = Dice(5);
    session.enter("8/4P3/4K3/8/8/8/8/k7 w");
    for _ in 0..20_000 {
        let line: String = (0..dice.roll(9))
            .map(|_| alphabet[dice.roll(alphabet.len() as u32) as usize])
            .collect();
        session.enter(&line);
        json_line(session.collection(), &line);
        session.completions(&line);
    }
}

/// The lines of the move list that hold a text, without their indices.
fn listed(out: &str, text: &str) -> Vec<String> {
    let lines =
        out.lines().filter(|l| l.starts_with("   ") && !l.starts_with("    ") && l.contains(text));
    lines
        .map(|l| l.split_whitespace().filter(|w| !w.starts_with('(')).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn pruned_moves_are_shown_as_such() {
    let Some(golden) = golden() else { return };
    let session = |names: &[&str]| {
        let paths = names.iter().map(|name| golden.join(name).with_extension("htb"));
        Session::new(Collection::open(paths).unwrap())
    };
    let mut alone = session(&["pruned/kpk-promotions-conceded"]);
    let out = alone.enter("8/2K2P2/8/8/8/8/4k3/8 w");
    assert_eq!(out.lines().nth(1), Some("White wins in 1"));
    let all = ["Pf7f8=Q conceded", "Pf7f8=R conceded", "Pf7f8=B conceded", "Pf7f8=N conceded"];
    assert_eq!(listed(&out, "Pf7"), all);
    assert!(out.contains("\n   Pf7f8=Q  conceded\n"), "{out}");
    // With the colours exchanged it is another game.
    let out = alone.enter("8/8/8/8/4K3/8/5p2/k7 b");
    assert!(out.starts_with("No table has this position\n"), "{out}");
    assert!(out.contains("Missing tables: "), "{out}");
    // A table that the header does not name answers no move.
    let mut both = session(&["pruned/kpk-promotions-conceded", "base/kqk"]);
    let out = both.enter("8/2K2P2/8/8/8/8/4k3/8 w");
    assert_eq!(listed(&out, "conceded"), all);
    let mut discards = session(&["pruned/kpk-only-queen-others-discarded"]);
    let out = discards.enter("8/2K2P2/8/8/8/8/4k3/8 w");
    // The futurebase that the header names is there, though it was not given.
    assert!(listed(&out, "Pf7f8=Q")[0].contains("White wins in"), "{out}");
    let expected = ["Pf7f8=R discarded", "Pf7f8=B discarded", "Pf7f8=N discarded"];
    assert_eq!(listed(&out, "discarded"), expected);
    // Captures of either side, where several pawns can be taken.
    let mut lasker = session(&["pruned/lasker1901"]);
    let out = lasker.enter("8/6K1/3p4/p2P1p2/P2P1P2/4k3/8/8 b");
    assert_eq!(out.lines().nth(1), Some("Black wins in 1"));
    assert_eq!(listed(&out, "conceded"), ["Ke3xd4 conceded", "Ke3xf4 conceded"]);
    assert!(!out.contains("NO DATA"));
    // A move out of a restriction is known by its square, which is mirrored with the colours.
    let mut frozen = session(&["bugs/all-moves-discarded-becomes-stalemate"]);
    let out = frozen.enter("k7/8/2K5/8/8/8/8/7R w");
    assert!(listed(&out, "discarded").contains(&"Kc6d6 discarded".to_owned()), "{out}");
    let mirrored = frozen.enter("7r/8/8/8/8/2k5/8/K7 b");
    assert!(mirrored.starts_with("No table has this position\n"), "{mirrored}");
}

#[test]
fn reports_tell_pruned_moves() {
    let Some(golden) = golden() else { return };
    let promotion = "8/2K2P2/8/8/8/8/4k3/8 w - - 0 1";
    let answer = |table: &str| {
        let collection = Collection::open([golden.join(table)]).unwrap();
        report(&collection, promotion).unwrap()
    };
    let conceded = answer("pruned/kpk-promotions-conceded.htb");
    assert_eq!(conceded.verdict.category, Category::MaybeWin);
    assert_eq!(conceded.moves[0].uci, "f7f8q");
    assert_eq!(conceded.moves[0].hoffman.pruned, Some("conceded"));
    assert_eq!(conceded.moves[0].verdict.category, Category::MaybeLoss);
    assert_eq!(conceded.moves[0].verdict.dtm, None);
    assert_eq!(conceded.hoffman.pv, ["f7f8q"]);
    assert_eq!(conceded.hoffman.missing, [""; 0]);
    assert!(conceded.to_text().contains("\n  f8=Q  conceded\n"), "{}", conceded.to_text());
    let discarded = answer("pruned/kpk-only-queen-others-discarded.htb");
    let rook = discarded.moves.iter().find(|m| m.uci == "f7f8r").unwrap();
    assert_eq!(
        (rook.hoffman.pruned, rook.verdict.category),
        (Some("discarded"), Category::Unknown)
    );
    assert_eq!(discarded.hoffman.missing, [""; 0]);
    assert_eq!(discarded.hoffman.bound, Bound::WhiteAtLeast);
    assert_eq!(discarded.verdict.category, Category::Win);
    assert_eq!(discarded.verdict.dtm, None);
}

#[test]
fn suicide_ends_as_its_rules_say() {
    let Some(golden) = golden() else { return };
    let session = |names: &[&str]| {
        let paths = names.iter().map(|n| golden.join("suicide").join(n).with_extension("htb"));
        Session::new(Collection::open(paths).unwrap())
    };
    // Black cannot move and has won.
    let mut pawns = session(&["pvp"]);
    let out = pawns.enter("8/8/4p3/4P3/8/8/8/8 b");
    assert_eq!(out.lines().nth(1), Some("Black wins in 0"));
    assert_eq!(listed(&out, ""), [""; 0]);
    assert_eq!(pawns.enter("8/8/8/8/p7/P7/8/8 w").lines().nth(1), Some("White wins in 0"));
    let stalemate = session(&["pvp-basic"]).enter("8/8/4p3/4P3/8/8/8/8 b");
    assert_eq!(stalemate.lines().nth(1), Some("Black wins"));
    // After the move White cannot move and has won.
    let out = pawns.enter("8/8/4p3/8/4P3/8/8/8 b");
    assert_eq!(listed(&out, "e6e5"), ["Pe6e5 White wins in 0"]);
    // A king is a man like others: it can be taken, alone or not.
    let mut king = session(&["krvq", "qvr", "kvq"]);
    let out = king.enter("8/8/8/8/8/8/8/K2q3R b");
    let moves = listed(&out, "Q");
    assert_eq!(moves.len(), 2, "{out}");
    assert!(moves[0].starts_with("Qd1xh1 ") && moves[1].starts_with("Qd1xa1 "), "{moves:?}");
    assert!(!out.contains("NO DATA"), "{out}");
    let out = king.enter("8/8/8/8/8/8/8/K2q4 b");
    assert_eq!(listed(&out, "Q"), ["Qd1xa1 WHITE WINS"]);
    // The last man is gone.
    let out = king.enter("d1xa1");
    assert!(out.starts_with("No table has this position. White has won\n8 |"), "{out}");
}

#[test]
fn exchanged_colours_do_not_show() {
    let Some(golden) = golden() else { return };
    let second = |table: &str, fen: &str| {
        let mut session = Session::new(Collection::open([golden.join(table)]).unwrap());
        session.enter(fen)
    };
    let out = second("format/kpk-dtc-from-basic.htb", "K1k5/8/8/8/8/8/5p2/8 b");
    assert_eq!(out.lines().nth(1), Some("Black converts in 1"));
    assert!(out.lines().next().unwrap().starts_with("Index 191672 ("));
    assert_eq!(listed(&out, "converts").len(), 3);
    let wins = second("format/kqk-flag-white-wins.htb", "8/8/K6k/8/4Q3/8/8/8 w");
    assert!(!listed(&wins, "Black wins or draws").is_empty(), "{wins}");
    let exchanged = second("format/kqk-flag-white-wins.htb", "8/8/8/4q3/8/k6K/8/8 b");
    assert_eq!(exchanged.lines().nth(1), Some("Black wins"));
    let own = listed(&wins, "wins or draws").len();
    assert_eq!(listed(&exchanged, "White wins or draws").len(), own, "{exchanged}");
    let draws = second("format/kqk-flag-white-draws.htb", "8/8/K6k/8/4Q3/8/8/8 w");
    assert_eq!(draws.lines().nth(1), Some("White wins or draws"));
}

#[test]
fn syzygy_tables_answer_at_the_prompt() {
    let Some(golden) = golden() else { return };
    let syzygy = golden.join("../../data/syzygy");
    if !syzygy.is_dir() {
        eprintln!("SKIPPED: {} is missing", syzygy.display());
        return;
    }
    let options = ForeignOptions { syzygy: vec![syzygy.clone()], ..ForeignOptions::default() };
    let collection = |names: &[&str]| {
        let mut collection = Collection::default();
        for name in names {
            collection.adopt(Table::open_foreign(name, &options).unwrap()).unwrap();
        }
        collection
    };
    let fen = "8/8/8/8/p7/8/1P4k1/2K5 b - -";
    let mut session = Session::new(collection(&["./KPvKP.rtbw", "KQvKP.rtbw", "KPvK.rtbw"]));
    let out = session.enter(fen);
    assert!(out.lines().next().unwrap().contains("KPvKP.rtbw"), "{out}");
    assert_eq!(out.lines().nth(1), Some("Draw"));
    assert_eq!(listed(&out, "Kg2f3"), ["Kg2f3 Draw"]);
    assert_eq!(listed(&out, "White wins").len(), 8);
    let index = out.split(' ').nth(1).unwrap();
    let by_index = session.enter(index);
    assert_eq!(by_index.lines().nth(1), Some("Draw"));
    assert!(by_index.starts_with(&format!("Index {index} ")));
    // En passant, into a table of three men, with the colours exchanged.
    let out = session.enter("8/8/8/8/pP6/5k2/8/2K5 b - b3");
    assert_eq!(out.lines().nth(1), Some("Draw"));
    assert_eq!(listed(&out, "Pa4xb3"), ["Pa4xb3 Draw"]);
    // The king can be taken.
    let out = session.enter("8/8/8/8/p7/2k5/1P6/2K5 w - -");
    assert_eq!(out.lines().nth(1), Some("Illegal"));
    assert!(session.take_errors().is_empty());
    // JSON.
    let json = json_line(session.collection(), "8/8/8/8/p7/8/1P4k1/2K5 b - -");
    let json: Json = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["category"], &json["moves"][0]["category"]),
        (&"draw".into(), &"draw".into())
    );
    // Without the smaller files.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("KPvKP.rtbw");
    std::fs::copy(syzygy.join("KPvKP.rtbw"), &path).unwrap();
    let mut alone = Collection::default();
    let table = Table::open_foreign(&path, &ForeignOptions::default()).unwrap();
    alone.adopt(table).unwrap();
    let mut session = Session::new(alone);
    let out = session.enter("8/8/8/8/pP6/5k2/8/2K5 b - b3");
    assert_eq!(out.lines().nth(1), Some("NO SCORE AVAILABLE"));
    assert!(listed(&out, "Kf3g3")[0].ends_with("White wins"), "{out}");
    assert!(session.take_errors().is_empty());
}
