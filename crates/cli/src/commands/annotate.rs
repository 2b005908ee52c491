//! `hoffman annotate`: what tables say of the moves of games in PGN.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use hoffman::shakmaty::fen::Fen;
use hoffman::shakmaty::{CastlingMode, Chess, Position as _, san::SanPlus};
use hoffman::{Change, Judged, Move, Tablebase, Value};
use pgn_reader::{Nag, RawComment, RawTag, Reader, Skip, Visitor};

use crate::Outcome;
use crate::args::AnnotateArgs;
use crate::commands::tables;
use crate::interrupt;
use crate::output::{complain, is_broken_pipe};
use crate::pgn::{Movetext, brief, tag};

/// The longest tags and comments that are held at once, in bytes.
const HELD: usize = 64 << 10;

/// A bad move, a result worse by half a point.
const MISTAKE: u8 = 2;
/// A result worse by a full point.
const BLUNDER: u8 = 4;
/// The only move.
const ONLY: u8 = 7;

/// Annotates the games of files, one after the other.
pub(crate) fn run(args: &AnnotateArgs) -> anyhow::Result<Outcome> {
    let tables = tables::tablebase(&args.tables, &args.at_hand)?;
    let mut out = BufWriter::new(io::stdout());
    let mut good = true;
    for file in &args.files {
        let annotated = if file == Path::new("-") {
            annotate(io::stdin().lock(), "standard input", &tables, &mut out)
        } else {
            let name = file.display().to_string();
            let opened = File::open(file).with_context(|| format!("cannot open {name}"));
            opened.and_then(|opened| annotate(opened, &name, &tables, &mut out))
        };
        match annotated {
            Ok(all) => good &= all,
            Err(error) if is_broken_pipe(&error) => return Err(error),
            Err(error) => {
                complain(&error);
                good = false;
            }
        }
    }
    out.flush().context("cannot write to standard output")?;
    Ok(Outcome::of(good))
}

/// Annotates the games of one file. A game that cannot be read is said and left out; whether none
/// was.
fn annotate(
    input: impl Read,
    name: &str,
    tables: &Tablebase,
    out: &mut impl io::Write,
) -> anyhow::Result<bool> {
    let reader = Reader::build(input);
    let mut reader =
        reader.set_supported_tag_line_length(HELD).set_supported_comment_length(HELD).finish();
    let mut games = Games { tables };
    let mut good = true;
    for number in 1_u64.. {
        let game = reader.read_game(&mut games);
        let text = match game {
            Ok(None) => break,
            Ok(Some(game)) => game.and_then(Game::text),
            // Where a game ends is not known then.
            Err(error) => return Err(anyhow!(error).context(format!("{name}, game {number}"))),
        };
        match text {
            Ok(text) => {
                // Games are separated by empty lines.
                let gap = if number > 1 { "\n" } else { "" };
                write!(out, "{gap}{text}").context("cannot write to standard output")?;
            }
            Err(error) => {
                complain(&error.context(format!("{name}, game {number}")));
                good = false;
            }
        }
        if interrupt::cancel().is_cancelled() {
            bail!("{name}: interrupted after game {number}");
        }
    }
    Ok(good)
}

/// Reads games.
struct Games<'t> {
    tables: &'t Tablebase,
}

/// A game as it is read.
struct Game<'t> {
    tables: &'t Tablebase,
    tags: Vec<(String, String)>,
    position: Chess,
    text: Movetext,
    /// A comment of the tables that comes behind the signs of its move.
    said: Option<String>,
    /// The parts of a long comment.
    comment: String,
    result: Option<String>,
    moves: usize,
}

impl<'t> Visitor for Games<'t> {
    type Tags = Vec<(String, String)>;
    type Movetext = Game<'t>;
    type Output = anyhow::Result<Game<'t>>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Self::Tags> {
        ControlFlow::Continue(Vec::new())
    }

    fn tag(
        &mut self,
        tags: &mut Self::Tags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        let name = String::from_utf8_lossy(name).trim().to_owned();
        tags.push((name, value.decode_utf8_lossy().into_owned()));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Self::Output, Self::Movetext> {
        match Game::begin(self.tables, tags) {
            Ok(game) => ControlFlow::Continue(game),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }

    fn san(&mut self, game: &mut Self::Movetext, san: SanPlus) -> ControlFlow<Self::Output> {
        flow(game.play(san))
    }

    fn nag(&mut self, game: &mut Self::Movetext, nag: Nag) -> ControlFlow<Self::Output> {
        game.text.nag(nag.into());
        ControlFlow::Continue(())
    }

    fn partial_comment(
        &mut self,
        game: &mut Self::Movetext,
        comment: RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        game.comment.push_str(&String::from_utf8_lossy(comment.as_bytes()));
        ControlFlow::Continue(())
    }

    fn comment(
        &mut self,
        game: &mut Self::Movetext,
        comment: RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        game.say();
        let mut text = std::mem::take(&mut game.comment);
        text.push_str(&String::from_utf8_lossy(comment.as_bytes()));
        game.text.comment(&text);
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, game: &mut Self::Movetext) -> ControlFlow<Self::Output, Skip> {
        game.say();
        game.text.open();
        ControlFlow::Continue(Skip(false))
    }

    fn end_variation(&mut self, game: &mut Self::Movetext) -> ControlFlow<Self::Output> {
        if game.text.close() {
            return ControlFlow::Continue(());
        }
        ControlFlow::Break(Err(anyhow!("a variation ends that did not begin")))
    }

    fn outcome(
        &mut self,
        game: &mut Self::Movetext,
        outcome: hoffman::shakmaty::Outcome,
    ) -> ControlFlow<Self::Output> {
        if !game.text.is_inside() {
            game.result = Some(outcome.to_string());
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, game: Self::Movetext) -> Self::Output {
        Ok(game)
    }
}

fn flow<'t>(result: anyhow::Result<()>) -> ControlFlow<anyhow::Result<Game<'t>>> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(Err(error)),
    }
}

