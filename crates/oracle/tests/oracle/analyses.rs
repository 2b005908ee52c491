//! Random control files carried out by the product and compared with the slow analysis, index by
//! index.
//!
//! `HOFFMAN_RANDOM_SETS` says how many sets, `HOFFMAN_RANDOM_FIRST` with which seed to begin.

use std::collections::BTreeMap;
use std::path::Path;

use hoffman_board::{Bitboard, Format, PieceList, Placement, Value};
use hoffman_control::{ControlFile, PawnMasks, Strictness, check_pieces, resolve_pieces_with};
use hoffman_oracle::{
    PlacedMan, RandomAnalysis, RandomFile, SlowAnalysis, SlowError, SlowPosition, arrangements,
};
use hoffman_run::{Method, RunOptions, Silent, Workplace, generate};
use hoffman_table::htb::SourceOptions;
use hoffman_table::{IndexParams, IndexSpace, PawnStructure, PawnStructures, RawEntry, Table};
use rayon::prelude::*;

use crate::{from_env, placed_in};

/// The sets of some seeds, a few at a time, as they are made on all processors.
fn sets() -> impl Iterator<Item = RandomAnalysis> {
    let count = from_env("HOFFMAN_RANDOM_SETS", 12);
    let first = from_env("HOFFMAN_RANDOM_FIRST", 0);
    let seeds: Vec<u64> = (first..first + count).collect();
    let made = |some: &[u64]| -> Vec<RandomAnalysis> {
        some.into_par_iter().map(|&seed| RandomAnalysis::new(seed)).collect()
    };
    let chunks: Vec<Vec<u64>> = seeds.chunks(16).map(<[u64]>::to_vec).collect();
    chunks.into_iter().flat_map(move |some| made(&some))
}

/// A placement as a list of men.
fn position(pieces: &PieceList, placement: &Placement) -> SlowPosition {
    let men = pieces.iter().zip(&placement.squares);
    let men = men.map(|(p, &square)| PlacedMan { color: p.color, role: p.role, square }).collect();
    SlowPosition { men, turn: placement.turn, en_passant: placement.en_passant }
}

/// Compares every index of a table with the slow analysis, and every position of the analysis with
/// the index. Returns how many entries were compared and the first difference.
fn compare(path: &Path, slow: &SlowAnalysis) -> Result<u64, String> {
    let mut table = Table::open(path, SourceOptions::default()).map_err(|e| e.to_string())?;
    table.check_length().map_err(|e| e.to_string())?;
    let codec = table.codec();
    let mut entries = vec![0_i32; table.space().size() as usize];
    table.read_entries(0, &mut entries).map_err(|e| e.to_string())?;
    for (index, &found) in entries.iter().enumerate() {
        let (fen, turn, expected) = match table.space().decode(index as u64) {
            Some(placement) => {
                let position = position(table.pieces(), &placement);
                let fen = position.fen();
                let Some(value) = slow.value(&position) else {
                    return Err(format!("index {index}: {fen} is no position"));
                };
                (fen, position.turn, value)
            }
            // What stands for no position is stored as a draw.
            None => ("no position".to_owned(), hoffman_board::Color::White, Value::Draw),
        };
        let stored = codec.store(expected, turn);
        if codec.bits() == 1 && codec.format().has_distance() && expected == Value::Illegal {
            continue;
        }
        if stored != RawEntry(found) {
            let expected = format!("{} ({expected:?})", stored.0);
            return Err(format!("index {index}: {fen}: found {found}, expected {expected}"));
        }
    }
    without_index(table.space(), slow).map_or(Ok(entries.len() as u64), Err)
}

/// The first position of an analysis that an index leaves out, as a sentence.
fn without_index(space: &IndexSpace, slow: &SlowAnalysis) -> Option<String> {
    let mut missing = None;
    slow.for_each(|position, _| {
        let men = position.men.iter().map(|m| (m.square, m.color, m.role));
        let place = || space.place(men, position.turn, position.en_passant);
        if missing.is_none() && place().and_then(|p| space.encode(&p)).is_none() {
            missing = Some(format!("{} has no index", position.fen()));
        }
    });
    missing
}

