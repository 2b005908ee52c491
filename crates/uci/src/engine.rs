//! The conversation with a user interface.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::Instant;

use hoffman::Tablebase;
use hoffman::shakmaty::fen::Fen;
use hoffman::shakmaty::uci::UciMove;
use hoffman::shakmaty::{Chess, FromSetup, Position as _, PositionError};

use crate::command::{Go, UciCommand};
use crate::judgement::{JudgedMove, Judgement, Score, add_line, castling_mode, judge, key};
use crate::options::{EngineOptions, OptionChange};

/// A chess engine that plays by tables.
#[derive(Debug)]
pub struct Engine {
    options: EngineOptions,
    /// The tables, once they are needed.
    tables: Option<Tablebase>,
    /// What is thought about; none if what was sent is no position.
    position: Option<Chess>,
    /// The positions of the game before this one.
    seen: HashSet<String>,
    /// What is said when the user interface asks for it.
    withheld: Option<String>,
}

impl Engine {
    /// An engine with the tables of these folders, and the Syzygy tables of those.
    pub fn new(folders: Vec<PathBuf>, syzygy: Vec<PathBuf>) -> Engine {
        Engine {
            options: EngineOptions::new(folders, syzygy),
            tables: None,
            position: Some(Chess::default()),
            seen: HashSet::new(),
            withheld: None,
        }
    }

