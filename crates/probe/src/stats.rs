//! What a table contains: wins, draws, losses and their lengths, for both sides to move.
//!
//! Counts are positions up to board symmetry, 8-fold without pawns, left-right with them: each
//! orbit once, however many indices the table spends on it. Identical men are not told apart. A
//! table whose men are restricted has no symmetry and is counted plainly. Positions with an en
//! passant right that can be used, by a *legal* capture, are counted apart; indices whose right
//! cannot be used stand for no position of their own and are not counted. Whether a position is
//! legal is computed from it, never taken from its entry. The values are taken as they are stored:
//! `verify` is the judge of them.

mod rows;

use std::fmt;

use hoffman_board::value::FlagType;
use hoffman_board::{ByColor, Color, Format, Material, Symmetry, Value};
use hoffman_control::Assumption;
use hoffman_store::files;
use hoffman_table::htb::HtbError;
use hoffman_table::{EntryValue, ForeignTable, RawEntry, Table, TableError, TableProblem};
use rayon::prelude::*;
use serde::Serialize;

use crate::orbits::{Orbits, Representative, is_partial};
use crate::verify::{fen, men_of};
use crate::words::claims_in_words;

/// Entries unpacked at a time, at least.
const CHUNK: u64 = 1 << 22;

/// Entries that a thread takes at a time.
const BLOCK: usize = 1 << 12;

/// The contents of one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableStats {
    /// The ending, as `KQvKR`; for a table with restricted men the file's name without its
    /// extension.
    pub table: String,
    /// `dtm`, `dtc`, `basic` or `flag`.
    pub metric: &'static str,
    /// Positions with White to move.
    pub white_to_move: SideStats,
    /// Positions with Black to move.
    pub black_to_move: SideStats,
    /// Positions in which the player to move can capture en passant, not contained in the above.
    pub en_passant: EnPassantStats,
    /// The size of the file.
    pub bytes: u64,
    /// What the values prove of chess, in the words of the file's header: `white-wins`,
    /// `white-holds`, `black-wins`, `black-holds`. All four where they are those of chess.
    pub certain: Vec<&'static str>,
    /// In what the game of the table is not chess.
    pub assumes: Vec<String>,
    /// What the values prove, in words; none where they are those of chess.
    #[serde(skip)]
    pub proves: Option<String>,
}

/// Positions with an en passant capture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EnPassantStats {
    /// White captures.
    pub white_to_move: SideStats,
    /// Black captures.
    pub black_to_move: SideStats,
}

/// Positions with one side to move.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SideStats {
    /// Legal positions: the side not to move is not in check.
    pub legal: u64,
    /// Those that the side to move wins; none where a flag table does not tell wins from draws.
    pub win: Option<u64>,
    /// Those that nobody wins; none where a flag table does not tell.
    pub draw: Option<u64>,
    /// Those that the side to move loses; none where a flag table does not tell.
    pub loss: Option<u64>,
    /// The longest win in moves; none if the side to move never wins, or if there are no distances.
    pub longest_win_moves: Option<u16>,
    /// The first position, in the order of indices, with such a win.
    pub longest_win_fen: Option<String>,
    /// `(plies, count)` of the decided positions, ascending: positive if the side to move wins,
    /// negative or, if mated, 0 if it loses. Empty without distances.
    pub histogram: Vec<(i32, u64)>,
}

/// The JSON of the statistics of some tables: an object for one, a list for several.
///
/// # Errors
/// None that the types make possible.
pub fn to_json(tables: &[TableStats]) -> serde_json::Result<serde_json::Value> {
    match tables {
        [one] => serde_json::to_value(one),
        several => serde_json::to_value(several),
    }
}

/// Counts the positions of a table, with all threads of the current pool. Its entries are held in
/// memory if they take at most so many bytes as they are packed; else it is read piece by piece,
/// which takes longer.
///
/// # Errors
/// The file is damaged or cannot be read.
pub fn stats(table: &Table, memory: u64) -> Result<TableStats, TableError> {
    // A table of another program may have been found elsewhere.
    let file = table.foreign().map_or(table.path(), ForeignTable::path);
    let file = files().info(file).map_err(|source| TableError {
        path: table.path().to_owned(),
        problem: TableProblem::Container(HtbError::Io {
            action: "cannot find out the size of the file",
            source,
        }),
    })?;

    let claims = table.claims();
    let tally = match rows::count(table, memory)? {
        Some(tally) => tally,
        None => count(table)?,
    };
    let plain = sides(table, &tally.plain);
    let en_passant = sides(table, &tally.en_passant);

    Ok(TableStats {
        table: name(table),
        metric: table.codec().format().name(),
        white_to_move: plain.white,
        black_to_move: plain.black,
        en_passant: EnPassantStats {
            white_to_move: en_passant.white,
            black_to_move: en_passant.black,
        },
        bytes: file.len,
        certain: claims.names(),
        assumes: assumptions(table),
        proves: (!claims.is_exact()).then(|| claims_in_words(claims)),
    })
}

