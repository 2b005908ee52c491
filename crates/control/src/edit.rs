//! From a control file to the header of the table made from it, by edits of the original text.
//!
//! Everything inside the root element is kept to the byte, comments and white space included; only
//! attributes that are set change, and what the program adds is appended before the closing tag, in
//! the layout of the original. Byte lengths are measured, so that the offset is right whatever
//! characters the text contains.

use hoffman_board::{Bitboard, Format};
use roxmltree::Document;

use crate::document::{Element, INSTRUCTION, instruction_content, open};
use crate::elements::format_element;
use crate::error::ControlError;
use crate::location::PawnMasks;
use crate::model::{ControlFile, IndexType};
use crate::prolog::{Prolog, PrologItem};
use crate::sheet::Sheet;
use crate::statistics::{GenerationStatistics, render_generation, render_tablebase};
use crate::text::END_TAG;

/// Bytes of one pawn structure in the file of a table.
const STRUCTURE_SIZE: u64 = 20;

/// What the header of a table has to say about its pawn structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PawngenEdits {
    /// All squares on which pawns stand.
    pub masks: PawnMasks,
    /// How many structures are stored: all, also if the table has only a part of them.
    pub structures: u64,
}

/// What the header of a table says beyond its control file.
#[derive(Clone, Debug, Default)]
pub struct HeaderEdits {
    /// The index type, if it is to differ from that of the control file.
    pub index: Option<IndexType>,
    /// The symmetry: 1, 2, 4 or 8. Written unless the control file has the same.
    pub symmetry: u8,
    /// The entry format with its width. None: as the control file says.
    pub format: Option<Format>,
    /// `tablebase-statistics`: names and numbers in order. Left out if empty.
    pub tablebase_statistics: Vec<(String, i64)>,
    /// `generation-statistics`.
    pub generation_statistics: Option<GenerationStatistics>,
    /// Whether `generation-statistics` in the text stay: of a table that is only rewritten.
    pub keep_generation: bool,
    /// The pawn structures, if the table has any.
    pub pawngen: Option<PawngenEdits>,
    /// The content of a `<?hoffman ...?>` line before the root element; it replaces an earlier one.
    pub instruction: Option<String>,
}

/// The header of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedHeader {
    /// The XML prefix and the zero bytes behind it. Then follows the pawn table, if there is one.
    pub bytes: Vec<u8>,
    /// The length of the XML prefix, its last newline included.
    pub prefix_length: usize,
    /// Where the entries begin in the file: the end of `bytes`, or of the pawn table behind them.
    pub offset: u64,
}

/// Makes the header of the table that was made from a control file.
///
/// # Errors
///
/// [`ControlError::Instruction`] if the text of the instruction contains `?>`;
/// [`ControlError::EndTagInside`] if the result could not be read back.
pub fn render_header(
    control: &ControlFile,
    edits: &HeaderEdits,
) -> Result<RenderedHeader, ControlError> {
    let site = || control.site(control.root, "tablebase");
    if edits.instruction.as_ref().is_some_and(|text| text.contains("?>")) {
        return Err(ControlError::Instruction(site()));
    }
    let document = open(&control.text, &control.origin)?;
    let prolog = render_prolog(&document, edits.instruction.as_deref());
    // The offset is part of the text that it measures. The text never gets shorter as it grows, so
    // starting from nothing leads to the smallest offset that fits.
    let mut padded = 0;
    loop {
        let prefix = format!("{prolog}{}\n", render_root(&document, control, edits, padded));
        let prefix_length = prefix.len();
        let measured = (prefix_length + 5) & !3;
        if measured > padded {
            padded = measured;
            continue;
        }
        if prefix.find(END_TAG) != Some(prefix_length - END_TAG.len() - 1) {
            return Err(ControlError::EndTagInside(site()));
        }
        let mut bytes = prefix.into_bytes();
        bytes.resize(padded, 0);
        let offset = entries_offset(padded, edits);
        return Ok(RenderedHeader { bytes, prefix_length, offset });
    }
}

