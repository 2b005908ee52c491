//! Writing the values of a solved slice: block by block, from what the logs say.

use std::sync::Arc;

use hoffman_board::{ByColor, Color};
use hoffman_pages::{PagedCodes, PagedOutcomes, Pages};
use hoffman_space::{Code, CodeStore as _, Codes, EnPassantValues, PackedOutcomes, SliceValues};
use rayon::prelude::*;

use crate::dispatch;
use crate::exit_values::ExitRoom;
use crate::exits::Right;
use crate::passes::BlockTask;
use crate::problem::Problem;
use crate::recycled::Recycled;
use crate::slice::Slice;
use crate::store::{LogStore, PlaneStore, Store};
use crate::threads::with_exit_room;
use crate::valuation::WithoutRight;

/// Where codes go, block by block.
pub(crate) trait CodeSink<C: Code>: Sized {
    /// Lets `fill` write the codes of so many blocks, which are illegal before; in memory a thread
    /// takes `share` blocks at once.
    fn write(&mut self, blocks: usize, share: usize, fill: impl Fn(usize, &mut [C]) + Sync);
    /// The codes.
    fn into_codes(self) -> Codes;
}

/// Codes in memory.
pub(crate) struct MemoryCodes<C> {
    codes: Vec<C>,
    /// Whether they are illegal.
    fresh: bool,
}

impl<C: Code> MemoryCodes<C> {
    pub(crate) fn new(recycled: &Recycled, len: usize) -> MemoryCodes<C> {
        let (codes, fresh) = recycled.codes(len);
        MemoryCodes { codes, fresh }
    }
}

impl<C: Code> CodeSink<C> for MemoryCodes<C> {
    fn write(&mut self, blocks: usize, share: usize, fill: impl Fn(usize, &mut [C]) + Sync) {
        let (fresh, len) = (self.fresh, self.codes.len() / blocks);
        let parts = self.codes.par_chunks_exact_mut(len);
        parts.with_min_len(share).enumerate().for_each(|(n, codes)| {
            if !fresh {
                codes.fill(C::ILLEGAL);
            }
            fill(n, codes);
        });
    }

    fn into_codes(self) -> Codes {
        C::into_codes(self.codes)
    }
}

/// Codes in pages.
pub(crate) struct CodesInPages {
    codes: PagedCodes,
    len: usize,
}

impl CodesInPages {
    pub(crate) fn new<C: Code>(pages: &Arc<Pages>, len: usize) -> CodesInPages {
        CodesInPages { codes: PagedCodes::new::<C>(pages, len), len }
    }
}

impl<C: Code> CodeSink<C> for CodesInPages {
    fn write(&mut self, blocks: usize, _share: usize, fill: impl Fn(usize, &mut [C]) + Sync) {
        (0..blocks).into_par_iter().for_each(|n| {
            let mut codes = vec![C::ILLEGAL; self.len / blocks];
            fill(n, &mut codes);
            let bytes = C::as_bytes_of(&codes);
            self.codes.write(n * bytes.len(), bytes);
        });
    }

    fn into_codes(self) -> Codes {
        self.codes.into_codes::<C>(self.len)
    }
}

/// Outcomes only, in memory.
pub(crate) struct OutcomesInMemory {
    packed: PackedOutcomes,
    len: usize,
}

impl OutcomesInMemory {
    pub(crate) fn new(len: usize) -> OutcomesInMemory {
        OutcomesInMemory { packed: PackedOutcomes::new(len), len }
    }
}

impl CodeSink<u8> for OutcomesInMemory {
    fn write(&mut self, blocks: usize, share: usize, fill: impl Fn(usize, &mut [u8]) + Sync) {
        let len = self.len / blocks;
        let block = |codes: &mut Vec<u8>, n: usize| {
            codes.fill(u8::ILLEGAL);
            fill(n, codes);
            self.packed.put(n * len, codes);
        };
        let blocks = (0..blocks).into_par_iter().with_min_len(share);
        blocks.for_each_init(|| vec![u8::ILLEGAL; len], block);
    }

    fn into_codes(self) -> Codes {
        Codes::packed(self.packed, self.len)
    }
}

/// Outcomes only, in pages.
pub(crate) struct OutcomesInPages {
    packed: PagedOutcomes,
    len: usize,
}

impl OutcomesInPages {
    pub(crate) fn new(pages: &Arc<Pages>, len: usize) -> OutcomesInPages {
        OutcomesInPages { packed: PagedOutcomes::new(pages, len), len }
    }
}

