//! `hoffman solve`: one position, from whatever tables are there or have to be built, or proven
//! without any.

use std::io::{IsTerminal as _, stderr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hoffman::{
    Aim, AsPosition as _, Certification, Color, Effort, Event, Explanation, GameEnd, Goal,
    MEN_OF_TABLES, Moves, Options, ProveOptions, Proved, ProvedMove, Tablebase, Unfinished, Value,
    Variant, WhatIf, proved_in_words,
};
use serde_json::json;

use crate::RunEnd;
use crate::args::{SolveArgs, expect_folders};
use crate::commands::explain::{self, ShownExplanation};
use crate::commands::write_control::ControlFiles;
use crate::output::{Misuse, note, print, print_line, write_picture};

/// How often the state of a proof is told on a terminal, and elsewhere.
const SHOWN_EVERY: Duration = Duration::from_secs(1);
const LOGGED_EVERY: Duration = Duration::from_secs(15);

/// Answers a position.
pub(crate) fn run(args: &SolveArgs) -> anyhow::Result<RunEnd> {
    expect_different_files(args)?;
    let fen = args.fen.join(" ");
    let is_asked = args.outcome
        || args.certificate.is_some()
        || args.explain
        || args.resume.is_some()
        || args.one_by_one
        || args.time.is_some()
        || args.what_if.is_given()
        || !args.syzygy.is_empty();
    if is_asked || !args.tables && is_to_be_proven(args, &fen)? {
        prove(args, &fen)
    } else {
        tabulate(args, &fen)
    }
}

/// Refuses to write one file over another one.
fn expect_different_files(args: &SolveArgs) -> anyhow::Result<()> {
    let files = [
        ("--status", &args.work.status),
        ("--resume", &args.resume),
        ("--certificate", &args.certificate),
        ("--picture", &args.picture),
    ];
    for (at, (option, file)) in files.iter().enumerate() {
        let same = files[..at].iter().find(|(_, other)| file.is_some() && other == file);
        if let (Some((other, _)), Some(file)) = (same, file) {
            let file = file.display();
            return Err(Misuse(format!("{other} and {option} name the same file {file}")).into());
        }
    }
    Ok(())
}

/// Whether a position has more men than tables are made for, and none at hand has it.
fn is_to_be_proven(args: &SolveArgs, fen: &str) -> anyhow::Result<bool> {
    let men = fen.as_position(Variant::Normal).map(|position| position.men().count());
    // What is wrong with a position is told by the tables, as ever.
    if men.map_or(true, |men| men <= MEN_OF_TABLES) {
        return Ok(false);
    }
    let known = Tablebase::open(args.folder.path()?).and_then(|tables| tables.probe(fen));
    Ok(known.is_err())
}

/// Builds what is missing and answers.
fn tabulate(args: &SolveArgs, fen: &str) -> anyhow::Result<RunEnd> {
    let options = args.work.options(Some(args.folder.path()?))?;
    let bar = args.work.bar(false)?;
    let mut answered = Ok(());
    let solved = hoffman::solve(fen, &options, &mut |event| match event {
        // The answer comes first, files later.
        Event::Solved(tables) => bar.suspend(|| answered = answer(&tables, fen, args.json)),
        event => bar.tell(event),
    });
    let solved = bar.end(solved);
    // An answer that could not be given counts more than a file that could not be written.
    answered?;
    solved?;
    Ok(RunEnd::Done)
}

fn answer(tables: &Tablebase, fen: &str, json: bool) -> anyhow::Result<()> {
    let report = tables.report(fen)?;
    if json { print_line(&serde_json::to_string(&report)?) } else { print(&report.to_text()) }
}

/// What is asked under assumptions.
struct WhatIfAsked {
    what_if: Vec<WhatIf>,
    goal: Option<Goal>,
    files: Option<ControlFiles>,
}

impl WhatIfAsked {
    /// With a side to move.
    fn new(args: &SolveArgs, fen: &str, turn: Color) -> anyhow::Result<WhatIfAsked> {
        let mut what_if = args.what_if.all(turn)?;
        let goal = args.what_if.goal(turn);
        if args.explain && (goal.is_some() || !what_if.is_empty()) {
            anyhow::bail!("--explain is of chess alone, without assumptions and goals");
        }
        if args.distance && goal.as_ref().is_some_and(|goal| goal.aim == Aim::Draw) {
            anyhow::bail!("--distance tells when a win is won, and the goal is a draw");
        }
        let mut files = None;
        if let Some(dir) = &args.what_if.write_control {
            let reaching = goal.as_ref().map(Goal::assumes).unwrap_or_default();
            let all: Vec<WhatIf> = what_if.iter().cloned().chain(reaching).collect();
            let control = ControlFiles::new(dir, fen, &all)?;
            what_if.extend(control.adds.clone());
            files = Some(control);
        }
        Ok(WhatIfAsked { what_if, goal, files })
    }

    /// All that is assumed, in words.
    fn words(&self) -> Vec<String> {
        let reaching = self.goal.as_ref().map(Goal::assumes).unwrap_or_default();
        self.what_if.iter().chain(&reaching).map(ToString::to_string).collect()
    }

    /// With all else that is asked.
    fn options(&self, args: &SolveArgs) -> ProveOptions {
        let asked = ProveOptions::new().moves(args.moves).distance(args.distance);
        let asked = asked.explanation(args.explain).one_by_one(args.one_by_one);
        let asked = self.what_if.iter().cloned().fold(asked, ProveOptions::assume);
        let asked = self.goal.iter().cloned().fold(asked, ProveOptions::goal);
        let asked = args.certificate.iter().fold(asked, ProveOptions::certificate);
        let asked = args.resume.iter().fold(asked, ProveOptions::resume);
        args.time.into_iter().fold(asked, ProveOptions::time)
    }
}

/// Refuses a file that could not be written when the work is done.
fn expect_folder_of(file: &Path) -> anyhow::Result<()> {
    match file.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => {
            anyhow::bail!("cannot write {}: there is no folder for it", file.display())
        }
        _ => Ok(()),
    }
}

