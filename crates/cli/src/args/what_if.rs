//! What a proof assumes of the moves of a side.

use clap::Args;
use hoffman::{Color, MovesOfSide, WhatIf, WhatIfError};

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
    /// The man on a square loses by moving: d4, or P@d4.
    #[arg(long, value_name = "SQUARE", value_parser = WhatIf::frozen, conflicts_with = "tables")]
    pub(crate) freeze: Vec<WhatIf>,
    /// A side's pieces of a kind lose by moving to another square than these: wK=e1-h4,a8.
    #[arg(long, value_name = "PIECE=SQUARES", value_parser = WhatIf::confined, conflicts_with = "tables")]
    pub(crate) confine: Vec<WhatIf>,
}

/// The kinds of moves that one argument names.
#[derive(Clone, Debug)]
pub(crate) struct Kinds(Vec<MovesOfSide>);

impl WhatIfArgs {
    /// All that is assumed.
    pub(crate) fn all(&self) -> Vec<WhatIf> {
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
    Ok(Kinds(vec![MovesOfSide::new(&format!("{side}:P*=?"))?]))
}

fn promotions(pieces: &str) -> Result<Kinds, WhatIfError> {
    let letters = || "QRBN".chars();
    let kept = pieces.to_uppercase();
    if kept.is_empty() || kept.chars().any(|letter| !letters().any(|known| known == letter)) {
        return Err(WhatIfError::Kind(pieces.to_owned()));
    }
    let others = letters().filter(|&letter| !kept.contains(letter));
    let of = |letter: char| Color::ALL.map(|color| MovesOfSide::of(color, &format!("P*={letter}")));
    others.flat_map(of).collect::<Result<_, _>>().map(Kinds)
}