/// Where the entries begin if the pawn table, or else the entries, begin at `padded`.
fn entries_offset(padded: usize, edits: &HeaderEdits) -> u64 {
    let structures = edits.pawngen.map_or(0, |pawngen| pawngen.structures);
    padded as u64 + STRUCTURE_SIZE * structures
}

/// The lines before the root element.
fn render_prolog(document: &Document<'_>, instruction: Option<&str>) -> String {
    let start = document.root_element().range().start;
    let prolog = Prolog::read(document.input_text().get(..start).unwrap_or_default());
    // The text is written as UTF-8, whatever it was read from.
    let encoding = prolog.encoding.filter(|name| name.eq_ignore_ascii_case("UTF-8"));
    let encoding = encoding.unwrap_or("UTF-8");
    let mut text = format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?>\n");
    for item in prolog.items {
        let line = match item {
            PrologItem::Instruction(line)
                if instruction.is_some() && instruction_content(line).is_some() =>
            {
                continue;
            }
            PrologItem::Doctype(line)
            | PrologItem::Comment(line)
            | PrologItem::Instruction(line) => line,
        };
        text.push_str(line);
        text.push('\n');
    }
    if let Some(instruction) = instruction {
        text.push_str(&["<?", INSTRUCTION, " ", instruction, "?>\n"].concat());
    }
    text
}

/// The root element with all edits, its padded length being `padded`.
fn render_root(
    document: &Document<'_>,
    control: &ControlFile,
    edits: &HeaderEdits,
    padded: usize,
) -> String {
    let root = document.root_element();
    let mut sheet = Sheet::new(document.input_text());
    let children = || root.children().filter(Element::is_element);
    let kept = |c: &Element<'_>| edits.keep_generation && c.has_tag_name("generation-statistics");

    for old in children().filter(|c| is_statistics(*c) && !kept(c)) {
        sheet.remove(old.range());
    }
    edit_index(&mut sheet, document, control, edits);
    edit_format(&mut sheet, document, control, edits);
    if let Some(pawngen) = edits.pawngen
        && let Some(element) = children().find(|c| c.has_tag_name("pawngen"))
    {
        let number = |mask: Bitboard| mask.0.to_string();
        sheet.set(element, "legal-white-squares", &number(pawngen.masks.white));
        sheet.set(element, "legal-black-squares", &number(pawngen.masks.black));
        sheet.set(element, "offset", &padded.to_string());
    }

    if !edits.tablebase_statistics.is_empty() {
        let text = render_tablebase(&edits.tablebase_statistics);
        match children().find(kept) {
            Some(kept) => {
                let at = kept.range().start;
                sheet.replace(at..at, format!("{}   ", text.trim_start()));
            }
            None => sheet.append(&text),
        }
    }

    if let Some(statistics) = &edits.generation_statistics {
        sheet.append(&render_generation(statistics));
    }
    sheet.set(root, "offset", &entries_offset(padded, edits).to_string());
    sheet.root(root.range())
}

fn is_statistics(node: Element<'_>) -> bool {
    node.has_tag_name("tablebase-statistics") || node.has_tag_name("generation-statistics")
}

/// Writes index type and symmetry where they differ from what the text says. The oldest files have
/// the type on the root element, where a symmetry could not be read back: they get an element.
fn edit_index(
    sheet: &mut Sheet<'_>,
    document: &Document<'_>,
    control: &ControlFile,
    edits: &HeaderEdits,
) {
    let root = document.root_element();
    let declared = control.index.as_ref();
    let changed = edits.index.filter(|&index| index != control.index_type());
    let name = match (changed, declared) {
        (Some(index), _) => index.name(),
        (None, Some(declared)) => declared.written.as_str(),
        (None, None) => IndexType::default().name(),
    };
    let symmetry = edits.symmetry.to_string();
    let element = root.children().find(|child| child.has_tag_name("index"));
    if let Some(element) = element {
        if changed.is_some() {
            sheet.set(element, "type", name);
            sheet.unset(root, "index");
        }
        if control.symmetry() != Some(edits.symmetry) {
            sheet.set(element, "symmetry", &symmetry);
        }
        return;
    }
    sheet.unset(root, "index");
    sheet.unset(root, "symmetry");
    sheet.append(&format!("   <index type=\"{name}\" symmetry=\"{symmetry}\"/>\n"));
}