/// Proves the result, or as much of it as time and memory allow; done if it is the whole.
fn prove(args: &SolveArgs, fen: &str) -> anyhow::Result<RunEnd> {
    if let Some(option) = args.work.of_tables() {
        anyhow::bail!("{option} says how tables are made, and the position is proven without any");
    }
    let options = args.work.options(args.folder.existing()?)?;
    expect_folders(&args.syzygy)?;
    args.picture.iter().try_for_each(|file| expect_folder_of(file))?;
    let options = args.syzygy.iter().fold(options, Options::syzygy);
    let position = fen.as_position(Variant::Normal)?.into_owned();
    let turn = position.turn;
    let every = if stderr().is_terminal() { SHOWN_EVERY } else { LOGGED_EVERY };
    let asked = WhatIfAsked::new(args, fen, turn)?;
    let words = asked.words();
    let assumed = if words.is_empty() { "" } else { " under what is assumed" };
    let mut last = (Instant::now(), 0);
    let mut tell = |effort: &Effort| {
        if last.0.elapsed() >= every {
            let speed = speed(effort, last);
            last = (Instant::now(), looked_at(effort));
            let (result, decided) = (proved_in_words(effort.assumed, turn), effort.decided);
            let known = format!("{result}{assumed}; {decided} moves decided");
            note(&format!("{known}, {}, {speed}; time left not known", extent(effort)));
        }
    };

    let proved = hoffman::prove(fen, &options, &asked.options(args), &mut tell)?;

    let san = |m: &hoffman::Move| position.san(m, Variant::Normal).unwrap_or_else(|| m.uci());
    let end = position.end(Variant::Normal);
    let of = Of { fen: position.fen(), turn, goal: asked.goal.as_ref(), end };
    let shown = ShownProof { of, proved: &proved, assumed: &words, san: &san };
    let explanation = proved.explanation.as_ref().filter(|_| end.is_none());
    let explained =
        explanation.map(|explanation| ShownExplanation { position: &position, explanation });
    if args.json {
        let mut answer = shown.to_json();
        answer["hoffman"]["explanation"] =
            explained.as_ref().map_or(serde_json::Value::Null, ShownExplanation::to_json);
        print_line(&answer.to_string())?;
    } else {
        print(&shown.to_text())?;
        let text = |why| hoffman_pgn::explained(&position, proved.value, why);
        explanation.into_iter().try_for_each(|why| print(&text(why)))?;
    }
    draw_explained(args, &position, explanation, end)?;

    proved.notices.iter().for_each(|notice| note(notice));
    tell_of_certificate(args, &proved);
    if let Some(files) = &asked.files {
        files.write()?;
    }
    Ok(RunEnd::of(proved.is_decided()))
}

