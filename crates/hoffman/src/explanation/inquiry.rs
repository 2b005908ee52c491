//! Questions about positions beside the one that was proven.

use hoffman_board::Outcome;
use hoffman_prove::Prover;
use hoffman_reader::shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, Setup};
use hoffman_solve::Monitor as _;

use crate::watch::Watch;

/// Until so many more positions were evaluated what is asked is proven: some seconds.
const AFFORDED: u64 = 600_000_000;

/// What one answer may cost of that.
const SHARE: u64 = AFFORDED / 6;

/// A prover that is asked about more than it was for, as long as that is cheap.
pub(super) struct Inquiry<'p> {
    prover: &'p mut Prover,
    /// How many positions may have been evaluated in all.
    most: u64,
    watch: &'p Watch,
}

impl<'p> Inquiry<'p> {
    pub(super) fn new(prover: &'p mut Prover, watch: &'p Watch) -> Inquiry<'p> {
        let most = prover.positions() + AFFORDED;
        Inquiry { prover, most, watch }
    }

    /// The outcome of a position; none if that would cost too much.
    pub(super) fn outcome(&mut self, position: &Chess) -> Option<Outcome> {
        let watch = self.watch;
        let most = self.most.min(self.prover.positions() + SHARE);
        self.prover.prove_other(position, most, watch, &mut |_| !watch.is_stopped());
        self.prover.bounds_of(position).known()
    }
}

/// The position with the other side to move; none if the side that is to move now is in check.
pub(super) fn passed(position: &Chess) -> Option<Chess> {
    let mut setup: Setup = position.to_setup(EnPassantMode::Legal);
    setup.turn = setup.turn.other();
    setup.ep_square = None;
    setup.position(CastlingMode::Standard).ok()
}
