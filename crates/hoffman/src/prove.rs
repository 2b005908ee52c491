//! Outcomes of positions with too many men for tables.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hoffman_board::{OutcomeBounds, Variant};
use hoffman_certificate::{Claim, Claimed};
use hoffman_control::Claims;
use hoffman_prove::{Endings as _, Limits, NoStrategy, ProvenStrategy, Prover};
use hoffman_reader::shakmaty::{Chess, Color};
use hoffman_reader::{AsPosition, Error as ProbeError, FenError, Move, Moves, Value};
use hoffman_run::available_memory;
use hoffman_solve::Monitor;

use crate::at_hand::AtHand;
use crate::certificate::Certificate;
use crate::error::Error;
use crate::event::Cancel;
use crate::explanation::{Explanation, KeyLines, explain};
use crate::goal::Goal;
use crate::options::Options;
use crate::search_file::SearchFile;
use crate::strategy::longest_line;
use crate::watch::Watch;
use crate::what_if::{Assumed, WhatIf};

/// What is asked of a proof beside the outcome of the position.
#[derive(Clone, Debug, Default)]
pub struct ProveOptions {
    time: Option<Duration>,
    moves: bool,
    distance: bool,
    line: bool,
    explanation: bool,
    one_by_one: bool,
    certificate: Option<PathBuf>,
    resume: Option<PathBuf>,
    what_if: Vec<WhatIf>,
    goal: Option<Goal>,
}

impl ProveOptions {
    /// The outcome alone; of the moves what is cheap to prove.
    pub fn new() -> ProveOptions {
        ProveOptions::default()
    }

    /// Ends the search after so long, with what is proved by then.
    #[must_use]
    pub fn time(self, time: Duration) -> ProveOptions {
        ProveOptions { time: Some(time), ..self }
    }

    /// Whether every legal move is decided, however long that takes.
    #[must_use]
    pub fn moves(self, moves: bool) -> ProveOptions {
        ProveOptions { moves, ..self }
    }

    /// Whether it is said in how many moves a win is won.
    #[must_use]
    pub fn distance(self, distance: bool) -> ProveOptions {
        ProveOptions { distance, ..self }
    }

    /// Whether a line is told in which the winner follows one strategy, and the other side lasts as
    /// long as it can. No tables at hand are used then, which have no strategies.
    #[must_use]
    pub fn line(self, line: bool) -> ProveOptions {
        ProveOptions { line, ..self }
    }

    /// Whether it is told why the result is what it is, as far as a few seconds more find out. No
    /// tables at hand are used then; not under assumptions.
    #[must_use]
    pub fn explanation(self, explanation: bool) -> ProveOptions {
        ProveOptions { explanation, ..self }
    }

    /// Whether the positions that arise are looked at one by one, as many as memory allows, instead
    /// of slices with the pieces on all squares. No tables at hand are used then. Where slices do
    /// not fit, and under assumptions about attacked squares, that is done anyway.
    #[must_use]
    pub fn one_by_one(self, one_by_one: bool) -> ProveOptions {
        ProveOptions { one_by_one, ..self }
    }

    /// Something that is assumed of the moves of a side. The first assumption about a move counts.
    #[must_use]
    pub fn assume(mut self, what: WhatIf) -> ProveOptions {
        self.what_if.push(what);
        self
    }

    /// What a side is to reach. Only that is asked then: of a side that is to win whether it wins,
    /// of one that is to hold whether it holds.
    #[must_use]
    pub fn goal(self, goal: Goal) -> ProveOptions {
        ProveOptions { goal: Some(goal), ..self }
    }

    /// A file for the strategies that prove the outcome, or as much of it as is known.
    #[must_use]
    pub fn certificate(self, file: impl Into<PathBuf>) -> ProveOptions {
        ProveOptions { certificate: Some(file.into()), ..self }
    }

    /// A file that holds how far the search is. If it is there the search goes on from it; it is
    /// written now and then while the search works, and when it ends, decided or not.
    #[must_use]
    pub fn resume(self, file: impl Into<PathBuf>) -> ProveOptions {
        ProveOptions { resume: Some(file.into()), ..self }
    }