    /// Holds a conversation until `quit` or the end of the input.
    ///
    /// # Errors
    /// The streams.
    pub fn run(mut self, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            if input.read_until(b'\n', &mut bytes)? == 0 {
                return Ok(());
            }
            match UciCommand::read(&String::from_utf8_lossy(&bytes)) {
                Some(UciCommand::Quit) => return Ok(()),
                Some(command) => self.obey(command, &mut output)?,
                None => {}
            }
            output.flush()?;
        }
    }

    fn obey(&mut self, command: UciCommand, output: &mut impl Write) -> io::Result<()> {
        match command {
            UciCommand::Uci => self.introduce(output),
            UciCommand::IsReady => writeln!(output, "readyok"),
            UciCommand::NewGame => {
                self.seen.clear();
                Ok(())
            }
            UciCommand::SetOption { name, value } => self.set(&name, value.as_deref(), output),
            UciCommand::Position { fen, moves } => self.set_up(fen.as_deref(), &moves, output),
            UciCommand::Go(go) => self.go(&go, output),
            UciCommand::Stop | UciCommand::PonderHit => match self.withheld.take() {
                Some(best) => writeln!(output, "{best}"),
                None => Ok(()),
            },
            UciCommand::Debug(_) | UciCommand::Quit => Ok(()),
        }
    }

    fn introduce(&self, output: &mut impl Write) -> io::Result<()> {
        writeln!(output, "id name Hoffman {}", env!("CARGO_PKG_VERSION"))?;
        writeln!(output, "id author the authors of Hoffman")?;
        for line in self.options.describe() {
            writeln!(output, "{line}")?;
        }
        writeln!(output, "uciok")
    }

    fn set(&mut self, name: &str, value: Option<&str>, output: &mut impl Write) -> io::Result<()> {
        match self.options.set(name, value) {
            OptionChange::Done => Ok(()),
            OptionChange::Tables => {
                self.tables = None;
                Ok(())
            }
            OptionChange::Refused(reason) => writeln!(output, "info string {reason}"),
        }
    }

    /// Sets up a position and plays moves. Where they are not legal there is no position any more:
    /// an answer to another one would be a wrong move for whoever asks.
    fn set_up(
        &mut self,
        fen: Option<&str>,
        moves: &[String],
        output: &mut impl Write,
    ) -> io::Result<()> {
        self.position = None;
        self.seen.clear();
        let mut position = match fen.map_or_else(|| Ok(Chess::default()), read_fen) {
            Ok(position) => position,
            Err(problem) => return writeln!(output, "info string {problem}"),
        };
        for text in moves {
            let played = text.parse().map(|uci: UciMove| uci.to_move(&position));
            let Ok(Ok(m)) = played else {
                return writeln!(output, "info string {text} is no legal move");
            };
            self.seen.insert(key(&position));
            position.play_unchecked(m);
        }
        self.position = Some(position);
        Ok(())
    }

    fn go(&mut self, go: &Go, output: &mut impl Write) -> io::Result<()> {
        // Whoever asks anew does not wait for the old answer.
        self.withheld = None;
        let begun = Instant::now();
        let Some(position) = self.position.clone() else {
            writeln!(output, "info string there is no position")?;
            return self.answer(go, None, output);
        };
        let tables = match self.tables() {
            Ok(tables) => tables,
            Err(problem) => {
                writeln!(output, "info string {problem}")?;
                hoffman::OpenOptions::new().open().map_err(io::Error::other)?
            }
        };

        // A time beyond all clocks is none.
        let until = go.time(position.turn().is_white()).and_then(|time| begun.checked_add(time));
        let Judgement { mut moves, own } = judge(&tables, &position, &self.seen, until);
        if moves.is_empty() {
            let score = if position.is_check() { "mate 0" } else { "cp 0" };
            writeln!(output, "info depth 0 score {score}")?;
        }

        let hits = moves.iter().filter(|judged| judged.score.is_some()).count();
        let chosen = moves.iter().any(|judged| go.moves.contains(&judged.uci));
        if chosen {
            moves.retain(|judged| go.moves.contains(&judged.uci));
        }
        let shown = moves.len().min(self.options.lines);

        for judged in &mut moves[..shown] {
            add_line(&tables, &position, judged, until);
        }
        self.show(&moves[..shown], hits, output)?;
        let in_time = until.is_none_or(|until| Instant::now() < until);
        if let Some(first) = moves.first().filter(|_| !chosen) {
            Engine::explain(first, own, output)?;
        }
        self.warn(&tables, &position, (&moves, in_time), output)?;
        self.answer(go, moves.first(), output)
    }

    /// A line for each of the best moves.
    fn show(&self, moves: &[JudgedMove], hits: usize, output: &mut impl Write) -> io::Result<()> {
        for (number, judged) in moves.iter().enumerate() {
            let Some(score) = judged.score else { continue };
            write!(output, "info depth 1 seldepth {}", judged.line.len() + 1)?;
            if self.options.lines > 1 {
                write!(output, " multipv {}", number + 1)?;
            }
            write!(output, " {score} nodes {hits} tbhits {hits} pv {}", judged.uci)?;
            for m in &judged.line {
                write!(output, " {m}")?;
            }
            writeln!(output)?;
        }
        Ok(())
    }

    /// Says what is known of the position where the best move is not known to be worth that.
    fn explain(first: &JudgedMove, own: Option<Score>, output: &mut impl Write) -> io::Result<()> {
        let Some(own) = own.filter(|&own| first.score != Some(own)) else { return Ok(()) };
        writeln!(output, "info string the position has {own}; which move keeps that is not known")
    }

    /// Says what the score does not say.
    fn warn(
        &self,
        tables: &Tablebase,
        position: &Chess,
        (moves, in_time): (&[JudgedMove], bool),
        output: &mut impl Write,
    ) -> io::Result<()> {
        let problem = moves.iter().find_map(|judged| judged.problem.as_deref());
        if let Some(problem) = problem {
            writeln!(output, "info string not every move is known: {problem}")?;
        } else if moves.iter().any(|judged| judged.score.is_none()) {
            let why = "a table that another one leans on is missing, or proves less than a result";
            writeln!(output, "info string not every move is known: {why}")?;
        }
        if !self.options.fifty_moves || !in_time {
            return Ok(());
        }
        if let Ok(report) = tables.report(position)
            && report.hoffman.fifty_move
        {
            let line = match report.hoffman.line_in_time {
                Some(true) => "; the line shown comes in time",
                _ => "",
            };
            let clock = report.hoffman.clock;
            writeln!(
                output,
                "info string the fifty-move rule may come first, clock {clock}{line}"
            )?;
        }
        Ok(())
    }

    /// Names the best move, now or when it is asked for.
    fn answer(
        &mut self,
        go: &Go,
        best: Option<&JudgedMove>,
        output: &mut impl Write,
    ) -> io::Result<()> {
        let text = match best {
            None => "bestmove (none)".to_owned(),
            Some(best) => match best.line.first() {
                Some(reply) => format!("bestmove {} ponder {reply}", best.uci),
                None => format!("bestmove {}", best.uci),
            },
        };
        if go.waits {
            self.withheld = Some(text);
            return Ok(());
        }
        writeln!(output, "{text}")
    }

    /// The tables, opened when they are first needed.
    fn tables(&mut self) -> Result<Tablebase, hoffman::ProbeError> {
        if let Some(tables) = &self.tables {
            return Ok(tables.clone());
        }
        let tables = self.options.opening().open()?;
        self.tables = Some(tables.clone());
        Ok(tables)
    }
}