/// The index of a control file that is to be written.
fn index_of(text: &str) -> Result<IndexSpace, String> {
    let control =
        ControlFile::parse(text, "random", Strictness::Control).map_err(|e| e.to_string())?;
    let list = control.pawngen.as_ref().map(arrangements);
    let union = |of: fn(&hoffman_oracle::SlowArrangement) -> Bitboard| {
        list.iter().flatten().fold(Bitboard::EMPTY, |set, s| set | of(s))
    };
    let masks =
        list.is_some().then(|| PawnMasks { white: union(|s| s.white), black: union(|s| s.black) });
    let pieces = resolve_pieces_with(&control, masks).map_err(|e| e.to_string())?;
    let symmetry = check_pieces(&control, &pieces).map_err(|e| e.to_string())?;
    let pawn_structures = list.zip(control.pawngen.as_ref()).map(|(list, element)| {
        let count = |required: Option<u64>| required.unwrap_or(0) as usize;
        let pawns = count(element.white.pawns_required) + count(element.black.pawns_required);
        let stored = |s: &hoffman_oracle::SlowArrangement| PawnStructure {
            white: s.white,
            black: s.black,
            en_passant: s.en_passant,
        };
        PawnStructures {
            slots: element.position..element.position + pawns,
            list: list.iter().map(stored).collect(),
            start: element.start as usize,
            count: element.count as usize,
        }
    });
    let space = IndexSpace::new(IndexParams {
        index_type: control.index_type(),
        symmetry,
        variant: control.variant,
        format_is_flag: matches!(control.entry_format(), Format::Flag(_)),
        pieces,
        pawn_structures,
    });
    let space = space.map_err(|e| e.to_string())?;
    space.check_writable().map_err(|e| e.to_string())?;
    Ok(space)
}

/// Whether the indices of a table to be and the positions of its analysis are the same.
fn check_index(file: &RandomFile) -> Result<u64, String> {
    let space = index_of(&file.text)?;
    for index in 0..space.size() {
        let Some(placement) = space.decode(index) else { continue };
        let position = position(space.pieces(), &placement);
        if file.analysis.value(&position).is_none() {
            return Err(format!("index {index}: {} is no position", position.fen()));
        }
    }
    without_index(&space, &file.analysis).map_or(Ok(space.size()), Err)
}

/// Compares what the header counts with a count over the indices of the table.
fn compare_statistics(path: &Path, slow: &SlowAnalysis) -> Result<(), String> {
    let table = Table::open(path, SourceOptions::default()).map_err(|e| e.to_string())?;
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    let (mut longest_win, mut longest_loss) = (0, 0);
    let mut add = |name: &'static str, condition: bool| {
        *counts.entry(name).or_default() += i64::from(condition);
    };
    for index in 0..table.space().size() {
        add("indices", true);
        let Some(placement) = table.space().decode(index) else { continue };
        let position = position(table.pieces(), &placement);
        let turn = position.turn;
        let value = slow.value(&position).ok_or("an index without a position")?;
        let illegal = matches!(value, Value::Illegal | Value::Win(0));
        add("PNTM-mated-positions", illegal);
        add("legal-positions", !illegal);
        if !illegal {
            longest_win = longest_win.max(i64::from(value.to_stored()));
            longest_loss = longest_loss.min(i64::from(value.to_stored()));
        }
        let winner = value.winner(turn).filter(|_| !illegal);
        add("white-wins-positions", winner == Some(hoffman_board::Color::White));
        add("black-wins-positions", winner == Some(hoffman_board::Color::Black));
    }
    if matches!(table.codec().format(), Format::Dtm(_)) {
        counts.extend([("max-dtm", longest_win), ("min-dtm", longest_loss)]);
    }
    // Where every position has one index of its own the analysis has counted the same.
    let own = slow.counts();
    if counts["legal-positions"] + counts["PNTM-mated-positions"] == own.existing as i64 {
        counts.insert("stalemate-positions", own.stalemates as i64);
    }
    for (name, expected) in counts {
        if let Some(&found) = table.control().statistics.get(name)
            && found != expected
        {
            return Err(format!("{name} is {found}, expected {expected}"));
        }
    }
    Ok(())
}