impl<'t> Game<'t> {
    fn begin(tables: &'t Tablebase, tags: Vec<(String, String)>) -> anyhow::Result<Game<'t>> {
        let named = |name: &str| {
            let mut tags = tags.iter();
            tags.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        };
        let usual = ["", "standard", "chess", "normal", "from position"];
        if let Some(variant) = named("Variant")
            && !usual.contains(&variant.to_lowercase().as_str())
        {
            bail!("it is a game of {variant}, not of chess");
        }
        let mut number = 1;
        let position = match named("FEN") {
            Some(fen) => {
                let parsed: Fen =
                    fen.parse().map_err(|error| anyhow!("the tag FEN has '{fen}': {error}"))?;
                number = parsed.as_setup().fullmoves.get();
                let position = parsed.into_position(CastlingMode::Standard);
                position.map_err(|error| anyhow!("the tag FEN has '{fen}': {error}"))?
            }
            None => Chess::default(),
        };
        let text = Movetext::starting(position.turn(), number);
        Ok(Game {
            tables,
            tags,
            position,
            text,
            said: None,
            comment: String::new(),
            result: None,
            moves: 0,
        })
    }

    /// Plays a move; those of variations are taken over as they are.
    fn play(&mut self, san: SanPlus) -> anyhow::Result<()> {
        self.say();
        if self.text.is_inside() {
            self.text.play(&san.to_string());
            return Ok(());
        }
        let place = self.text.next_number();
        let played = san.san.to_move(&self.position);
        let played = played.map_err(|error| anyhow!("{place} {san} cannot be played: {error}"))?;
        // Tables know no castling; a right to it is refused before.
        let m = Move::try_from(played).ok();
        let judged = Judged::of(self.tables, &self.position)?;
        self.text.play(&san.to_string());
        self.moves += 1;
        if let (Some(judged), Some(m)) = (judged, m) {
            self.judge(&judged, m);
        }
        self.position.play_unchecked(played);
        Ok(())
    }

    /// Says what the tables say of a move.
    fn judge(&mut self, judged: &Judged, m: Move) {
        let change = judged.change(m);
        let Some(worth) = judged.worth(m) else { return };
        match change {
            Change::HalfPoint => self.text.nag(MISTAKE),
            Change::FullPoint => self.text.nag(BLUNDER),
            Change::Best | Change::Slower => {
                let chosen = judged.moves.len() > 1 && judged.keeping_result() == 1;
                if chosen && !judged.value.is_loss() {
                    self.text.nag(ONLY);
                }
            }
            Change::Unknown => {}
        }
        let now = brief(worth, judged.turn);
        let best = || {
            let names: Vec<&str> = judged.keeping().map(|answer| answer.san.as_str()).collect();
            names.join(" or ")
        };
        let instead = |value: Value| format!("{}: {}", best(), brief(value, judged.turn));
        self.said = Some(match change {
            Change::HalfPoint | Change::FullPoint => {
                format!("{now}, instead of {}", instead(judged.value))
            }
            Change::Slower => format!("{now}; {}", instead(judged.value)),
            Change::Best | Change::Unknown => now,
        });
    }

    /// Puts down what is still to be said of the last move.
    fn say(&mut self) {
        if let Some(said) = self.said.take() {
            self.text.comment(&said);
        }
    }

    /// The whole game.
    fn text(mut self) -> anyhow::Result<String> {
        self.say();
        if self.text.is_inside() {
            bail!("a variation does not end");
        }
        if self.tags.is_empty() && self.moves == 0 && self.result.is_none() {
            bail!("there is no game in PGN");
        }
        let tags: String = self.tags.iter().map(|(name, value)| tag(name, value)).collect();
        let gap = if tags.is_empty() { "" } else { "\n" };
        let result = self.result.unwrap_or_else(|| "*".to_owned());
        Ok(format!("{tags}{gap}{}", self.text.finish(&result)))
    }
}