/// Reads a position, also one that no game leads to.
fn read_fen(text: &str) -> Result<Chess, String> {
    let fen: Fen = text.parse().map_err(|error| format!("'{text}' is no FEN: {error}"))?;
    let setup = fen.into_setup();
    let mode = castling_mode(&setup);
    Chess::from_setup(setup, mode)
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .or_else(PositionError::ignore_invalid_castling_rights)
        .or_else(PositionError::ignore_invalid_ep_square)
        .map_err(|error| format!("'{text}' is no possible position: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the engine says to some lines.
    fn talk(folder: &std::path::Path, lines: &str) -> String {
        let mut output = Vec::new();
        let engine = Engine::new(vec![folder.to_owned()], Vec::new());
        engine.run(lines.as_bytes(), &mut output).expect("bytes can be read and written");
        String::from_utf8(output).expect("it is text")
    }

    fn queen_tables() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let ending = "KQvK".parse().expect("an ending");
        let options = hoffman::Options::new(folder.path());
        hoffman::build(&[ending], &options, &mut |_| {}).expect("it can be built");
        folder
    }

    #[test]
    fn the_best_move_mates_soonest_and_waits_when_told_to() {
        let folder = queen_tables();
        let position = "position fen 8/8/8/8/8/1k6/7q/K7 b - - 0 1\n";
        let out = talk(folder.path(), &format!("{position}go infinite\nisready\nstop\nstop\n"));
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines[0].starts_with("info depth 1 seldepth 1 score mate 1 "), "{out}");
        assert_eq!(lines[1], "readyok", "{out}");
        assert!(lines[2].starts_with("bestmove h2"), "{out}");
        assert_eq!(lines.len(), 3, "{out}");
    }

    #[test]
    fn without_tables_a_legal_move_is_played_and_it_is_said_why() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = talk(folder.path(), "position startpos moves e2e4\ngo depth 3\n");
        assert!(out.contains("info string not every move is known: "), "{out}");
        let best = out.lines().last().and_then(|line| line.strip_prefix("bestmove "));
        let best: UciMove = best.expect("a move").parse().expect("a move");
        let mut position = Chess::default();
        position.play_unchecked(UciMove::from_ascii(b"e2e4").unwrap().to_move(&position).unwrap());
        assert!(best.to_move(&position).is_ok(), "{out}");
    }

    #[test]
    fn nonsense_is_answered_with_a_line_and_changes_nothing() {
        let folder = queen_tables();
        let nonsense = "position fen 8/8 w\nposition fen 9k/8 w - -\nposition\n\
            position fen kkkkkkkk/8/8/8/8/8/8/8 w - - 0 1\nsetoption name MultiPV value -1\ngo searchmoves zz\n";
        let out = talk(folder.path(), nonsense);
        assert_eq!(out.matches("info string").count(), 6, "{out}");
        assert!(out.ends_with("bestmove (none)\n"), "{out}");
    }

    #[test]
    fn moves_to_regard_that_do_not_exist_are_passed_over() {
        let folder = queen_tables();
        let mate = "position fen 8/8/8/8/8/1k6/7q/K7 b - - 0 1\n";
        let out = talk(folder.path(), &format!("{mate}go searchmoves a1a2\n"));
        assert!(out.contains("score mate 1 "), "{out}");
        let out = talk(folder.path(), &format!("{mate}go searchmoves h2h3\n"));
        assert!(out.contains("\nbestmove h2h3"), "{out}");
    }

    #[test]
    fn a_proven_draw_is_played_before_what_is_not_known() {
        let folder = queen_tables();
        // King takes rook is drawn; no table has the rook's ending.
        let out = talk(folder.path(), "position fen 8/8/8/8/8/1r6/K7/7k w - - 0 1\ngo\n");
        assert!(out.starts_with("info depth 1 seldepth 1 score cp 0 "), "{out}");
        assert!(out.ends_with("\nbestmove a2b3\n"), "{out}");
    }

    #[test]
    fn without_time_the_best_move_comes_without_its_line() {
        let folder = queen_tables();
        let position = "position fen 8/8/8/3k4/8/8/1Q6/K7 w - - 0 1\n";
        let (whole, short) = (format!("{position}go\n"), format!("{position}go movetime 0\n"));
        let [whole, short] = [whole, short].map(|lines| talk(folder.path(), &lines));
        let line = |text: &str| -> Vec<String> {
            let (_, line) = text.lines().next().unwrap().split_once(" pv ").expect("a line");
            line.split(' ').map(str::to_owned).collect()
        };
        assert_eq!(line(&short), line(&whole)[..1]);
        assert!(line(&whole).len() > 10, "{whole}");
        let ended = short.lines().last().expect("an answer").to_owned();
        assert_eq!(ended, format!("bestmove {}", line(&whole)[0]));
        // With all the time that there is nothing is cut off.
        let long = talk(folder.path(), &format!("{position}go wtime 9000000000\n"));
        assert_eq!(line(&long).len(), line(&whole).len(), "{long}");
    }

    #[test]
    fn a_mated_side_has_no_move() {
        let folder = queen_tables();
        let out = talk(folder.path(), "position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1\ngo\n");
        assert_eq!(out, "info depth 0 score mate 0\nbestmove (none)\n");
    }
}
