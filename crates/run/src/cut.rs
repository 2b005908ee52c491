//! The parts of a control file's table: stretches of its pawn structures, each with a control file
//! of its own, which names those that it needs.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use hoffman_control::{ControlFile, CutEdits, PawngenElement, Strictness, render_cut};
use hoffman_plan::pawngen::{self, Arrangement, divide};
use hoffman_table::Stop;

use crate::error::RunError;
use crate::numbering::{bounds, pawngen_error};

/// A part of a control file's table.
pub(crate) struct ControlPart {
    /// What it is made by.
    pub(crate) control: ControlFile,
    /// Its file.
    pub(crate) output: PathBuf,
}

/// The parts of the table of a control file that goes to `output`, each after those that it needs;
/// none where it is not made of pawn structures that are solved apart.
///
/// # Errors
///
/// The `pawngen` element describes no table; the run was asked to stop.
pub(crate) fn parts_of(
    control: &ControlFile,
    output: &Path,
    parts: NonZeroUsize,
    stop: &Stop,
) -> Result<Vec<ControlPart>, RunError> {
    let Some(element) = &control.pawngen else { return Ok(Vec::new()) };
    let list = arrangements(control, element, stop)?;
    let range =
        pawngen::cut(element, list.len()).map_err(|e| pawngen_error(control, element, e))?;
    let stretches = divide(&list, range, parts.get());
    if stretches.len() < 2 {
        return Ok(Vec::new());
    }

    let file = |number: usize| output.with_file_name(name_of_part(output, number + 1, parts));
    // As the control file would name it.
    let named = |number: usize| {
        let own = control.output_name()?;
        let name = Path::new(own).with_file_name(name_of_part(output, number + 1, parts));
        Ok::<_, RunError>(name.to_string_lossy().into_owned())
    };
    let part = |(number, stretch): (usize, &pawngen::PawnStretch)| {
        let futurebases = stretch.needs.iter().map(|&needed| named(needed));
        let edits = CutEdits {
            start: stretch.numbers.start as u64,
            count: stretch.numbers.len() as u64,
            futurebases: &futurebases.collect::<Result<Vec<_>, _>>()?,
            output: &named(number)?,
        };
        let text = render_cut(control, &edits)?;
        let control = ControlFile::parse(&text, &control.origin, Strictness::Control)?;
        Ok(ControlPart { control, output: file(number) })
    };
    stretches.iter().enumerate().map(part).collect()
}

fn arrangements(
    control: &ControlFile,
    element: &PawngenElement,
    stop: &Stop,
) -> Result<Vec<Arrangement>, RunError> {
    pawngen::all_arrangements(element, bounds(&|| stop.is_requested()))
        .map_err(|error| pawngen_error(control, element, error))
}

/// The file name of a part, counted from 1: `race-part-2-of-8.htb` of `race.htb`.
fn name_of_part(output: &Path, number: usize, parts: NonZeroUsize) -> String {
    let [stem, suffix] = [output.file_stem(), output.extension()]
        .map(|part| part.unwrap_or_default().to_string_lossy().into_owned());
    let suffix = if suffix.is_empty() { suffix } else { format!(".{suffix}") };
    format!("{stem}-part-{number}-of-{parts}{suffix}")
}

/// The name of the whole table, the number of a part and how many parts were asked for, if this is
/// the name of a part: a path, the name of a file, or that without its ending.
pub(crate) fn part_of_name(name: &str) -> Option<(String, usize, NonZeroUsize)> {
    let path = Path::new(name);
    let known = path.extension().filter(|suffix| *suffix == "htb" || *suffix == "hbf");
    let stem = if known.is_some() { path.file_stem() } else { path.file_name() };
    let (whole, numbers) = stem?.to_str()?.rsplit_once("-part-")?;
    let (number, parts) = numbers.split_once("-of-")?;
    let (number, parts) = (number.parse().ok()?, parts.parse().ok()?);
    // The last one may have another suffix.
    let whole = match known {
        Some(suffix) => format!("{whole}.{}", suffix.to_str()?),
        None => whole.to_owned(),
    };
    let whole = path.with_file_name(whole).to_str()?.to_owned();
    (number > 0).then_some((whole, number, parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts_are_read() {
        let eight = NonZeroUsize::new(8).unwrap();
        assert_eq!(name_of_part(Path::new("t/a-1.htb"), 2, eight), "a-1-part-2-of-8.htb");
        for (name, whole) in [
            ("t/a-1-part-2-of-8.htb", "t/a-1.htb"),
            ("a-part-2-of-8.hbf", "a.hbf"),
            ("a-part-2-of-8", "a"),
        ] {
            assert_eq!(part_of_name(name), Some((whole.to_owned(), 2, eight)), "{name}");
        }
        for name in ["a.htb", "a-part-0-of-8", "a-part-1-of-0", "a-part-x-of-8", "a-part-1"] {
            assert_eq!(part_of_name(name), None, "{name}");
        }
    }
}
