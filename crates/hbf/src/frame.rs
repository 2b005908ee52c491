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
}

/// Shorter distances are looked up.
const SHORT: u16 = 256;

/// The first test of those of the first candidate.
const FIRST: u32 = 34;

impl ModelFrame {
    pub(crate) fn new(order: [u8; 4], default: Code, thresholds: [u16; 9]) -> ModelFrame {
        let mut frame = ModelFrame { order, default, thresholds, of_first: Box::new([0; 512]) };
        for at in 0..2 * SHORT {
            let code = if at == SHORT { DRAW } else { at.wrapping_sub(SHORT) };
            let tests = frame.slow_tests_of_first(code) >> FIRST;
            frame.of_first[usize::from(at)] = tests as u16;
        }
        frame
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
        let moves = distance(code);
        let mut tests = u64::from(code == DRAW) | u64::from(code > DRAW) << 1;
        for (k, &threshold) in self.thresholds.iter().enumerate() {
            tests |= u64::from(moves >= threshold) << (5 + k);
        }
        tests << FIRST
    }
}