/// Generates all tables of a set in a folder and compares them; returns how many entries there are.
fn carry_out(folder: &Path, files: &[RandomFile]) -> Result<u64, String> {
    let mut entries = 0;
    for file in files {
        let made = make(&folder.join(&file.name), &placed_in(folder, &file.text))
            .map_err(|error| format!("{} is refused: {error}\n{}", file.name, file.text))?;
        entries += compare(made.path.as_ref().unwrap(), &file.analysis)
            .and_then(|n| {
                compare_statistics(made.path.as_ref().unwrap(), &file.analysis).map(|()| n)
            })
            .and_then(|n| {
                compare_bounded(&folder.join(&file.name), made.path.as_ref().unwrap()).map(|()| n)
            })
            .map_err(|problem| format!("{}: {problem}\n{}", file.name, file.text))?;
    }
    Ok(entries)
}

/// Generates a table again, from the disk, in both ways and with other numbers of threads: nothing
/// may differ.
fn compare_bounded(control: &Path, made: &Path) -> Result<(), String> {
    let propagated = Method::PropTables { compress: true };
    let ways = [(0, 4, Method::Sweep), (200_000, 1, Method::Sweep), (0, 3, propagated)];
    for (budget, threads, method) in ways {
        let output = &control.with_extension("bounded.htb");
        let options = RunOptions::new(
            &Silent,
            Workplace { pages: Some(budget), method, ..Workplace::default() },
        );
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| generate(control, Some(output), &options)).map_err(|error| {
            format!("refused with {budget} bytes of pages, {method:?}: {error}")
        })?;
        let open = |path| Table::open(path, SourceOptions::default()).unwrap();
        let [plain, bounded] = [made, output].map(open);
        let entries = |table: &Table| {
            let mut area = Vec::new();
            table.read_packed(&mut area).unwrap();
            area
        };
        if entries(&plain) != entries(&bounded) {
            return Err(format!("other entries with {budget} bytes of pages, {method:?}"));
        }
        if plain.control().statistics != bounded.control().statistics {
            return Err(format!("other statistics with {budget} bytes of pages, {method:?}"));
        }
        std::fs::remove_file(output).unwrap();
    }
    Ok(())
}

#[test]
fn random_analyses_agree() {
    let (mut entries, mut indices, mut count, mut files) = (0, 0, 0, 0);
    let mut problems = Vec::new();
    for set in sets() {
        let seed = set.seed;
        count += 1;
        files += set.files.len();
        for file in &set.files {
            match check_index(file) {
                Ok(count) => indices += count,
                Err(problem) => panic!("seed {seed}, {}: {problem}\n{}", file.name, file.text),
            }
        }
        let folder = tempfile::tempdir().unwrap();
        match carry_out(folder.path(), &set.files) {
            Ok(compared) => entries += compared,
            Err(problem) => {
                let texts: Vec<_> = set.files.iter().map(|f| f.text.as_str()).collect();
                let all = texts.join("\n");
                problems.push(format!("seed {seed}: {problem}\nThe whole set:\n{all}"));
            }
        }
    }
    eprintln!("{indices} indices stand for the positions of {files} files in {count} random sets");
    eprintln!("{entries} entries of them agree");
    for problem in problems.iter().take(10) {
        eprintln!("{problem}");
    }
    assert!(problems.is_empty(), "{} of {count} sets differ", problems.len());
}