impl CodeSink<u8> for OutcomesInPages {
    fn write(&mut self, blocks: usize, _share: usize, fill: impl Fn(usize, &mut [u8]) + Sync) {
        (0..blocks).into_par_iter().for_each(|n| {
            let mut codes = vec![u8::ILLEGAL; self.len / blocks];
            fill(n, &mut codes);
            self.packed.put(n * codes.len(), &codes);
        });
    }

    fn into_codes(self) -> Codes {
        self.packed.into_codes(self.len)
    }
}

/// The codes of a win and of a loss in a number of moves.
#[derive(Clone, Copy)]
pub(crate) struct Coding<C> {
    win: fn(u16) -> C,
    loss: fn(u16) -> C,
}

impl Coding<u8> {
    /// What is won is won in one move, what is lost is lost now.
    pub(crate) const OUTCOMES: Coding<u8> =
        Coding { win: |_| <u8 as Code>::win(1), loss: |_| <u8 as Code>::loss(0) };
}

impl<C: Code> Coding<C> {
    pub(crate) fn exact() -> Coding<C> {
        Coding { win: C::win, loss: C::loss }
    }
}

impl<S: Store> Slice<'_, S> {
    /// Writes the values of a solved slice, with each right that can be used too, into sinks that
    /// `new` makes. The longest win or loss takes so many `moves`.
    pub(crate) fn into_values<C: Code, W: CodeSink<C>>(
        mut self,
        problem: &Problem<'_>,
        moves: u16,
        coding: Coding<C>,
        new: impl Fn() -> W,
    ) -> SliceValues {
        // Only passes need them; the values may want their memory.
        let store = &self.store;
        let held = std::mem::replace(&mut self.held, ByColor::new_with(|_| store.plane_if(false)));
        store.keep(held, []);
        self.exit_wins = ByColor::new_with(|_| store.events());
        self.exit_losses = ByColor::new_with(|_| store.events());

        let codes = [Color::White, Color::Black].map(|color| {
            self.written(new(), |n, codes: &mut [C]| self.decode(n, color, coding, codes))
        });
        let usable = || problem.rights.iter().filter(|right| right.is_usable(self.context));
        let en_passant = usable().map(|right| EnPassantValues {
            square: u8::from(right.square),
            codes: self.written(new(), |n, codes| self.decode_right(n, right, coding, codes)),
        });
        let en_passant = en_passant.collect();
        // A capture can hold out longer, or win later, than anything in the slice.
        let deepest = usable().flat_map(|right| &right.captures).map(|t| t.max_moves() + 1);
        let max_moves = deepest.fold(moves, u16::max);
        self.store.keep(self.open, self.wins.into_iter().chain(self.losses));
        SliceValues { codes, en_passant, counts: self.counts, max_moves }
    }

    /// The codes of all blocks, as `fill` writes them.
    fn written<C: Code, W: CodeSink<C>>(
        &self,
        mut sink: W,
        fill: impl Fn(usize, &mut [C]) + Sync,
    ) -> Codes {
        sink.write(self.context.blocks.len(), self.share_of_all(), |n, codes| {
            if !self.context.is_stopped() {
                fill(n, codes);
            }
        });
        sink.into_codes()
    }

    /// One side's codes of a block, from what the passes decided; they are illegal before.
    pub(crate) fn decode<C: Code>(
        &self,
        n: usize,
        color: Color,
        coding: Coding<C>,
        codes: &mut [C],
    ) {
        dispatch::write_block::<C>(&self.open[color].block(n), None, codes);
        let logs = [(&self.wins[color], coding.win), (&self.losses[color], coding.loss)];
        for (logs, code) in logs {
            // Nothing fails that only writes codes.
            let _ = logs.replay(n, &(0..=u16::MAX), |moves, set| {
                dispatch::write_block::<C>(&[], Some((code(moves), set)), codes);
                Ok(())
            });
        }
    }

    /// The codes of a block with an en passant right.
    fn decode_right<C: Code>(
        &self,
        number: usize,
        right: &Right<'_>,
        coding: Coding<C>,
        codes: &mut [C],
    ) {
        let (context, color) = (self.context, right.taker);
        let mut plain = vec![C::ILLEGAL; codes.len()];
        self.decode(number, color, coding, &mut plain);
        let mut stuck = self.stalemates[color].block(number).to_vec();
        let spared = self.spared[color].block(number);
        stuck.iter_mut().zip(spared.iter()).for_each(|(stuck, spared)| *stuck |= spared);

        let must_capture = self.must_capture[color].block(number);
        let task = BlockTask { context, number, color, must_capture: &must_capture };
        let without = WithoutRight { plain: &plain, stuck: &stuck };
        with_exit_room(|room: &mut ExitRoom<C>| {
            dispatch::right_block(task, right, &without, codes, room);
        });
    }
}
