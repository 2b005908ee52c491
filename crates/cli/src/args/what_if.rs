//! What a proof assumes of the moves of a side.

use std::path::PathBuf;

use clap::Args;
use hoffman::{Aim, Color, Exclusion, Goal, MovesOfSide, WhatIf, WhatIfError};

/// Moves that lose are as good as forbidden: a side that has no other one has lost.
#[derive(Args, Debug)]
#[command(next_help_heading = "What if")]
pub(crate) struct WhatIfArgs {
    /// A side loses by captures, promotions or pawn steps of a kind: B:RxP, W:P=N, B:Pe4, W:?x*.
    #[arg(long, value_name = "SIDE:MOVES", value_parser = MovesOfSide::new, conflicts_with = "tables")]
    pub(crate) forbid_move: Vec<MovesOfSide>,
    /// A side loses by such captures: B:RxP, also with promotion.
    #[arg(long, value_name = "SIDE:CAPTURE", value_parser = capture, conflicts_with = "tables")]
    pub(crate) no_capture: Vec<Kinds>,
    /// Pawns become these pieces only, as Q or RN; any other promotion loses.
    #[arg(long, value_name = "PIECES", value_parser = promotions, conflicts_with = "tables")]
    pub(crate) only_promote: Option<Kinds>,
    /// A side wins by any promotion: W or B.
    #[arg(long, value_name = "SIDE", value_parser = any_promotion, conflicts_with = "tables")]
    pub(crate) promotion_wins: Vec<Kinds>,
    /// A side wins by such captures: W:QxR.
    #[arg(long, value_name = "SIDE:CAPTURE", value_parser = capture, conflicts_with = "tables")]
    pub(crate) capture_wins: Vec<Kinds>,
    /// The man on a square loses by moving, and one like it that comes there: d4, or P@d4.
    #[arg(long, value_name = "SQUARE", value_parser = WhatIf::frozen, conflicts_with = "tables")]
    pub(crate) freeze: Vec<WhatIf>,
    /// A side's pieces of a kind lose by moving to another square than these: wK=e1-h4,a8.
    #[arg(long, value_name = "PIECE=SQUARES", value_parser = WhatIf::confined, conflicts_with = "tables")]
    pub(crate) confine: Vec<WhatIf>,
    /// The attacker loses by moving a man from these squares: e1, "a1 c1", e1-h4.
    #[arg(long, value_name = "SQUARES", value_parser = Exclusion::from, conflicts_with = "tables")]
    pub(crate) exclude_from: Vec<Exclusion>,
    /// The attacker loses by moving a man to these squares.
    #[arg(long, value_name = "SQUARES", value_parser = Exclusion::to, conflicts_with = "tables")]
    pub(crate) exclude_to: Vec<Exclusion>,
    /// The attacker loses by moving a man to a square that the other side attacks.
    #[arg(long, conflicts_with = "tables")]
    pub(crate) exclude_to_attacked: bool,
    /// The attacker loses by any capture.
    #[arg(long, conflicts_with = "tables")]
    pub(crate) exclude_captures: bool,
    /// The attacker loses by capturing these pieces: QRBNP.
    #[arg(long, value_name = "PIECES", value_parser = Exclusion::captures_of, conflicts_with = "tables")]
    pub(crate) exclude_captures_of: Vec<Exclusion>,
    /// The attacker loses by promoting to these pieces: QRBN.
    #[arg(long, value_name = "PIECES", value_parser = Exclusion::promotion_to, conflicts_with = "tables")]
    pub(crate) exclude_promotion_to: Vec<Exclusion>,
    /// What the attacker is to reach: mate, queen, draw, stalemate, win-of-piece or
    /// win-of-piece=QR. Nothing else is asked then.
    #[arg(long, value_name = "GOAL", conflicts_with = "tables")]
    pub(crate) goal: Option<Aim>,
    /// A draw is enough for a side: W or B. Nothing else is asked then.
    #[arg(long, value_name = "SIDE", value_parser = hoffman::parse_side, conflicts_with_all = ["tables", "goal", "distance"])]
    pub(crate) may_not_lose: Option<Color>,
    /// The side that --exclude-... and --goal are about, W or B; the side to move if nothing is
    /// said.
    #[arg(long, value_name = "SIDE", value_parser = hoffman::parse_side, conflicts_with = "tables")]
    pub(crate) attacker: Option<Color>,
    /// Write control files of tables with the same results to a folder, for hoffman build.
    #[arg(long, value_name = "DIR", conflicts_with = "tables")]
    pub(crate) write_control: Option<PathBuf>,
}

