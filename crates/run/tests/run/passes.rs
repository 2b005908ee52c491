//! A table of one slice goes on from the passes in its checkpoint; a damaged checkpoint never gives
//! a wrong value.

use std::path::Path;
use std::sync::Mutex;

use crate::common::{entries, workplace};
use hoffman_plan::{Graph, complete};
use hoffman_run::{Memory, Progress, RunError, RunOptions, Workplace, build_endings};
use hoffman_store::{Fault, Simulated};

/// Hears what is said, which passes begin, and how much is done.
#[derive(Default)]
struct Heard {
    notices: Mutex<Vec<String>>,
    passes: Mutex<Vec<u16>>,
    /// Work to be done, work that was done before, and all that is done, step by step.
    work: Mutex<(u64, u64, Vec<u64>)>,
}

impl Progress for Heard {
    fn notice(&self, text: &str) {
        self.notices.lock().unwrap().push(text.to_owned());
    }

    fn pass(&self, moves: u16) {
        self.passes.lock().unwrap().push(moves);
    }

    fn begin(&self, work: u64) {
        self.work.lock().unwrap().0 += work;
    }

    fn slice(&self, work: u64) {
        let done = &mut self.work.lock().unwrap().2;
        done.push(done.last().unwrap_or(&0) + work);
    }

    fn skip(&self, work: u64) {
        self.work.lock().unwrap().1 += work;
        self.slice(work);
    }
}

/// Builds KRvK and what it needs.
fn krk(workplace: Workplace) -> (Result<(), RunError>, Heard) {
    let heard = Heard::default();
    let options = RunOptions::new(&heard, workplace);
    let jobs = complete(["KRvK".parse().unwrap()]);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let done = pool
        .install(|| build_endings(&Graph::of_endings(&jobs, Path::new("t")), &options))
        .map(drop);
    (done, heard)
}

#[test]
#[allow(clippy::too_many_lines, reason = "one run after the other on one checkpoint")]
fn a_table_without_pawns_goes_on_from_its_last_pass() {
    let (table, checkpoint) = (Path::new("t/krk.htb"), Path::new("t/krk.htb.checkpoint"));
    let clean = Simulated::default();
    let (done, heard) = krk(workplace(&clean, false));
    done.unwrap();
    let (total, skipped, steps) = heard.work.into_inner().unwrap();
    assert_eq!((steps.last(), skipped), (Some(&total), 0));
    assert!(steps.len() > 16 && steps[8] > total / 2, "{steps:?} of {total}");
    let right = entries(&clean, table).unwrap();
    // Where the power fails at every operation, something is left of every pass.
    let mut left = Vec::new();
    for nth in 1.. {
        let storage = Simulated::default();
        storage.set_fault(Some(Fault::PowerOff { nth }));
        if krk(workplace(&storage, true)).0.is_ok() {
            break;
        }
        storage.power_cycle(true);
        if storage.contents(checkpoint).is_some() {
            let before = storage.copy();
            let (done, heard) = krk(workplace(&storage, true));
            done.unwrap();
            assert!(entries(&storage, table).unwrap() == right, "{nth}");
            assert!(storage.contents(checkpoint).is_none());
            let said = heard.notices.into_inner().unwrap().concat();
            if said
                .contains("krk.htb.checkpoint: going on with 0 of 1 slices, and the passes of 1 up")
            {
                left.push(before);
            }
        }
    }
    println!("{} times some passes were left", left.len());
    assert!(left.len() > 30);

    // The same in as little memory as there may be.
    let middle = &left[left.len() / 2];
    let storage = middle.copy();
    let memory = Some(Memory { bytes: 1 << 20, raise: true });
    let (done, heard) = krk(Workplace { memory, ..workplace(&storage, true) });
    done.unwrap();
    assert!(entries(&storage, table).unwrap() == right);
    let first = heard.passes.into_inner().unwrap().into_iter().min().unwrap();
    assert!(first > 5, "{first}");
    let (total, skipped, steps) = heard.work.into_inner().unwrap();
    assert_eq!(steps.last(), Some(&total));
    assert!(skipped > total / 4, "{skipped} of {total}");

    // Bits flipped, sections cut short.
    let bytes = middle.contents(checkpoint).unwrap();
    let (mut resumed, mut anew) = (0, 0);
    let step = bytes.len() / 150 + 1;
    for at in (0..bytes.len()).step_by(step) {
        for cut in [false, true] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            damaged.truncate(if cut { at } else { bytes.len() });
            let storage = middle.copy();
            storage.put(checkpoint, &damaged);
            let (done, heard) = krk(workplace(&storage, false));
            done.unwrap();
            assert!(entries(&storage, table).unwrap() == right, "byte {at}, cut {cut}");
            assert!(storage.contents(checkpoint).is_none());
            let first = heard.passes.into_inner().unwrap().into_iter().min();
            *(if first > Some(1) { &mut resumed } else { &mut anew }) += 1;
        }
    }
    println!("damaged checkpoints: {resumed} times resumed from what is before, {anew} times anew");
    assert!(resumed > 0 && anew > 0);
}