/// Files without one of their prunes: those that still say enough, as a conceded move settles
/// every position in which another move is left unsaid, have the values of the slow analysis, and
/// the others are refused.
#[test]
fn what_is_left_unsaid_is_settled_or_refused() {
    let (mut settled, mut refused, mut strict, mut entries) = (0, 0, 0, 0);
    for set in sets() {
        let seed = set.seed;
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_str().unwrap();
        let placed = |text: &str| placed_in(folder.path(), text);
        let mut known = std::collections::HashMap::new();
        for file in &set.files[..set.files.len() - 1] {
            make(&folder.path().join(&file.name), &placed(&file.text)).unwrap();
            known.insert(format!("{dir}/{}", file.output), std::sync::Arc::clone(&file.analysis));
        }
        let last = set.last();
        let prunes = last.text.lines().filter(|line| line.contains("<prune "));
        for prune in prunes {
            let text = placed(&last.text.replacen(&format!("{prune}\n"), "", 1));
            let control = ControlFile::parse(&text, &last.name, Strictness::Control).unwrap();
            let slow = SlowAnalysis::solve(&control, &known);
            let made = make(&folder.path().join(&last.name), &text);
            let wrong = |problem: &str| panic!("seed {seed}: {problem} without {prune}\n{text}");
            match (slow, made) {
                (Ok(slow), Ok(made)) => {
                    settled += 1;
                    let compared = compare(made.path.as_ref().unwrap(), &slow).and_then(|n| {
                        compare_statistics(made.path.as_ref().unwrap(), &slow).map(|()| n)
                    });
                    match compared {
                        Ok(count) => entries += count,
                        Err(problem) => wrong(&problem),
                    }
                }
                // Prunes of moves that cannot happen are told apart by their names there.
                (Err(SlowError::Images { .. }), _) => {}
                (Err(_), Err(_)) => refused += 1,
                // A rare case may be refused that could be settled, never the other way round.
                (Ok(_), Err(error)) => {
                    strict += 1;
                    eprintln!("seed {seed}: refused without {prune}: {error}\n{text}");
                }
                (Err(error), Ok(_)) => wrong(&format!("accepted: {error}")),
            }
        }
    }
    eprintln!(
        "{settled} settled ({entries} entries agree), {refused} refused, {strict} too strictly"
    );
    assert!(settled > 0 && refused > 0);
}

/// Carries out a control file, which is written first.
fn make(path: &Path, text: &str) -> Result<hoffman_run::MadeTable, hoffman_run::RunError> {
    std::fs::write(path, text).unwrap();
    let options = RunOptions::new(&Silent, Workplace::default());
    generate(path, None, &options)
}

#[test]
fn sets_follow_from_their_seed() {
    for seed in [3, 17] {
        let texts = |set: RandomAnalysis| set.files.into_iter().map(|f| f.text).collect::<Vec<_>>();
        assert_eq!(texts(RandomAnalysis::new(seed)), texts(RandomAnalysis::new(seed)));
    }
}

/// Shows what the random sets are like.
#[test]
#[ignore = "a description, not a check"]
fn describe() {
    for set in sets() {
        let last = set.last();
        eprintln!(
            "=== seed {}: {} {:?} {:?} {} futurebases",
            set.seed,
            last.analysis.format().name(),
            last.analysis.variant(),
            last.analysis.counts(),
            last.text.matches("<futurebase").count(),
        );
        for file in &set.files {
            if !file.text.contains("DOCTYPE") {
                eprintln!("--- {} {:?}\n{}", file.name, file.analysis.counts(), file.text);
            }
        }
    }
}