/// The kinds of moves that one argument names.
#[derive(Clone, Debug)]
pub(crate) struct Kinds(Vec<MovesOfSide>);

impl WhatIfArgs {
    /// Whether there is anything that tables do not answer.
    pub(crate) fn is_given(&self) -> bool {
        let goal = self.goal.is_some() || self.may_not_lose.is_some() || self.attacker.is_some();
        let asked = goal || self.write_control.is_some();
        asked || !self.of_either_side().is_empty() || !self.exclusions().is_empty()
    }

    /// What is to be reached, with a side to move.
    pub(crate) fn goal(&self, turn: Color) -> Option<Goal> {
        let drawn = self.may_not_lose.map(|side| Goal { side, aim: Aim::Draw });
        let side = self.attacker.unwrap_or(turn);
        drawn.or_else(|| self.goal.clone().map(|aim| Goal { side, aim }))
    }

    /// All that is assumed, with a side to move.
    pub(crate) fn all(&self, turn: Color) -> anyhow::Result<Vec<WhatIf>> {
        let exclusions = self.exclusions();
        if self.attacker.is_some() && self.goal.is_none() && exclusions.is_empty() {
            anyhow::bail!("--attacker names the side of --exclude-... and --goal: none is given");
        }
        let attacker = self.attacker.unwrap_or(turn);
        let excluded = exclusions.into_iter().map(|exclusion| exclusion.of(attacker));
        let excluded: Vec<WhatIf> = excluded.collect::<Result<_, _>>()?;
        Ok(self.of_either_side().into_iter().chain(excluded).collect())
    }

    /// What the attacker does without.
    fn exclusions(&self) -> Vec<Exclusion> {
        let squares = self.exclude_from.iter().chain(&self.exclude_to);
        let pieces = self.exclude_captures_of.iter().chain(&self.exclude_promotion_to);
        let captures = self.exclude_captures.then(Exclusion::captures);
        let attacked = self.exclude_to_attacked.then(Exclusion::to_attacked);
        squares.chain(pieces).cloned().chain(captures).chain(attacked).collect()
    }

    /// What is assumed of sides that are named.
    fn of_either_side(&self) -> Vec<WhatIf> {
        let forbidden = self.no_capture.iter().chain(&self.only_promote).flat_map(|kinds| &kinds.0);
        let forbidden = self.forbid_move.iter().chain(forbidden).cloned().map(WhatIf::Forbidden);
        let won = self.promotion_wins.iter().chain(&self.capture_wins).flat_map(|kinds| &kinds.0);
        let won = won.cloned().map(WhatIf::Won);
        let places = self.freeze.iter().chain(&self.confine).cloned();
        forbidden.chain(won).chain(places).collect()
    }
}

/// Captures with and without promotion.
fn capture(text: &str) -> Result<Kinds, WhatIfError> {
    let plain = MovesOfSide::new(text)?;
    match text.split_once(':') {
        Some((_, kind)) if kind.len() == 3 && kind.contains('x') => {
            // Only a pawn becomes something.
            let promoting = MovesOfSide::new(&format!("{text}=?")).ok();
            Ok(Kinds(std::iter::once(plain).chain(promoting).collect()))
        }
        _ => Err(WhatIfError::Kind(text.to_owned())),
    }
}

fn any_promotion(side: &str) -> Result<Kinds, WhatIfError> {
    Ok(Kinds(vec![MovesOfSide::of(hoffman::parse_side(side)?, "P*=?")?]))
}

fn promotions(pieces: &str) -> Result<Kinds, WhatIfError> {
    let letters = || "QRBN".chars();
    let kept = pieces.to_uppercase();
    let unknown = kept.chars().any(|letter| !letters().any(|known| known == letter));
    // Who keeps all four assumes nothing.
    if kept.is_empty() || unknown || letters().all(|letter| kept.contains(letter)) {
        return Err(WhatIfError::Promotions(pieces.to_owned()));
    }
    let others = letters().filter(|&letter| !kept.contains(letter));
    let of = |letter: char| Color::ALL.map(|color| MovesOfSide::of(color, &format!("P*={letter}")));
    others.flat_map(of).collect::<Result<_, _>>().map(Kinds)
}