    fn wants_strategies(&self) -> bool {
        self.certificate.is_some() || self.line || self.explanation
    }
}

/// What is proved of a position, and of its moves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Proved {
    /// What is proved of the position, for the side to move, in chess.
    pub value: Value,
    /// The same in the game of the assumptions; without any that is chess.
    pub assumed: Value,
    /// Whether the goal is reached; none if there is no goal.
    pub goal: Option<Reached>,
    /// With which of its moves the winner of that game wins, at the earliest and at the latest; 0
    /// is mate on the board. None if that was not asked for, the work was cancelled, or nobody
    /// wins.
    pub mate: Option<(Moves, Moves)>,
    /// The legal moves, the best ones of that game first.
    pub moves: Vec<ProvedMove>,
    /// The line that was asked for, to mate; empty if nobody wins, or the work was cancelled.
    pub line: Vec<Move>,
    /// Why that is so, if it was asked for: of chess alone, and none if nothing is proven, or the
    /// work was cancelled.
    pub explanation: Option<Explanation>,
    /// What it took.
    pub effort: Effort,
    /// Why something that was asked is open; none if nothing is.
    pub unfinished: Option<Unfinished>,
    /// What became of the certificate.
    pub certificate: Certification,
    /// The tables at hand that the proof rests on, as far as they answer for positions in it.
    pub tables: Vec<PathBuf>,
    /// Remarks: what at hand could not be used, and why; that the search ended for want of memory.
    pub notices: Vec<String>,
}

impl Proved {
    /// Whether it is known whether the goal is reached, or without one who wins, in the game of the
    /// assumptions.
    pub fn is_decided(&self) -> bool {
        match self.goal {
            Some(goal) => goal.assumed.is_some(),
            None => self.assumed.wdl().is_some(),
        }
    }
}

/// Why a search ended before everything was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfinished {
    /// What comes next does not fit into memory.
    Memory,
    /// Its time was over.
    Time,
    /// It was cancelled.
    Cancelled,
}

/// Whether a goal is reached, whatever the other side plays; none where that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reached {
    /// In the game of the assumptions.
    pub assumed: Option<bool>,
    /// In chess.
    pub in_chess: Option<bool>,
}

/// What became of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Certification {
    /// It was not asked for, or there is no proof of chess, or the work was cancelled.
    None,
    /// It would have more than so many positions, for which there is no room in memory.
    TooLarge {
        /// So many.
        positions: usize,
    },
    /// It was written.
    Written,
}

/// A legal move, and what is proved of the position behind it, for the side that makes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProvedMove {
    /// The move.
    pub m: Move,
    /// What is proved in chess.
    pub value: Value,
    /// The same in the game of the assumptions.
    pub assumed: Value,
}

/// How far a proof is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Effort {
    /// What is proved so far, for the side to move, in the game of the assumptions.
    pub assumed: Value,
    /// How many legal moves are decided.
    pub decided: usize,
    /// Whether positions are looked at one by one, and no slices opened.
    pub one_by_one: bool,
    /// The slices that are open: pawn structures with the pieces on the board. Or the positions
    /// that were looked at.
    pub open: usize,
    /// Those that are known to be reached, open or not.
    pub known: usize,
    /// Positions evaluated, each as often as that was done.
    pub positions: u64,
    /// What the values take, in bytes.
    pub bytes: u64,
    /// How long it took.
    pub time: Duration,
}

/// Tables of all positions are made of so many men; positions of more are proved.
pub const MEN_OF_TABLES: usize = 5;

/// What is proved, in words of chess, for a side to move.
pub fn proved_in_words(value: Value, turn: Color) -> String {
    let side = |color: Color| color.fold_wb("White", "Black");
    match value {
        Value::Win { .. } => format!("{} wins", side(turn)),
        Value::Loss { .. } => format!("{} wins", side(turn.other())),
        Value::Draw => "draw".to_owned(),
        Value::AtLeastDraw => format!("{} at least draws", side(turn)),
        Value::AtMostDraw => format!("{} at least draws", side(turn.other())),
        _ => "nothing is proven yet".to_owned(),
    }
}