/// A table whose own squares are symmetric, but whose futurebase is not: mirror images differ.
#[test]
fn futurebases_may_tell_images_apart() {
    let piece = |color: &str, role: &str| format!("<piece color=\"{color}\" type=\"{role}\"/>");
    let kings = piece("white", "king") + &piece("black", "king");
    let half = "a1 a2 a3 a4 a5 a6 a7 a8 b1 b2 b3 b4 b5 b6 b7 b8 c1 c2 c3 c4 c5 c6 c7 c8";
    let prune = |what: &str| {
        format!(
            "<prune-enable color=\"black\" type=\"concede\"/><prune color=\"black\" move=\"{what}\" type=\"concede\"/>"
        )
    };
    let base = format!(
        "<tablebase><dtm/>{}<piece color=\"white\" type=\"king\"/>\
         <piece color=\"black\" type=\"king\" location=\"{half}\"/><output filename=\"half.htb\"/></tablebase>",
        prune("K*")
    );
    let folder = tempfile::tempdir().unwrap();
    let control = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        ControlFile::parse(text, name, Strictness::Control).unwrap()
    };
    let empty = std::collections::HashMap::new();
    let slow = SlowAnalysis::solve(&control("half.xml", &base), &empty).unwrap();
    let known = [("half.htb".to_owned(), std::sync::Arc::new(slow))].into_iter().collect();
    let make = |name: &str| {
        let path = folder.path().join(name);
        let options = RunOptions::new(&Silent, Workplace::default());
        generate(&path, Some(&path.with_extension("htb")), &options)
    };
    make("half.xml").unwrap();
    for symmetry in [1, 8] {
        let table = |path: &str| {
            format!(
                "<tablebase><index type=\"combinadic5\" symmetry=\"{symmetry}\"/><dtm/>{}{kings}{}\
                 <futurebase filename=\"{path}\"/><output filename=\"queen.htb\"/></tablebase>",
                prune("KxQ"),
                piece("white", "queen")
            )
        };
        let expected = SlowAnalysis::solve(&control("queen.xml", &table("half.htb")), &known);
        let path = folder.path().join("half.htb");
        control("queen.xml", &table(path.to_str().unwrap()));
        let made = make("queen.xml");
        if symmetry == 8 {
            assert!(made.unwrap_err().to_string().contains("mirror images"));
        } else {
            let entries = compare(&made.unwrap().path.unwrap(), &expected.unwrap()).unwrap();
            assert!(entries > 400_000, "{entries}");
        }
    }
}

/// Solves control files in order by both programs and compares them; `{}` in the texts is the
/// folder. Returns how many entries agree, or why the last one is refused.
fn solve_both(texts: &[(&str, String)]) -> Result<u64, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut known = std::collections::HashMap::new();
    let mut entries = 0;
    for (name, text) in texts {
        let text = text.replace("{}", folder.path().to_str().unwrap());
        let path = folder.path().join(format!("{name}.xml"));
        std::fs::write(&path, &text).unwrap();
        let control = ControlFile::parse(&text, name, Strictness::Control).unwrap();
        let slow = SlowAnalysis::solve(&control, &known);
        let output = folder.path().join(format!("{name}.htb"));
        let options = RunOptions::new(&Silent, Workplace::default());
        let made = generate(&path, Some(&output), &options);
        assert_eq!(slow.is_err(), made.is_err(), "{name}: {slow:?}, {made:?}");
        let slow = slow.map_err(|_| made.unwrap_err().to_string())?;
        entries += compare(&output, &slow).and_then(|n| {
            compare_statistics(&output, &slow)?;
            Ok(n)
        })?;
        known.insert(output.to_str().unwrap().to_owned(), std::sync::Arc::new(slow));
    }
    Ok(entries)
}

/// The same two captures away: a table whose men stand everywhere tells images apart as far as its
/// index does.
#[test]
fn futurebases_of_futurebases_may_tell_images_apart() {
    let piece = |color: &str, role: &str| format!("<piece color=\"{color}\" type=\"{role}\"/>");
    let kings = piece("white", "king") + &piece("black", "king");
    let concede = |what: &str| {
        format!(
            "<prune-enable color=\"black\" type=\"concede\"/><prune color=\"black\" move=\"{what}\" type=\"concede\"/>"
        )
    };
    let discards: String = ["P=R", "P=B", "P=N"]
        .map(|kind| format!("<prune color=\"white\" move=\"{kind}\" type=\"discard\"/>"))
        .concat();
    // Where Black's bare king may stand: a set without symmetry, with that of the index only.
    let files = |squares: &dyn Fn(char, char) -> bool| -> String {
        let all = ('1'..='8').flat_map(|rank| ('a'..='h').map(move |file| (file, rank)));
        let squares = all.filter(|&(file, rank)| squares(file, rank));
        squares.flat_map(|(file, rank)| [file, rank, ' ']).collect()
    };
    let sets = [
        (1, files(&|file, _| file < 'd')),
        (2, files(&|_, rank| rank < '4')),
        (4, files(&|_, rank| !('3'..='6').contains(&rank))),
    ];
    for (symmetry, squares) in sets {
        let index = |symmetry: u8| format!("<index type=\"combinadic5\" symmetry=\"{symmetry}\"/>");
        let part = format!(
            "<tablebase>{}<dtm/>{}{}<piece color=\"black\" type=\"king\" location=\"{squares}\"/>\
             <output filename=\"{{}}/part.htb\"/></tablebase>",
            index(symmetry),
            concede("K*"),
            piece("white", "king"),
        );
        let queen = format!(
            "<tablebase>{}<dtm/>{}{kings}{}<futurebase filename=\"{{}}/part.htb\"/>\
             <output filename=\"{{}}/queen.htb\"/></tablebase>",
            index(symmetry),
            concede("KxQ"),
            piece("white", "queen"),
        );
        let pawn = format!(
            "<tablebase>{}<dtm/>{}<prune-enable color=\"white\" type=\"discard\"/>{kings}{}\
             <futurebase filename=\"{{}}/queen.htb\"/>{discards}<output filename=\"{{}}/pawn.htb\"/></tablebase>",
            index(symmetry.min(2)),
            concede("KxP"),
            piece("white", "pawn"),
        );
        let entries = solve_both(&[("part", part), ("queen", queen), ("pawn", pawn)]).unwrap();
        assert!(entries > 200_000, "{entries}");
    }
}

