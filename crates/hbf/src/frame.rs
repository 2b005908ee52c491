//! What of a model decides the tests. See docs/hbf.md, 7 and 9.

use crate::code::{Code, DRAW, distance};

/// What of a model decides the tests.
#[derive(Clone, Debug)]
pub(crate) struct ModelFrame {
    /// The neighbours in the order in which they become candidates: 0 W, 1 S, 2 N, 3 U.
    pub(crate) order: [u8; 4],
    /// The value of what is not there.
    pub(crate) default: Code,
    /// Distances that tests compare with.
    pub(crate) thresholds: [u16; 9],
    /// What the tests say of a first candidate with a short distance, from the longest such win on;
    /// of a draw in the middle.
    of_first: Box<[u16; 2 * SHORT as usize]>,
    /// Which thresholds a short distance reaches.
    reached: Box<[u16; SHORT as usize]>,
}

/// Shorter distances are looked up.
const SHORT: u16 = 256;

/// The first test of those of the first candidate.
const FIRST: u32 = 34;

impl ModelFrame {
    pub(crate) fn new(order: [u8; 4], default: Code, thresholds: [u16; 9]) -> ModelFrame {
        let (of_first, reached) = (Box::new([0; 512]), Box::new([0; 256]));
        let mut frame = ModelFrame { order, default, thresholds, of_first, reached };
        for moves in 0..SHORT {
            frame.reached[usize::from(moves)] = frame.slow_reached(moves);
        }
        for at in 0..2 * SHORT {
            let code = if at == SHORT { DRAW } else { at.wrapping_sub(SHORT) };
            let tests = frame.slow_tests_of_first(code) >> FIRST;
            frame.of_first[usize::from(at)] = tests as u16;
        }
        frame
    }

    /// The first candidate among W, S, N, U.
    #[inline]
    pub(crate) fn first(&self, near: [Code; 4]) -> Code {
        near[usize::from(self.order[0] & 3)]
    }

    /// Which thresholds a distance reaches.
    #[inline]
    pub(crate) fn reached(&self, moves: u16) -> u16 {
        match self.reached.get(usize::from(moves)) {
            Some(&reached) => reached,
            None => self.slow_reached(moves),
        }
    }

    #[cold]
    fn slow_reached(&self, moves: u16) -> u16 {
        let bits = self.thresholds.iter().enumerate();
        bits.fold(0, |set, (k, &threshold)| set | u16::from(moves >= threshold) << k)
    }

    /// Whether the first candidate is a draw, a win; whether its distance is at least each
    /// threshold.
    #[inline]
    pub(crate) fn tests_of_first(&self, code: Code) -> u64 {
        // No candidate is 0, the code of none.
        let at = code.wrapping_add(SHORT);
        let at = if code == DRAW { SHORT } else { at };
        match self.of_first.get(usize::from(at)) {
            Some(&tests) => u64::from(tests) << FIRST,
            None => self.slow_tests_of_first(code),
        }
    }

    #[cold]
    fn slow_tests_of_first(&self, code: Code) -> u64 {
        let reached = u64::from(self.slow_reached(distance(code)));
        let tests = u64::from(code == DRAW) | u64::from(code > DRAW) << 1 | reached << 5;
        tests << FIRST
    }
}