/// Without being asked to, moves are decided until so many positions were evaluated in all: about
/// half a second.
const CHEAP: u64 = 200_000_000;

/// Where the pieces can stand in too many ways positions of chess are looked at one by one in so
/// many bytes: a second's work.
const TRIED: usize = 1 << 29;

/// What is said if that does not decide them.
const OF_MANY_PIECES: &str = "the pieces stand in too many ways for this memory; positions that can arise were looked at one by one for a while, which is gone on with where it is asked for";

/// What is said where a search was to be kept that cannot be.
const NOT_KEPT: &str = "not read and not written, as positions are looked at one by one";

/// Proves whether a position is won, drawn or lost, with any number of men, or as much of that as
/// time and memory allow. What is proved is certain whenever the work ends: a position that nobody
/// could decide is at least, or at most, a draw, or unknown.
///
/// Complete tables of chess in the folder of the options, and Syzygy files in the folders that they
/// name, are asked for the position and those behind its moves, and read where the search meets
/// their endings; they answer for these: [`Proved::tables`]. With
/// [`ProveOptions::distance`] only tables that have distances are; under assumptions and for a
/// certificate, which shall show everything, none.
///
/// `progress` is told how far it is, some times a second. The work ends when it is done, after the
/// time that `asked` allows, when the values take more memory than the options allow, or when they
/// are cancelled; a search that was cancelled is no error.
///
/// # Errors
/// The position is none of chess, or has castling rights. [`Error::Probe`]: a folder of tables
/// cannot be listed.
/// [`Error::Assumption`]: what is assumed does not fit the position. [`Error::Certificate`],
/// [`Error::Search`]: there is no place to write to, or what the search is to go on from is of
/// another one.
pub fn prove(
    position: impl AsPosition,
    options: &Options,
    asked: &ProveOptions,
    progress: &mut (dyn FnMut(&Effort) + Send),
) -> Result<Proved, Error> {
    let position = position.as_position(Variant::Normal)?.into_owned();
    let chess = Chess::try_from(&position)
        .map_err(|reason| ProbeError::from(FenError::Impossible { fen: position.fen(), reason }))?;
    let began = Instant::now();
    let assumed = Assumed::new(&asked.what_if, asked.goal.as_ref(), &chess)?;
    let Assumed { assumptions, claims, goal } = assumed;
    let work = ProofCall { turn: position.turn, began, asked, claims, goal };
    let is_chess = assumptions.is_empty();
    let watch =
        Watch { cancel: options.cancel_request(), end: asked.time.map(|time| began + time) };
    let limits = Limits { memory: memory(options) };
    let at_hand = (is_chess && !asked.wants_strategies() && !asked.one_by_one)
        .then(|| AtHand::of(options, asked.distance, watch.clone(), limits.memory).map(Arc::new))
        .transpose()?;

    let is_known = || at_hand.as_ref().is_some_and(|tables| tables.look_up(&chess).is_some());
    let too_large = !hoffman_prove::fits(&chess, &assumptions, limits) && !is_known();
    // Of chess there are few positions or far too many.
    let tried = too_large && is_chess && !asked.one_by_one;
    let limits = if tried { Limits { memory: limits.memory.min(TRIED) } } else { limits };
    let prover = Prover::new(chess.clone(), limits).assuming(assumptions);
    let prover = if too_large || asked.one_by_one { prover.one_by_one() } else { prover };
    let prover = at_hand.iter().fold(prover, |prover, tables| prover.knowing(tables.clone()));
    let prover = asked.goal.iter().fold(prover, |prover, goal| prover.asking(goal.asks_of()));

    // Where they cannot be written is told before the work, not behind it.
    let certificate = asked.certificate.as_deref().map(Certificate::create).transpose()?;
    // Only slices are gone on with.
    let keeps = !prover.progress().one_by_one;
    let resume = asked.resume.as_deref().filter(|_| keeps);
    let mut file = resume.map(|path| SearchFile::of(path, &chess)).transpose()?;

    options.install(|| {
        let mut prover = work.search(prover, file.as_mut(), &watch, progress)?;
        let ended = why_ended(&watch);
        if let Some(file) = file {
            file.write(&prover.opened())?;
        }
        let (mut proved, proofs) = work.conclude(&prover, options.cancel_request());
        let explains = asked.explanation && is_chess;
        if asked.line || explains {
            let watch = Watch { cancel: options.cancel_request(), end: None };
            let strategies = work.strategies(&prover, &watch);
            let line = strategies.first().filter(|_| asked.line);
            proved.line = line.map_or_else(Vec::new, |strategy| longest_line(strategy, &chess));
            let explained = if explains { &strategies[..] } else { &[] };
            let lines = KeyLines::of_all(explained, &chess);
            proved.explanation = lines.map(|lines| explain(lines, &chess, &mut prover, &watch));
        }
        proved.certificate = certify(certificate, &chess, proofs)?;
        if let Some(at_hand) = at_hand {
            (proved.tables, proved.notices) = at_hand.told();
        }
        proved.unfinished = work.is_open(&proved).then_some(ended);
        let is_full = proved.unfinished == Some(Unfinished::Memory);
        proved.notices.extend(is_full.then(|| full(tried, limits)));
        if let Some(path) = asked.resume.as_deref().filter(|_| !keeps) {
            proved.notices.push(format!("{}: {NOT_KEPT}", path.display()));
        }
        // To free what many slices take can last seconds; who ended the work waits for the answer.
        if watch.cancel.is_cancelled() {
            rayon::spawn(move || drop(prover));
        }
        Ok(proved)
    })
}