/// Tables with pawns that stand everywhere tell left from right if their index does.
#[test]
fn futurebases_with_pawns_may_tell_images_apart() {
    let piece = |color: &str, role: &str| format!("<piece color=\"{color}\" type=\"{role}\"/>");
    let kings = piece("white", "king") + &piece("black", "king");
    let prunes = "<prune-enable color=\"black\" type=\"concede\"/><prune-enable color=\"white\" type=\"discard\"/>\
                  <prune color=\"white\" move=\"P=?\" type=\"discard\"/>\
                  <prune color=\"black\" move=\"KxP\" type=\"concede\"/>";
    // Where Black's bare king is safe: in a set without symmetry, and in one with that of the
    // index.
    for (symmetry, squares) in [(1, "a2 b3 c4 d5 h6"), (2, "a2 h2 b3 g3 d5 e5")] {
        let index = format!("<index type=\"combinadic5\" symmetry=\"{symmetry}\"/>");
        let part = format!(
            "<tablebase>{index}<dtm/><prune-enable color=\"black\" type=\"concede\"/>{}\
             <piece color=\"black\" type=\"king\" location=\"{squares}\"/>\
             <prune color=\"black\" move=\"K*\" type=\"concede\"/><output filename=\"{{}}/part.htb\"/></tablebase>",
            piece("white", "king"),
        );
        let pawn = format!(
            "<tablebase>{index}<dtm/>{prunes}{kings}{}<futurebase filename=\"{{}}/part.htb\"/>\
             <output filename=\"{{}}/pawn.htb\"/></tablebase>",
            piece("white", "pawn"),
        );
        let main = format!(
            "<tablebase><dtm/>{prunes}<prune-enable color=\"black\" type=\"discard\"/>{kings}{}\
             <piece color=\"black\" type=\"knight\" location=\"b5\"/><futurebase filename=\"{{}}/pawn.htb\"/>\
             <prune color=\"black\" move=\"N*\" type=\"discard\"/><output filename=\"{{}}/main.htb\"/></tablebase>",
            piece("white", "pawn"),
        );
        let entries = solve_both(&[("part", part), ("pawn", pawn), ("main", main)]);
        assert!(entries.unwrap() > 300_000, "symmetry {symmetry}");
    }
}

/// What a suicide table may have: entries of two bytes, and none better than a win without a move.
#[test]
fn wide_tables_may_hold_wins_without_a_move_only() {
    let start = "<tablebase><variant name=\"suicide\"/><prune-enable color=\"white\" type=\"discard\"/>\
                 <prune-enable color=\"black\" type=\"discard\"/>";
    let discards = "<prune color=\"white\" move=\"*\" type=\"discard\"/>\
                    <prune color=\"black\" move=\"*\" type=\"discard\"/>";
    let knight = "<piece color=\"black\" type=\"knight\" location=\"e3\"/>";
    let base = format!(
        "{start}<dtm bits=\"12\"/>{knight}<piece color=\"white\" type=\"king\" location=\"a1\"/>{discards}\
         <output filename=\"base.htb\"/></tablebase>"
    );
    let main = format!(
        "{start}<dtm/>{knight}<piece color=\"white\" type=\"king\" location=\"a2 a3\"/>\
         <futurebase filename=\"{{}}/base.htb\"/>{discards}<output filename=\"main.htb\"/></tablebase>"
    );
    assert!(solve_both(&[("base", base), ("main", main)]).unwrap() > 0);
}

