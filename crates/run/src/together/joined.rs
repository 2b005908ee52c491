//! One table of the values of all processes that have solved an ending together.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hoffman_board::{Color, Material};
use hoffman_pages::{PagedCodes, Pages};
use hoffman_solve::BlockShare;
use hoffman_space::{
    Code, CodeStore as _, Codes, Counts, PawnSquares, SliceCounts, SliceValues, TableValues, side,
};
use hoffman_store::Storage;

use super::file::{ShareFile, UnfitFile};
use super::{EndingShare, FOLDER, MOST, from_numbers, part_of};
use crate::error::RunError;
use crate::options::RunContext;
use crate::workplace::Workplace;

/// The parts of a table that is to be joined, one of which says how many there are.
///
/// # Errors
///
/// There are none, or such of several numbers.
pub(crate) fn shares_of(
    material: &Material,
    table: &Path,
    workplace: &Workplace,
) -> Result<Vec<EndingShare>, RunError> {
    let folder = table.with_extension(FOLDER);
    let names = workplace.storage.list(&folder).unwrap_or_default();
    let numbers: BTreeSet<usize> = names.iter().filter_map(part_of).map(|(_, of)| of).collect();
    let refusal = |why: String| Err(RunError::Input { table: table.to_owned(), why });
    match numbers.into_iter().collect::<Vec<_>>()[..] {
        [] => Err(RunError::NotThere { table: table.to_owned(), missing: vec![(folder, false)] }),
        [of] => (1..=of.clamp(1, MOST + 1))
            .map(|number| EndingShare::new(material, (number, of), table))
            .collect(),
        [one, other, ..] => {
            let folder = folder.display();
            refusal(format!("{folder} has parts of {one} and of {other}; remove those of one"))
        }
    }
}

/// The values of all parts together.
///
/// # Errors
///
/// A part is damaged or of something else, or has other king pairs than its own; two do not belong
/// together.
pub(crate) fn read_shares(
    shares: &[EndingShare],
    table: &Path,
    values: &TableValues,
    run: RunContext<'_>,
) -> Result<(), RunError> {
    let mut whole: Option<JoinedShares> = None;
    for (number, share) in shares.iter().enumerate() {
        run.workplace.check_stop()?;
        let mut file = share.open_values(share.number, table, &*run.workplace.storage)?;
        let refused = |unfit: UnfitFile, path: &Path| unfit.of(path, table);
        let read = read_share(&mut file, number, shares.len(), values, (&mut whole, run.pages));
        read.map_err(|unfit| refused(unfit, &file.path))?;
        run.progress.slice(2 * values.layout.len() as u64 / shares.len() as u64);
    }
    let Some(whole) = whole else { return Ok(()) };
    if let Some(slot) = values.slices.get(&PawnSquares::default()) {
        // It was empty.
        let _ = slot.set(Arc::new(whole.into_values()));
    }
    Ok(())
}

/// What was read of all parts so far.
struct JoinedShares {
    codes: [Room; 2],
    is_wide: bool,
    len: usize,
    longest: u16,
    counts: SliceCounts,
}

/// Room for the codes of a side.
enum Room {
    Memory(Vec<u8>),
    Pages(Box<PagedCodes>),
}

impl JoinedShares {
    fn new(len: usize, is_wide: bool, longest: u16, pages: Option<&Arc<Pages>>) -> JoinedShares {
        let room = || match pages {
            None => Room::Memory(vec![0; len * if is_wide { 2 } else { 1 }]),
            Some(pages) if is_wide => Room::Pages(Box::new(PagedCodes::new::<u16>(pages, len))),
            Some(pages) => Room::Pages(Box::new(PagedCodes::new::<u8>(pages, len))),
        };
        let counts = SliceCounts::default();
        JoinedShares { codes: [room(), room()], is_wide, len, longest, counts }
    }

    /// Takes the codes of a side of a block, which has so many bytes in each.
    fn take(&mut self, block: u32, turn: Color, bytes: &[u8]) {
        let at = block as usize * bytes.len();
        match &mut self.codes[side(turn)] {
            Room::Memory(all) => all[at..at + bytes.len()].copy_from_slice(bytes),
            Room::Pages(pages) if self.is_wide => {
                let (pairs, _) = bytes.as_chunks::<2>();
                let codes: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
                pages.write(at, u16::as_bytes_of(&codes));
            }
            Room::Pages(pages) => pages.write(at, bytes),
        }
    }

    fn into_values(self) -> SliceValues {
        let (len, is_wide) = (self.len, self.is_wide);
        let codes = self.codes.map(|room| match room {
            Room::Memory(all) if is_wide => {
                let (pairs, _) = all.as_chunks::<2>();
                Codes::Wide(pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect())
            }
            Room::Memory(all) => Codes::Narrow(all),
            Room::Pages(pages) if is_wide => pages.into_codes::<u16>(len),
            Room::Pages(pages) => pages.into_codes::<u8>(len),
        });
        let (counts, max_moves) = (Some(self.counts), self.longest);
        SliceValues { codes, en_passant: Vec::new(), counts, max_moves }
    }
}

/// Reads the values of a part, which must have each of its king pairs once, and nothing else.
fn read_share(
    file: &mut ShareFile,
    number: usize,
    of: usize,
    values: &TableValues,
    (whole, pages): (&mut Option<JoinedShares>, Option<&Arc<Pages>>),
) -> Result<(), UnfitFile> {
    let refused = |why: &str| Err(UnfitFile::Refused(why.to_owned()));
    let Some((longest, counts)) = from_numbers(&file.numbers) else {
        return refused("ends with other numbers");
    };
    let share = BlockShare::new(number, of);
    let own = (0..share.all()).filter(|&block| share.is_own(block));
    let own = own.flat_map(|block| [(block as u32, Color::White), (block as u32, Color::Black)]);
    let blocks: Vec<_> = file.blocks().collect();
    if !own.eq(blocks.iter().copied()) {
        return refused("has other king pairs than its own");
    }
    let len = values.layout.len();
    for (at, (block, turn)) in blocks.into_iter().enumerate() {
        let bytes = file.contents(at)?;
        let positions = len / share.all();
        let is_wide = bytes.len() == 2 * positions;
        if !is_wide && bytes.len() != positions {
            return refused("has another number of values");
        }
        let whole = whole.get_or_insert_with(|| JoinedShares::new(len, is_wide, longest, pages));
        if (whole.is_wide, whole.longest) != (is_wide, longest) {
            return refused("is of another run than the parts before it");
        }
        whole.take(block, turn, &bytes);
    }
    if let Some(whole) = whole {
        add(&mut whole.counts.plain, counts.plain);
        add(&mut whole.counts.diagonal, counts.diagonal);
    }
    Ok(())
}

fn add(sums: &mut [Counts; 2], more: [Counts; 2]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// Removes the files of the passes, which nobody needs when all parts are there.
pub(crate) fn remove_passes(table: &Path, storage: &dyn Storage) {
    let folder = table.with_extension(FOLDER);
    for name in storage.list(&folder).unwrap_or_default() {
        let suffix = name.to_str().and_then(|name| name.split_once('.')).map(|(_, suffix)| suffix);
        let is_pass = suffix.is_some_and(|s| s.starts_with("won-") || s.starts_with("lost-"));
        if is_pass && part_of(&name).is_some() {
            // They do no harm.
            let _ = storage.remove(&folder.join(name));
        }
    }
}

/// The files of the values of parts.
pub(crate) fn files_of(shares: &[EndingShare]) -> Vec<PathBuf> {
    shares.iter().map(|share| share.values_file(share.number)).collect()
}