/// In what the game of a table is not chess; empty where that changes nothing.
fn assumptions(table: &Table) -> Vec<String> {
    if table.claims().is_exact() {
        return Vec::new();
    }
    Assumption::of_header(table.control()).iter().map(ToString::to_string).collect()
}

fn name(table: &Table) -> String {
    let stem = table.path().file_stem().map(|stem| stem.to_string_lossy().into_owned());
    match stem {
        Some(stem) if is_partial(table) => stem,
        _ => Material::from_men(table.pieces().iter().map(|p| (p.color, p.role))).to_string(),
    }
}

// ---------------------------------------------------------------------------------------- counting

/// Counts positions one by one.
struct Counter<'a> {
    orbits: Orbits<'a>,
}

impl<'a> Counter<'a> {
    fn new(table: &'a Table) -> Counter<'a> {
        Counter { orbits: Orbits::new(table) }
    }

    fn count(&self, index: u64, raw: RawEntry, tally: &mut TableTally) {
        let table = self.orbits.table();
        let Some(placement) = table.space().decode(index) else { return };
        let part = match self.orbits.representative(&placement) {
            Some(Representative::Plain) => &mut tally.plain,
            Some(Representative::EnPassant) => &mut tally.en_passant,
            None => return,
        };
        let turn = placement.turn;
        part.get_mut(turn).count(index, table.codec().value(raw, turn));
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct TableTally {
    plain: ByColor<SideTally>,
    en_passant: ByColor<SideTally>,
}

impl TableTally {
    fn with(mut self, other: &TableTally) -> TableTally {
        for color in Color::ALL {
            self.plain.get_mut(color).add(other.plain.get(color));
            self.en_passant.get_mut(color).add(other.en_passant.get(color));
        }
        self
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SideTally {
    legal: u64,
    /// Without distance.
    win: u64,
    draw: u64,
    /// Without distance.
    loss: u64,
    /// `wins[moves]`
    wins: Vec<u64>,
    /// `losses[moves]`
    losses: Vec<u64>,
    /// The moves and the lowest index.
    longest: Option<(u16, u64)>,
}

fn add_at(counts: &mut Vec<u64>, moves: u16, count: u64) {
    let moves = usize::from(moves);
    if counts.len() <= moves {
        counts.resize(moves + 1, 0);
    }
    if let Some(n) = counts.get_mut(moves) {
        *n += count;
    }
}

impl SideTally {
    fn count(&mut self, index: u64, value: Option<EntryValue>) {
        self.count_some(1, value);
        if let Some(EntryValue::Exact(Value::Win(moves))) = value {
            self.lengthen(moves, index);
        }
    }

    /// Counts `n` positions, without a look at which of them has the longest win.
    fn count_some(&mut self, n: u64, value: Option<EntryValue>) {
        self.legal += n;
        match value {
            Some(EntryValue::Exact(Value::Win(moves))) => add_at(&mut self.wins, moves, n),
            Some(EntryValue::Exact(Value::Loss(moves))) => add_at(&mut self.losses, moves, n),
            Some(EntryValue::Exact(Value::Draw) | EntryValue::Draw) => self.draw += n,
            Some(EntryValue::Win) => self.win += n,
            Some(EntryValue::Loss) => self.loss += n,
            // A flag that does not tell, or a damaged entry.
            Some(
                EntryValue::Exact(Value::Illegal)
                | EntryValue::Illegal
                | EntryValue::WinOrDraw
                | EntryValue::DrawOrLoss
                | EntryValue::Unknown,
            )
            | None => {}
        }
    }

    fn lengthen(&mut self, moves: u16, index: u64) {
        let longer =
            self.longest.is_none_or(|(most, first)| moves > most || moves == most && index < first);
        if longer {
            self.longest = Some((moves, index));
        }
    }

    fn add(&mut self, other: &SideTally) {
        self.legal += other.legal;
        self.win += other.win;
        self.draw += other.draw;
        self.loss += other.loss;
        for (moves, &count) in other.wins.iter().enumerate() {
            add_at(&mut self.wins, moves as u16, count);
        }
        for (moves, &count) in other.losses.iter().enumerate() {
            add_at(&mut self.losses, moves as u16, count);
        }
        if let Some((moves, index)) = other.longest {
            self.lengthen(moves, index);
        }
    }
}

/// Goes through all entries by their indices, unpacking the next ones while counting.
fn count(table: &Table) -> Result<TableTally, TableError> {
    let counter = Counter::new(table);
    let size = table.space().size();
    let chunk = CHUNK.max(table.together().saturating_mul(4).min(CHUNK << 3)) & !7;
    let read = |first: u64, numbers: &mut Vec<i32>| {
        numbers.clear();
        numbers.resize(chunk.min(size.saturating_sub(first)) as usize, 0);
        if numbers.is_empty() { Ok(()) } else { table.read_entries(first, numbers) }
    };

    let (mut total, mut start) = (TableTally::default(), 0);
    let (mut now, mut next) = (Vec::new(), Vec::new());
    read(0, &mut now)?;
    while start < size {
        table.check_stop()?;
        let after = start + now.len() as u64;
        let (tally, done) =
            rayon::join(|| count_chunk(&counter, start, &now), || read(after, &mut next));
        total = total.with(&tally);
        done?;
        std::mem::swap(&mut now, &mut next);
        start = after;
    }
    Ok(total)
}

/// Counts entries, the first of which has an index.
fn count_chunk(counter: &Counter<'_>, start: u64, numbers: &[i32]) -> TableTally {
    let blocks = numbers.par_chunks(BLOCK).enumerate();
    let tallies = blocks.map(|(block, numbers)| {
        let first = start + (block * BLOCK) as u64;
        let mut tally = TableTally::default();
        for (index, &number) in (first..).zip(numbers) {
            counter.count(index, RawEntry(number), &mut tally);
        }
        tally
    });
    tallies.reduce(TableTally::default, |a, b| a.with(&b))
}

// --------------------------------------------------------------------------------------- rendering

/// The statistics of both sides, of which a table without a side-to-move bit holds only one.
fn sides(table: &Table, tally: &ByColor<SideTally>) -> ByColor<SideStats> {
    let white = side(table, &tally.white, Color::White, Color::White);
    let black = if table.space().has_side_bit() {
        side(table, &tally.black, Color::Black, Color::Black)
    } else {
        side(table, &tally.white, Color::White, Color::Black)
    };
    ByColor { white, black }
}

/// The statistics of `shown` to move out of the counts of `stored` to move.
fn side(table: &Table, tally: &SideTally, stored: Color, shown: Color) -> SideStats {
    let format = table.codec().format();
    let known = |tells: bool, count: u64| tells.then_some(count);
    let (win, draw, loss) = match (format, stored) {
        (Format::Flag(FlagType::WhiteWins), Color::White) => (true, false, false),
        (Format::Flag(FlagType::WhiteWins), Color::Black) => (false, false, true),
        (Format::Flag(FlagType::WhiteDraws), Color::White) => (false, false, true),
        (Format::Flag(FlagType::WhiteDraws), Color::Black) => (true, false, false),
        _ => (true, true, true),
    };

    let mut histogram: Vec<(i32, u64)> = Vec::new();
    // The unit of a loss is two plies; a win takes one ply less. A player who has won for want of a
    // move, in suicide chess, has done so in none.
    let losses = tally.losses.iter().enumerate().map(|(moves, &n)| (-2 * moves as i32, n));
    let wins = tally.wins.iter().enumerate().map(|(moves, &n)| ((2 * moves as i32 - 1).max(0), n));

    for (plies, count) in losses.rev().chain(wins).filter(|&(_, n)| n > 0) {
        match histogram.last_mut() {
            Some((last, n)) if *last == plies => *n += count,
            _ => histogram.push((plies, count)),
        }
    }

    SideStats {
        legal: tally.legal,
        win: known(win, tally.win + tally.wins.iter().sum::<u64>()),
        draw: known(draw, tally.draw),
        loss: known(loss, tally.loss + tally.losses.iter().sum::<u64>()),
        longest_win_moves: tally.longest.map(|(moves, _)| moves),
        longest_win_fen: tally.longest.and_then(|(_, index)| fen_of(table, index, stored != shown)),
        histogram,
    }
}

/// The position of an index; mirrored top and bottom with the colours exchanged if `turned`.
fn fen_of(table: &Table, index: u64, turned: bool) -> Option<String> {
    let placement = table.space().decode(index)?;
    let men = men_of(table.pieces(), &placement);
    Some(if turned {
        let mirrored = |square| Symmetry::V.apply(square);
        let men = men.map(|(square, color, role)| (mirrored(square), color.other(), role));
        fen(men, placement.turn.other(), placement.en_passant.map(mirrored))
    } else {
        fen(men, placement.turn, placement.en_passant)
    })
}

impl fmt::Display for TableStats {
    /// A few lines for people, without a newline at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {} bytes)", self.table, self.metric, self.bytes)?;
        if !self.assumes.is_empty() {
            write!(f, "\n  The table assumes: {}", self.assumes.join("; "))?;
        }
        if let Some(proves) = &self.proves {
            write!(f, "\n  Certain in chess: {proves}")?;
        }
        let en_passant = &self.en_passant;

        for (title, side) in [
            ("White to move", &self.white_to_move),
            ("Black to move", &self.black_to_move),
            ("White to move, en passant", &en_passant.white_to_move),
            ("Black to move, en passant", &en_passant.black_to_move),
        ] {
            if side.legal == 0 && title.ends_with("passant") {
                continue;
            }
            write!(f, "\n  {title}: {} legal", side.legal)?;
            for (word, count) in [("won", side.win), ("drawn", side.draw), ("lost", side.loss)] {
                match count {
                    Some(count) => write!(f, ", {count} {word}")?,
                    None => write!(f, ", {word} not known")?,
                }
            }
            if let (Some(moves), Some(fen)) = (side.longest_win_moves, &side.longest_win_fen) {
                let unit = if moves == 1 { "move" } else { "moves" };
                write!(f, "\n    longest win {moves} {unit}: {fen}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use hoffman_table::htb::SourceOptions;

    use super::*;
    use crate::verify::tests::{golden, shared};

    /// `[white to move, black to move][win, draw, loss]`, and the longest wins of both.
    type Published = ([[u64; 3]; 2], [Option<u16>; 2]);

    /// The fields of a line of the published counts: wins, draws and losses for both sides, cursed
    /// ones included, and the winner's longest win.
    fn published(name: &str) -> Option<Published> {
        let text = std::fs::read_to_string(shared()?.join("data/known-stats.csv")).unwrap();
        let mut lines = text.lines();
        let titles: Vec<&str> = lines.next().unwrap().split(',').collect();
        let fields: Vec<&str> =
            lines.map(|l| l.split(',').collect::<Vec<_>>()).find(|f| f[0] == name).unwrap();
        let field = |title: &str| fields[titles.iter().position(|t| *t == title).unwrap()];
        let number = |side: &str, title: &str| -> u64 {
            match field(&format!("{side}_{title}")) {
                "" => 0,
                text => text.parse().unwrap(),
            }
        };
        let counts = ["wtm", "btm"].map(|side| {
            [
                number(side, "wins") + number(side, "cursed_wins"),
                number(side, "draws"),
                number(side, "losses") + number(side, "cursed_losses"),
            ]
        });
        let longest = ["white", "black"].map(|c| field(&format!("max_dtm_moves_{c}")).parse().ok());
        Some((counts, longest))
    }

    fn counts(side: &SideStats) -> [u64; 3] {
        [side.win.unwrap(), side.draw.unwrap(), side.loss.unwrap()]
    }

    fn check(path: &str, name: &str) -> Option<TableStats> {
        let table = golden(path)?;
        let found = stats(&table, u64::MAX).unwrap();
        let (expected, longest) = published(name)?;
        assert_eq!(found.table, name);
        assert_eq!(counts(&found.white_to_move), expected[0], "{path}, White to move");
        assert_eq!(counts(&found.black_to_move), expected[1], "{path}, Black to move");
        assert_eq!(found.white_to_move.longest_win_moves, longest[0], "{path}");
        let black = if table.space().has_side_bit() { longest[1] } else { longest[0] };
        assert_eq!(found.black_to_move.longest_win_moves, black, "{path}");
        for side in [&found.white_to_move, &found.black_to_move] {
            let [win, draw, loss] = counts(side);
            assert_eq!(side.legal, win + draw + loss);
            assert_eq!(side.histogram.iter().map(|&(_, n)| n).sum::<u64>(), win + loss);
            assert!(side.histogram.is_sorted_by_key(|&(plies, _)| plies));
        }
        Some(found)
    }

    #[test]
    fn counts_are_the_published_ones() {
        for (file, name) in [
            ("base/kbk", "KBvK"),
            ("base/knk", "KNvK"),
            ("base/krk", "KRvK"),
            ("base/kpk", "KPvK"),
            ("base/kqkq", "KQvKQ"),
        ] {
            check(file, name);
        }
    }

    #[test]
    fn counts_with_pawns_on_both_sides_are_the_published_ones() {
        check("base/krkp", "KRvKP");
        let Some(found) = check("base/kpkp", "KPvKP") else { return };
        // A colour-symmetric table shows both sides; the rights that can be used are counted apart.
        let white = &found.en_passant.white_to_move;
        assert_eq!(white.legal, found.en_passant.black_to_move.legal);
        assert!(white.legal > 0 && white.longest_win_moves.is_some());
        let fen = found.black_to_move.longest_win_fen.unwrap();
        assert!(fen.ends_with(" b - - 0 1"), "{fen}");
    }

    #[test]
    fn every_index_type_gives_the_same_counts() {
        for (folder, prefix, name) in [("index-kqk", "kqk-", "KQvK"), ("index-kpk", "kpk-", "KPvK")]
        {
            let Some(shared) = shared() else { return };
            let folder_path = shared.join("spec/golden").join(folder);
            let mut seen = 0;
            for entry in std::fs::read_dir(folder_path).unwrap() {
                let path = entry.unwrap().path();
                let stem = path.file_stem().unwrap().to_str().unwrap();
                if stem.starts_with(prefix) && path.extension().is_some_and(|e| e == "htb") {
                    check(&format!("{folder}/{stem}"), name);
                    seen += 1;
                }
            }
            assert!(seen > 0);
        }
    }

    #[test]
    fn rows_and_indices_give_the_same_counts() {
        let Some(shared) = shared() else { return };
        let mut by_rows = 0;
        for folder in std::fs::read_dir(shared.join("spec/golden")).unwrap() {
            let Ok(files) = std::fs::read_dir(folder.unwrap().path()) else { continue };
            for path in files.map(|file| file.unwrap().path()) {
                if path.extension().is_none_or(|e| e != "htb") {
                    continue;
                }
                let Ok(mut table) = Table::open(&path, SourceOptions::default()) else { continue };
                if table.check_length().is_err() || table.space().size() > 3_000_000 {
                    continue;
                }
                let Some(rows) = rows::count(&table, u64::MAX).unwrap() else { continue };
                assert_eq!(rows, count(&table).unwrap(), "{}", path.display());
                by_rows += 1;
            }
        }
        assert!(by_rows > 100, "{by_rows}");
        let Some(table) = golden("base/kqk") else { return };
        assert!(rows::count(&table, 100).unwrap().is_none());
    }

    #[test]
    fn json_is_as_promised() {
        let Some(found) = check("base/kqk", "KQvK") else { return };
        assert_eq!(found.white_to_move.win, Some(18081));
        assert_eq!(found.black_to_move.loss, Some(25160));
        let json = to_json(std::slice::from_ref(&found)).unwrap();
        let keys = |value: &serde_json::Value| -> Vec<String> {
            value.as_object().unwrap().keys().cloned().collect()
        };
        let mut expected = [
            "table",
            "metric",
            "white_to_move",
            "black_to_move",
            "en_passant",
            "bytes",
            "certain",
            "assumes",
        ];
        expected.sort_unstable();
        let mut found_keys = keys(&json);
        found_keys.sort_unstable();
        assert_eq!(found_keys, expected);
        let mut side = keys(&json["white_to_move"]);
        side.sort_unstable();
        let mut expected =
            ["legal", "win", "draw", "loss", "longest_win_moves", "longest_win_fen", "histogram"];
        expected.sort_unstable();
        assert_eq!(side, expected);
        assert_eq!(json["metric"], "dtm");
        assert_eq!(json["white_to_move"]["longest_win_moves"], 10);
        assert!(json["black_to_move"]["longest_win_moves"].is_null());
        assert_eq!(json["black_to_move"]["histogram"].as_array().unwrap().last().unwrap()[0], 0);
        assert_eq!(json["en_passant"]["white_to_move"]["legal"], 0);
        assert!(to_json(&[found.clone(), found]).unwrap().is_array());
    }
}