/// A discarded capture of a sort that a futurebase answers in part: a side without another move is
/// neither mated nor stalemated, conceded or not, in tables with distances; in others it is.
#[test]
fn discarded_moves_of_a_tracked_sort_spare_mate_and_stalemate() {
    let kings = "<piece color=\"white\" type=\"king\" location=\"a1 a2 b1 b2\"/>\
                 <piece color=\"black\" type=\"king\" location=\"a3 a4 b3 b4 c1 c2 c3 d1 d2\"/>";
    let enabled = "<tablebase><prune-enable color=\"white\" type=\"discard\"/>\
                   <prune-enable color=\"black\" type=\"concede\"/>";
    let queen = "<piece color=\"black\" type=\"queen\"/>";
    let prunes = "<prune color=\"white\" move=\"K*\" type=\"discard\"/>\
                  <prune color=\"black\" move=\"K[a-h][1-8]\" type=\"concede\"/>";
    let conceded = "<prune color=\"black\" move=\"stalemate\" type=\"concede\"/>";
    let base = "<piece color=\"white\" type=\"king\" location=\"a1\"/>\
         <piece color=\"black\" type=\"king\" location=\"c3 d4\"/>\
         <prune color=\"white\" move=\"K*\" type=\"discard\"/><prune color=\"black\" move=\"K*\" type=\"concede\"/>\
         <output filename=\"base.htb\"/></tablebase>";
    let formats = [
        "<dtm/>",
        "<dtc/>",
        "<basic/>",
        "<flag type=\"white-wins\"/>",
        "<flag type=\"white-draws\"/>",
    ];
    for (format, stalemates) in formats.iter().flat_map(|f| [(f, ""), (f, conceded)]) {
        let start = format!("{enabled}{format}");
        let main = |futurebase: &str| {
            format!(
                "{start}{kings}{queen}{futurebase}{prunes}{stalemates}<output filename=\"main.htb\"/></tablebase>"
            )
        };
        let base = format!("{start}{base}");
        let with = [("base", base), ("main", main("<futurebase filename=\"{}/base.htb\"/>"))];
        assert!(solve_both(&with).unwrap() > 1000);
        assert!(solve_both(&[("main", main(""))]).unwrap() > 1000);
    }
}

/// Positions that share an index must have the same moves.
#[test]
fn prunes_that_tell_images_apart_are_refused() {
    let table = |symmetry: u8, conceded: &str, discarded: &str| {
        let text = format!(
            "<tablebase><prune-enable color=\"white\" type=\"concede\"/><prune-enable color=\"white\" type=\"discard\"/>\
             <index type=\"combinadic5\" symmetry=\"{symmetry}\"/><dtm/>\
             <piece color=\"white\" type=\"king\" location=\"a1 h1 a8 h8\"/>\
             <piece color=\"black\" type=\"king\"/>\
             <prune color=\"white\" move=\"{conceded}\" type=\"concede\"/>\
             <prune color=\"white\" move=\"{discarded}\" type=\"discard\"/>\
             <output filename=\"main.htb\"/></tablebase>"
        );
        solve_both(&[("main", text)])
    };
    assert!(table(1, "Ka?", "K[b-h]?").unwrap() > 0);
    let refused = table(2, "Ka?", "K[b-h]?").unwrap_err();
    assert!(refused.contains("with symmetry 2 the positions before them share"), "{refused}");
    assert!(table(2, "K?2", "K?[13-8]").unwrap() > 0);
    assert!(table(4, "K?2", "K?[13-8]").is_err());
}