/// Writes the entry format where it differs from what the text says.
fn edit_format(
    sheet: &mut Sheet<'_>,
    document: &Document<'_>,
    control: &ControlFile,
    edits: &HeaderEdits,
) {
    let declared = control.format.as_ref();
    let format = edits.format.unwrap_or_else(|| control.entry_format());
    if declared.is_some_and(|declared| declared.format == format) {
        return;
    }
    if declared.is_some() {
        sheet.unset(document.root_element(), "format");
    }
    let element = declared.filter(|declared| !declared.on_root).and_then(|declared| {
        document.descendants().find(|n| n.is_element() && n.range() == declared.place.span())
    });
    match (element, format) {
        (Some(element), Format::Dtm(Some(bits)) | Format::Dtc(Some(bits)))
            if element.has_tag_name(format.name()) =>
        {
            sheet.set(element, "bits", &bits.to_string());
        }
        (Some(element), _) => sheet.replace(element.range(), format_element(format)),
        (None, _) => {
            sheet.append(&format!("   {}\n", format_element(format)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Strictness;

    const PIECES: &str =
        "<piece color='white' type='king' /><piece color=\"black\" type=\"king\"/>";

    fn header(text: &str, edits: &HeaderEdits) -> (String, RenderedHeader) {
        let control = ControlFile::parse(text, "test", Strictness::Control).unwrap();
        let header = render_header(&control, edits).unwrap();
        let prefix = header.bytes.get(..header.prefix_length).unwrap();
        let padding = header.bytes.get(header.prefix_length..).unwrap();
        assert!((2..=5).contains(&padding.len()) && padding.iter().all(|&b| b == 0));
        (String::from_utf8(prefix.to_vec()).unwrap(), header)
    }

    #[test]
    fn everything_inside_the_root_is_kept() {
        let text = format!(
            "\u{feff}<?xml version='1.0'?>\n\n<!-- é -->\n<tablebase  >\r\n <!-- a --> {PIECES}\n\
             <?pi x?></tablebase >\n<!-- lost -->"
        );
        let edits = HeaderEdits { symmetry: 8, ..HeaderEdits::default() };
        let (prefix, header) = header(&text, &edits);
        let expected = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- é -->\n<tablebase offset=\"{}\"  >\r\n \
             <!-- a --> {PIECES}\n<?pi x?>   <index type=\"combinadic5\" symmetry=\"8\"/>\n   \
             <dtm/>\n</tablebase>\n",
            header.offset
        );
        assert_eq!(prefix, expected);
        assert_eq!(header.offset, header.bytes.len() as u64);
    }

    #[test]
    fn attributes_are_set_in_place() {
        let text = format!(
            "<tablebase offset='0x10'><dtm bits='8'/><index type='pawngen'/>{PIECES}</tablebase>"
        );
        let edits = HeaderEdits {
            symmetry: 2,
            format: Some(Format::Dtm(Some(5))),
            ..HeaderEdits::default()
        };
        let (prefix, header) = header(&text, &edits);
        let expected = format!(
            "<tablebase offset=\"{}\"><dtm bits=\"5\"/><index type='pawngen' symmetry=\"2\"/>{PIECES}\
             </tablebase>\n",
            header.offset
        );
        assert!(prefix.ends_with(&expected), "{prefix}");
    }

    #[test]
    fn the_oldest_syntax_gets_an_index_element() {
        let text = format!("<tablebase index='compact' format='one-byte-dtm'>{PIECES}</tablebase>");
        let edits = HeaderEdits {
            symmetry: 8,
            instruction: Some("made=\"now\"".to_owned()),
            ..HeaderEdits::default()
        };
        let (prefix, header) = header(&text, &edits);
        let expected = format!(
            "<?hoffman made=\"now\"?>\n<tablebase format='one-byte-dtm' offset=\"{}\">{PIECES}   \
             <index type=\"compact\" symmetry=\"8\"/>\n</tablebase>\n",
            header.offset
        );
        assert!(prefix.ends_with(&expected), "{prefix}");
        let again = ControlFile::parse(&prefix, "test", Strictness::Header).unwrap();
        assert_eq!(again.symmetry(), Some(8));
        assert_eq!(again.instruction.as_deref(), Some("made=\"now\""));
    }

    #[test]
    fn a_header_can_be_made_from_a_header() {
        let text = format!("<tablebase>{PIECES}</tablebase>");
        let edits = HeaderEdits {
            symmetry: 8,
            format: Some(Format::Basic),
            tablebase_statistics: vec![("indices".to_owned(), 462)],
            generation_statistics: Some(GenerationStatistics {
                args: "hoffman '</tablebase>'".to_owned(),
                ..GenerationStatistics::default()
            }),
            instruction: Some("a".to_owned()),
            ..HeaderEdits::default()
        };
        let (first, _) = header(&text, &edits);
        let (second, _) = header(&first, &edits);
        let (third, _) = header(&second, &edits);
        assert_eq!(second, third);
        let control = ControlFile::parse(&third, "test", Strictness::Header).unwrap();
        assert_eq!(control.statistics.get("indices"), Some(&462));
        assert_eq!(control.generation.get("args").unwrap(), "hoffman '</tablebase>'");
        assert_eq!(control.entry_format(), Format::Basic);
    }

    #[test]
    fn a_rewritten_table_keeps_who_made_it() {
        let edits = |indices, keep_generation| HeaderEdits {
            symmetry: 8,
            tablebase_statistics: vec![("indices".to_owned(), indices)],
            keep_generation,
            ..HeaderEdits::default()
        };
        let made = HeaderEdits {
            generation_statistics: Some(GenerationStatistics {
                program: "Hoffman 0".to_owned(),
                ..GenerationStatistics::default()
            }),
            ..edits(1, false)
        };
        let (first, _) = header(&format!("<tablebase>{PIECES}</tablebase>"), &made);
        let (second, _) = header(&first, &edits(462, true));
        assert_eq!(
            second,
            first
                .replace(">1</indices>", ">462</indices>")
                .replace(&offset_of(&first), &offset_of(&second))
        );
        let (third, _) = header(&first, &edits(462, false));
        assert!(!third.contains("<program>") && third.contains("<indices>462<"));
    }

    fn offset_of(header: &str) -> String {
        let at = header.find("offset=").unwrap();
        header[at..].split('>').next().unwrap().to_owned()
    }

    #[test]
    fn names_that_begin_with_a_colon_are_refused() {
        for text in [
            format!("<:tablebase>{PIECES}</tablebase>"),
            format!("<tablebase><format><:dtm/></format>{PIECES}</tablebase>"),
        ] {
            for mode in [Strictness::Control, Strictness::Header] {
                let error = ControlFile::parse(&text, "test", mode).unwrap_err();
                assert!(matches!(error, ControlError::UnexpectedContent { .. }), "{error}");
            }
        }
    }

    #[test]
    fn a_second_end_is_never_written() {
        let text = format!("<tablebase><!-- </tablebase> -->{PIECES}</tablebase>");
        let control = ControlFile::parse(&text, "test", Strictness::Header).unwrap();
        let edits = HeaderEdits { symmetry: 8, ..HeaderEdits::default() };
        assert!(matches!(render_header(&control, &edits), Err(ControlError::EndTagInside(_))));
        assert!(ControlFile::parse(&text, "test", Strictness::Control).is_err());
        let edits = HeaderEdits { instruction: Some("?>".to_owned()), ..edits };
        assert!(matches!(render_header(&control, &edits), Err(ControlError::Instruction(_))));
    }
}