/// Draws the squares of an explanation, or says why there is none.
fn draw_explained(
    args: &SolveArgs,
    position: &hoffman::Position,
    explanation: Option<&Explanation>,
    end: Option<GameEnd>,
) -> anyhow::Result<()> {
    match (&args.picture, explanation) {
        (Some(file), Some(explanation)) => {
            write_picture(file, &explain::draw(position, explanation))?;
        }
        (_, None) if args.explain => note(match end {
            Some(_) => "nothing to explain: the game is over",
            None => "nothing to explain, for want of a proof or of memory",
        }),
        _ => {}
    }
    Ok(())
}

/// Why a certificate that was asked for is not there.
fn tell_of_certificate(args: &SolveArgs, proved: &Proved) {
    let Some(file) = &args.certificate else { return };
    match proved.certificate {
        Certification::Written => {}
        Certification::TooLarge { positions } => note(&format!(
            "{}: not written, as the proof has more than {positions} positions, too many for the memory",
            file.display()
        )),
        // What is won under assumptions may show nothing of chess.
        _ if proved.value == Value::Unknown && proved.assumed != Value::Unknown => note(&format!(
            "{}: not written, as what is proven shows nothing of chess",
            file.display()
        )),
        _ => note(&format!("{}: not written, for want of a proof", file.display())),
    }
}

/// How many positions were evaluated, or looked at one by one.
fn looked_at(effort: &Effort) -> u64 {
    if effort.one_by_one { effort.open as u64 } else { effort.positions }
}

/// The same a second, since there were so many.
fn speed(effort: &Effort, (since, before): (Instant, u64)) -> String {
    let positions = looked_at(effort).saturating_sub(before) as f64;
    let a_second = positions / since.elapsed().as_secs_f64().max(1e-3);
    let (number, unit) = match a_second {
        1e7.. => (a_second / 1e6, "million "),
        _ => (a_second, ""),
    };
    format!("{number:.0} {unit}positions a second")
}

fn extent(effort: &Effort) -> String {
    if effort.one_by_one {
        let Effort { open, known, .. } = effort;
        let seen = if open == known {
            format!("all {open} positions that can arise")
        } else {
            format!("{open} positions of {known} known")
        };
        let (bytes, seconds) = (effort.bytes >> 20, effort.time.as_secs_f64());
        return format!("{seen} looked at one by one, {bytes} MB, {seconds:.1} s");
    }
    let slices = if effort.open == 1 { "slice" } else { "slices" };
    format!(
        "{} {slices} opened of {} known, {} million positions evaluated, {} MB, {:.1} s",
        effort.open,
        effort.known,
        effort.positions / 1_000_000,
        effort.bytes >> 20,
        effort.time.as_secs_f64(),
    )
}

/// With which move a win ends.
pub(super) fn in_moves((least, most): (Moves, Moves)) -> String {
    match (least.0, most.0) {
        (1, 1) => "in 1 move".to_owned(),
        (least, most) if least == most => format!("in {most} moves"),
        (least, most) => format!("in at least {least} and at most {most} moves"),
    }
}

/// What was asked.
struct Of<'s> {
    fen: String,
    turn: Color,
    goal: Option<&'s Goal>,
    end: Option<GameEnd>,
}

/// What is told of a proof.
struct ShownProof<'s> {
    of: Of<'s>,
    proved: &'s Proved,
    /// What was assumed, in words.
    assumed: &'s [String],
    san: &'s dyn Fn(&hoffman::Move) -> String,
}