/// Two rooks whose squares are images of each other: in the mirror they change places.
#[test]
fn like_men_may_change_places_in_the_mirror() {
    let rooks = |one: &str, other: &str| {
        let rook = |squares: &str| {
            format!("<piece color=\"white\" type=\"rook\" location=\"{squares}\"/>")
        };
        rook(one) + &rook(other)
    };
    let table = |symmetry: u8, index: &str, rooks: &str| {
        let text = format!(
            "<tablebase><prune-enable color=\"black\" type=\"concede\"/>\
             <prune-enable color=\"white\" type=\"discard\"/>\
             <index type=\"{index}\" symmetry=\"{symmetry}\"/><dtm/>\
             <piece color=\"white\" type=\"king\"/><piece color=\"black\" type=\"king\"/>{rooks}\
             <prune color=\"black\" move=\"KxR\" type=\"concede\"/>\
             <prune color=\"white\" move=\"R*\" type=\"discard\"/>\
             <output filename=\"main.htb\"/></tablebase>"
        );
        solve_both(&[("main", text)])
    };
    let sides = rooks("a1 a2 b3", "h1 h2 g3");
    for index in ["combinadic5", "combinadic4", "compact", "simple", "naive"] {
        assert!(table(2, index, &sides).unwrap() > 10_000, "{index}");
    }
    let corners = rooks("a1 h8 b2", "h1 a8 g3");
    let refused = table(2, "combinadic5", &corners).unwrap_err();
    assert!(refused.contains("symmetry 2 is not possible"), "{refused}");
    assert!(table(4, "combinadic5", &rooks("a1 a8", "h1 h8")).unwrap() > 1_000);
}

/// Two like men, one of whom may stand on some of the other's squares only, go wherever the two of
/// them may.
#[test]
fn like_men_with_nested_squares_exchange_their_parts() {
    let squares = |inside: &dyn Fn(u8, u8) -> bool| -> String {
        let all = (0..64_u8).map(|s| (s & 7, s >> 3)).filter(|&(file, rank)| inside(file, rank));
        all.flat_map(|(file, rank)| [char::from(b'a' + file), char::from(b'1' + rank), ' '])
            .collect()
    };
    let file = squares(&|file, _| file == 0);
    let diagonal = squares(&|file, rank| file == rank);
    let corner = squares(&|file, rank| file < 3 && rank < 2);
    let half = squares(&|file, rank| rank < 4 || file == 0);
    let all = squares(&|_, _| true);
    let near = squares(&|file, rank| file < 4 && rank < 3);
    for (role, letter, wide, narrow, format, enemy) in [
        ("rook", "R", &all, &file, "dtm", ""),
        ("rook", "R", &half, &file, "basic", "queen"),
        ("bishop", "B", &all, &diagonal, "dtc", "pawn"),
        ("knight", "N", &all, &corner, "dtm", "bishop"),
        ("queen", "Q", &half, &corner, "dtc", ""),
    ] {
        let piece = |color: &str, role: &str, squares: &str| match role {
            "" => String::new(),
            _ => format!("<piece color=\"{color}\" type=\"{role}\" location=\"{squares}\"/>"),
        };
        let prune = |color: &str, kind: &str, effect: &str| {
            format!("<prune color=\"{color}\" move=\"{kind}\" type=\"{effect}\"/>")
        };
        let text = [
            "<tablebase><prune-enable color=\"white\" type=\"discard\"/>".to_owned(),
            format!("<prune-enable color=\"black\" type=\"concede\"/><{format}/>"),
            piece("white", "king", "f6 f7 g6 g7"),
            piece("black", "king", &near),
            piece("white", role, wide),
            piece("white", role, narrow),
            piece("black", enemy, "d4 e4 e5"),
            prune("white", &format!("{letter}[a-h][1-8]"), "discard"),
            prune("white", "K[a-h][1-8]", "discard"),
            prune("white", "?x?", "discard"),
            prune("black", "*", "concede"),
            format!("<output filename=\"{role}.htb\"/></tablebase>"),
        ];
        let entries = solve_both(&[(role, text.concat())]).unwrap();
        assert!(entries > 20_000, "{role}: {entries}");
    }
}
