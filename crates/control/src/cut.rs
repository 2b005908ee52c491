//! From the control file of a table of pawn structures to that of a part of them, or of all again,
//! by edits of the original text.

use crate::document::{Element, open};
use crate::elements::futurebase_element;
use crate::error::ControlError;
use crate::model::ControlFile;
use crate::sheet::Sheet;
use crate::statistics::escape;

/// What a control file says other than one for more or fewer of the same pawn structures.
#[derive(Clone, Copy, Debug)]
pub struct CutEdits<'a> {
    /// The number of the first structure.
    pub start: u64,
    /// How many there are, 0 for all from there on.
    pub count: u64,
    /// Futurebases that are to come after those that are named.
    pub futurebases: &'a [String],
    /// The file of the table.
    pub output: &'a str,
}

/// Writes the control file of a part of the pawn structures, or of all.
///
/// # Errors
///
/// The text cannot be read again.
pub fn render_cut(control: &ControlFile, edits: &CutEdits<'_>) -> Result<String, ControlError> {
    let document = open(control.text(), &control.origin)?;
    let root = document.root_element();
    // The oldest files have the output inside another element.
    let elements = || root.descendants().filter(Element::is_element);
    let mut sheet = Sheet::new(document.input_text());
    let is_statistics = |element: &Element<'_>| {
        ["tablebase-statistics", "generation-statistics"].iter().any(|n| element.has_tag_name(*n))
    };

    // The text may be the header of a table.
    elements().filter(is_statistics).for_each(|element| sheet.remove(element.range()));
    if let Some(element) = elements().find(|child| child.has_tag_name("pawngen")) {
        for (name, number) in [("start", edits.start), ("count", edits.count)] {
            match number {
                0 => sheet.unset(element, name),
                _ => sheet.set(element, name, &number.to_string()),
            }
        }
    }

    let added = edits.futurebases.iter().map(|name| futurebase_element(name, false));
    match elements().rfind(|child| child.has_tag_name("futurebase")) {
        Some(last) => {
            let line = sheet.line_start(last.range().start);
            added.for_each(|text| sheet.insert(last.range().end, format!("{line}{text}")));
        }
        None => added.for_each(|text| sheet.append(&format!("\n   {text}"))),
    }

    match elements().find(|child| child.has_tag_name("output")) {
        Some(output) => sheet.set(output, "filename", edits.output),
        None => sheet.append(&format!("\n   <output filename=\"{}\"/>", escape(edits.output))),
    }
    Ok(sheet.whole(root.range()))
}