/// Writes the strategies into the certificate that was asked for.
fn certify(
    certificate: Option<Certificate>,
    position: &Chess,
    proofs: Result<Vec<Claim>, NoStrategy>,
) -> Result<Certification, Error> {
    match (certificate, proofs) {
        (Some(certificate), Ok(proofs)) if !proofs.is_empty() => {
            certificate.write(position, &proofs)?;
            Ok(Certification::Written)
        }
        (_, Err(NoStrategy::TooLarge(positions))) => Ok(Certification::TooLarge { positions }),
        _ => Ok(Certification::None),
    }
}

/// One call of [`prove`].
struct ProofCall<'w> {
    turn: Color,
    began: Instant,
    asked: &'w ProveOptions,
    claims: Claims,
    /// What is true of chess of the goal.
    goal: Claims,
}

impl ProofCall<'_> {
    /// Proves the position and its moves, as far as that goes, from where a file says that it was,
    /// and keeps it up to date.
    fn search(
        &self,
        mut prover: Prover,
        file: Option<&mut SearchFile>,
        watch: &Watch,
        progress: &mut (dyn FnMut(&Effort) + Send),
    ) -> Result<Prover, Error> {
        let mut tell = |prover: &Prover| {
            progress(&self.effort(&prover.progress()));
            !watch.is_stopped()
        };
        if let Some(file) = &file {
            let opened = prover.open_again(file.slices(), watch, &mut tell);
            opened.map_err(|slice| file.is_wrong_about(&slice))?;
        }
        let mut file = file;
        let mut tell = |prover: &Prover| {
            if let Some(file) = &mut file {
                file.keep(prover);
            }
            tell(prover)
        };
        prover.prove(watch, &mut tell);
        let most = if self.asked.moves { u64::MAX } else { CHEAP };
        prover.prove_moves(most, watch, &mut tell);
        Ok(prover)
    }

    /// What was proved, with the distances and strategies that were asked for, unless the work is
    /// cancelled.
    fn conclude(
        &self,
        prover: &Prover,
        cancel: Cancel,
    ) -> (Proved, Result<Vec<Claim>, NoStrategy>) {
        let watch = Watch { cancel, end: None };
        let goes_on = !watch.is_stopped();
        let mate = (self.asked.distance && goes_on).then(|| prover.distance(&watch));
        let mate = mate.and_then(|mate| mate.ok().flatten());
        // A strategy that is not of chess may come to moves that win by assumption, and not go on.
        let proofs = if self.asked.certificate.is_some() && goes_on {
            prover.claims(&self.strategies(prover, &watch), &watch)
        } else {
            Ok(Vec::new())
        };

        let mut moves = Vec::new();
        for (m, bounds) in prover.moves() {
            // The moves of a legal position are moves.
            if let Ok(m) = Move::try_from(m) {
                let (value, assumed) = self.values(bounds);
                moves.push(ProvedMove { m, value, assumed });
            }
        }

        moves.sort_by_key(|proved| rank(proved.assumed));
        let progress = prover.progress();
        let (value, assumed) = self.values(progress.bounds);
        let effort = self.effort(&progress);
        let proved = Proved {
            value,
            assumed,
            goal: self.reached(progress.bounds),
            mate: mate.map(|(least, most)| (Moves(least.into()), Moves(most.into()))),
            moves,
            line: Vec::new(),
            explanation: None,
            effort,
            unfinished: None,
            certificate: Certification::None,
            tables: Vec::new(),
            notices: Vec::new(),
        };
        (proved, proofs)
    }

    /// The strategies that prove what is certain, those that are of chess; none if the work is
    /// cancelled.
    fn strategies<'p>(&self, prover: &'p Prover, watch: &Watch) -> Vec<ProvenStrategy<'p>> {
        let mut strategies = prover.strategies(watch).unwrap_or_default();
        strategies.retain(|strategy| self.is_of_chess(strategy.side(), strategy.claimed()));
        strategies
    }

    /// Whether more was asked than is answered.
    fn is_open(&self, proved: &Proved) -> bool {
        let are_moves_known = || proved.moves.iter().all(|m| m.assumed.wdl().is_some());
        let wants_moves = self.asked.moves && proved.goal.is_none();
        !proved.is_decided() || wants_moves && !are_moves_known()
    }

    /// What bounds mean for the side to move: in chess, and in the game of the assumptions.
    fn values(&self, bounds: OutcomeBounds) -> (Value, Value) {
        let value = |bounds| Value::of_bounds(bounds, self.turn, None);
        (value(self.claims.prove(bounds)), value(bounds))
    }

    /// What bounds tell of the goal.
    fn reached(&self, bounds: OutcomeBounds) -> Option<Reached> {
        let goal = self.asked.goal.as_ref()?;
        let assumed = goal.is_reached(bounds);
        let in_chess = goal.is_reached(self.goal.prove(bounds));
        Some(Reached { assumed, in_chess })
    }

    /// Whether a side wins or holds by a strategy whatever the other one plays in chess.
    fn is_of_chess(&self, side: Color, claimed: Claimed) -> bool {
        let claims = self.claims.of(side);
        match claimed {
            Claimed::Wins(_) => claims.wins,
            Claimed::Holds => claims.holds,
        }
    }

    fn effort(&self, of: &hoffman_prove::ProofProgress) -> Effort {
        Effort {
            assumed: self.values(of.bounds).1,
            decided: of.decided.0,
            one_by_one: of.one_by_one,
            open: of.open,
            known: of.known,
            positions: of.positions,
            bytes: of.bytes as u64,
            time: self.began.elapsed(),
        }
    }
}

/// Why a search ended just now, if it did not decide everything.
fn why_ended(watch: &Watch) -> Unfinished {
    match () {
        () if watch.cancel.is_cancelled() => Unfinished::Cancelled,
        () if watch.is_stopped() => Unfinished::Time,
        () => Unfinished::Memory,
    }
}

/// What is said if memory was not enough.
fn full(tried: bool, Limits { memory }: Limits) -> String {
    if tried {
        return OF_MANY_PIECES.to_owned();
    }
    let memory = memory >> 20;
    format!(
        "the search ended as the next step does not fit into its {memory} MB; with more memory it goes further"
    )
}

/// What values may take: as much as was allowed, or half of what is free.
fn memory(options: &Options) -> usize {
    let free = || available_memory().unwrap_or(4 << 30) / 2;
    usize::try_from(options.bound().unwrap_or_else(free)).unwrap_or(usize::MAX)
}

/// A key by which the better move is the smaller.
fn rank(value: Value) -> u8 {
    match value {
        Value::Win { .. } => 0,
        Value::AtLeastDraw => 1,
        Value::Draw => 2,
        Value::Unknown => 3,
        Value::AtMostDraw => 4,
        _ => 5,
    }
}