impl ShownProof<'_> {
    fn result(&self, value: Value) -> String {
        proved_in_words(value, self.of.turn)
    }

    fn to_text(&self) -> String {
        let Proved { moves, effort, .. } = self.proved;
        let width = moves.iter().map(|proved| (self.san)(&proved.m).len()).max().unwrap_or(0);
        let lines = moves.iter().map(|ProvedMove { m, assumed, .. }| {
            let said = match assumed {
                Value::Unknown => "not known".to_owned(),
                value => self.result(*value),
            };
            format!("  {:width$}  {said}\n", (self.san)(m))
        });
        let lines: String = lines.collect();
        let goal = self.goal().map_or_else(String::new, |goal| format!("{goal}\n"));
        let (fen, proven, tables) = (&self.of.fen, self.proven(), self.tables());
        format!("{fen}\n{proven}\n{goal}({})\n{tables}\n{lines}", extent(effort))
    }

    /// The tables that the proof rests on, in a line.
    fn tables(&self) -> String {
        let name = |path: &PathBuf| path.file_name().unwrap_or_default().display().to_string();
        let names: Vec<String> = self.proved.tables.iter().map(name).collect();
        match names.len() {
            0 => String::new(),
            1 => format!("(1 table at hand used: {})\n", names[0]),
            count => format!("({count} tables at hand used: {})\n", names.join(", ")),
        }
    }

    /// Whether the goal is reached, and what that tells of chess.
    fn goal(&self) -> Option<String> {
        let (goal, reached) = (self.of.goal?, self.proved.goal?);
        let word = |reached: bool| if reached { "yes" } else { "no" };
        let said = match (reached.assumed, reached.in_chess) {
            (None, _) => "not known".to_owned(),
            (Some(is_reached), Some(_)) => format!("{}, proven", word(is_reached)),
            (Some(is_reached), None) => format!("{} if so, not known in chess", word(is_reached)),
        };
        Some(format!("{goal}: {said}"))
    }

    /// What is proven, under what, and what follows of chess.
    fn proven(&self) -> String {
        let Proved { value, assumed, mate, .. } = self.proved;
        let proven = match assumed {
            Value::Unknown => "nothing is proven".to_owned(),
            value if value.wdl().is_some() => {
                let when = mate.map_or_else(String::new, |mate| format!(" {}", in_moves(mate)));
                format!("{}{when}, proven", self.result(*value))
            }
            value => format!("{}, and no more is proven", self.result(*value)),
        };
        if self.assumed.is_empty() {
            let result = self.result(*value);
            return match self.of.end {
                Some(GameEnd::Checkmate) => format!("checkmate: {result}"),
                Some(GameEnd::Stalemate) => format!("stalemate: {result}"),
                _ => proven,
            };
        }
        let assumed = self.assumed.join("\n  ");
        let of_chess = match value {
            Value::Unknown => "nothing follows".to_owned(),
            value => self.result(*value),
        };
        format!("{proven} if\n  {assumed}\nin chess: {of_chess}")
    }

    fn to_json(&self) -> serde_json::Value {
        let Proved { value, assumed, mate, moves, effort, unfinished, tables, .. } = self.proved;
        let moves = moves.iter().map(|ProvedMove { m, value, assumed, .. }| {
            json!({
                "uci": m.uci(),
                "san": (self.san)(m),
                "category": category(value.negate(), assumed.negate()),
                "hoffman": {
                    "bound": bound(value.negate(), self.of.turn.other()),
                    "assumed": word(assumed.negate()),
                },
            })
        });

        let Effort { one_by_one, open, known, positions, bytes, time, .. } = effort;
        let goal = self.of.goal.zip(self.proved.goal).map(|(goal, reached)| {
            json!({
                "is": goal.to_string(),
                "assumed": reached.assumed,
                "reached": reached.in_chess,
            })
        });

        json!({
            "category": category(*value, *assumed),
            "checkmate": self.of.end == Some(GameEnd::Checkmate),
            "stalemate": self.of.end == Some(GameEnd::Stalemate),
            "moves": moves.collect::<Vec<_>>(),
            "hoffman": {
                "bound": bound(*value, self.of.turn),
                "assumes": self.assumed,
                "assumed": word(*assumed),
                "fen": self.of.fen,
                "goal": goal,
                "moves_at_least": mate.map(|mate| mate.0.0),
                "moves_at_most": mate.map(|mate| mate.1.0),
                "tables": tables.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
                "one_by_one": one_by_one,
                "slices": if *one_by_one { json!(null) } else { json!(open) },
                "known": known,
                "positions": positions,
                "bytes": bytes,
                "seconds": time.as_secs_f64(),
                "unfinished": unfinished.map(why),
            },
        })
    }
}

/// Why something is open, in a word.
fn why(unfinished: Unfinished) -> &'static str {
    match unfinished {
        Unfinished::Memory => "memory",
        Unfinished::Time => "time",
        Unfinished::Cancelled => "cancelled",
        _ => "other",
    }
}

/// The words of the Lichess tablebase server, of the position and of those behind its moves.
fn category(value: Value, assumed: Value) -> &'static str {
    match (word(value), word(assumed)) {
        // What holds under assumptions alone is no more than likely.
        ("unknown", "win") => "maybe-win",
        ("unknown", "loss") => "maybe-loss",
        (proven, _) => proven,
    }
}

fn word(value: Value) -> &'static str {
    match value {
        Value::Win { .. } => "win",
        Value::Draw => "draw",
        Value::Loss { .. } => "loss",
        _ => "unknown",
    }
}

/// What a value is of the truth.
fn bound(value: Value, turn: Color) -> &'static str {
    match value {
        Value::AtLeastDraw => turn.fold_wb("white-at-least", "white-at-most"),
        Value::AtMostDraw => turn.fold_wb("white-at-most", "white-at-least"),
        value if value.wdl().is_some() => "exact",
        _ => "none",
    }
}
