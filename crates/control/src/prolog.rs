//! What stands before the root element: declaration, document type, comments, instructions.
//!
//! The XML parser reports no document type, and the header of a table has the items one per line,
//! so the text is walked here. It is called only on text that the parser has found well-formed.

/// The text before the root element, cut into its items.
#[derive(Debug, Default)]
pub(crate) struct Prolog<'a> {
    /// The encoding named in the XML declaration.
    pub(crate) encoding: Option<&'a str>,
    /// All items but the declaration, in order.
    pub(crate) items: Vec<PrologItem<'a>>,
}

/// One item of a prolog, with its text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PrologItem<'a> {
    Doctype(&'a str),
    Comment(&'a str),
    Instruction(&'a str),
}

impl<'a> Prolog<'a> {
    /// Cuts the text that stands before the root element.
    pub(crate) fn read(text: &'a str) -> Prolog<'a> {
        let mut prolog = Prolog::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let length = if rest.starts_with("<!--") {
                end_after(rest, "-->")
            } else if is_declaration(rest) {
                declaration_length(rest)
            } else if rest.starts_with("<?") {
                end_after(rest, "?>")
            } else {
                doctype_length(rest)
            };
            let (item, tail) = rest.split_at_checked(length).unwrap_or((rest, ""));
            if is_declaration(item) {
                prolog.encoding = encoding_of(item);
            } else if item.starts_with("<!--") {
                prolog.items.push(PrologItem::Comment(item));
            } else if item.starts_with("<?") {
                prolog.items.push(PrologItem::Instruction(item));
            } else {
                prolog.items.push(PrologItem::Doctype(item));
            }
            rest = tail.trim_start();
        }
        prolog
    }

    /// Whether the document type declares anything itself, as entities.
    pub(crate) fn has_internal_subset(&self) -> bool {
        self.items.iter().any(|item| match item {
            PrologItem::Doctype(text) => unquoted(text).any(|(_, ch)| ch == '['),
            _ => false,
        })
    }
}

/// The length of the text up to the end of `mark`.
fn end_after(text: &str, mark: &str) -> usize {
    text.find(mark).map_or(text.len(), |at| at + mark.len())
}

/// Whether a text begins with an XML declaration.
fn is_declaration(text: &str) -> bool {
    text.strip_prefix("<?xml").is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

/// The length of an XML declaration. Its values may hold what ends it elsewhere.
fn declaration_length(text: &str) -> usize {
    let is_end = |&(at, _): &(usize, char)| text[at..].starts_with("?>");
    unquoted(text).find(is_end).map_or(text.len(), |(at, _)| at + "?>".len())
}

/// The length of a document type declaration, an internal subset included.
fn doctype_length(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, ch) in unquoted(text) {
        match ch {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '>' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The characters outside quotation marks.
fn unquoted(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quote = None;
    text.char_indices().filter(move |&(_, ch)| {
        if let Some(open) = quote {
            quote = quote.filter(|_| ch != open);
            return false;
        }
        quote = Some(ch).filter(|ch| matches!(ch, '"' | '\''));
        quote.is_none()
    })
}

/// The value of `encoding` in an XML declaration.
pub(crate) fn encoding_of(declaration: &str) -> Option<&str> {
    let (_, rest) = declaration.split_once("encoding")?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest.get(1..)?.split(quote).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prolog_is_cut_into_its_items() {
        let prolog = Prolog::read(
            "<?xml version='1.0' encoding='utf-8'?>\n<!-- a > b -->\n<!DOCTYPE t SYSTEM \"x>[\">\n<?pi d?>\n",
        );
        assert_eq!(prolog.encoding, Some("utf-8"));
        assert_eq!(
            prolog.items,
            [
                PrologItem::Comment("<!-- a > b -->"),
                PrologItem::Doctype("<!DOCTYPE t SYSTEM \"x>[\">"),
                PrologItem::Instruction("<?pi d?>"),
            ]
        );
        assert!(!prolog.has_internal_subset());
        let prolog = Prolog::read("<?xml version='\"?>\n1.0' encoding='ISO-8859-1'?>\n<?pi d?>");
        assert_eq!(prolog.encoding, Some("ISO-8859-1"));
        assert_eq!(prolog.items, [PrologItem::Instruction("<?pi d?>")]);
        let prolog = Prolog::read("<!DOCTYPE t [<!ENTITY a 'b'>]>");
        assert!(prolog.has_internal_subset() && prolog.items.len() == 1);
    }
}
