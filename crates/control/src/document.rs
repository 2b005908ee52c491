//! From XML text to [`ControlFile`]: what is allowed where, in the syntax of today and of 2006.
//!
//! The rules are those of the document type built into the original program, checked here because
//! the parser does not validate. Attributes of old files and numbers in C notation are read as the
//! original reads them.

mod children;

use std::collections::BTreeMap;

use hoffman_board::Format;
use roxmltree::{Document, Node, ParsingOptions};

use crate::error::{ControlError, Notice, Site, fold_notices};
use crate::limits::expect_few_attributes;
use crate::model::{ControlFile, FormatDeclaration, IndexDeclaration, Place, Strictness};
use crate::number::{leading_number, leading_u64};
use crate::order::put_right;
use crate::prolog::{Prolog, PrologItem};
use crate::text::END_TAG;

/// The target of our own processing instruction before the root element.
pub(crate) const INSTRUCTION: &str = "hoffman";

/// An element of the document.
pub(crate) type Element<'a> = Node<'a, 'a>;

/// Parses XML text. The document type is accepted and never fetched.
pub(crate) fn open<'a>(text: &'a str, origin: &str) -> Result<Document<'a>, ControlError> {
    expect_few_attributes(text, origin)?;
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|source| ControlError::Xml {
        origin: origin.into(),
        line: source.pos().row,
        source: Box::new(source),
    })
}

impl ControlFile {
    /// Reads a control file, or the XML prefix of a table up to its `</tablebase>`. `origin` is the
    /// name of the file for messages.
    ///
    /// # Errors
    ///
    /// Whatever the text alone shows to be wrong, see [`ControlError`]. In [`Strictness::Header`]
    /// unknown elements and attributes become notices.
    pub fn parse(text: &str, origin: &str, mode: Strictness) -> Result<ControlFile, ControlError> {
        let file = ControlFile::read(text, origin, mode, false)?;
        let right = if mode == Strictness::Control { put_right(&file) } else { None };
        Ok(right.unwrap_or(file))
    }

    /// Reads the input of an expansion: a control file whose prunes may have a `pawngen-condition`.
    ///
    /// # Errors
    ///
    /// As [`ControlFile::parse`].
    pub fn parse_for_expansion(text: &str, origin: &str) -> Result<ControlFile, ControlError> {
        ControlFile::read(text, origin, Strictness::Control, true)
    }

    pub(crate) fn read(
        text: &str,
        origin: &str,
        mode: Strictness,
        conditions: bool,
    ) -> Result<ControlFile, ControlError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document = open(text, origin)?;
        let mut reader = DocumentReader::new(&document, origin, mode);
        reader.conditions = conditions;
        reader.read_document()?;
        let mut file = reader.file;
        text.clone_into(&mut file.text);
        file.notices = fold_notices(file.notices, origin);
        Ok(file)
    }
}

/// Collects a control file from a document.
struct DocumentReader<'a> {
    document: &'a Document<'a>,
    /// Where lines end.
    line_ends: Vec<usize>,
    file: ControlFile,
    /// The first element of each kind that may stand only once.
    seen: BTreeMap<&'static str, u32>,
    /// Whether prunes may have conditions.
    conditions: bool,
}

impl<'a> DocumentReader<'a> {
    fn new(document: &'a Document<'a>, origin: &str, mode: Strictness) -> DocumentReader<'a> {
        let file = ControlFile::empty(origin, mode);
        let line_ends = document.input_text().match_indices('\n').map(|(at, _)| at).collect();
        DocumentReader { document, line_ends, file, seen: BTreeMap::new(), conditions: false }
    }

    fn is_control(&self) -> bool {
        self.file.mode == Strictness::Control
    }

    fn place(&self, node: Element<'_>) -> Place {
        let range = node.range();
        let before = self.line_ends.partition_point(|&end| end < range.start);
        let line = u32::try_from(before + 1).unwrap_or(u32::MAX);
        Place { line, start: range.start, end: range.end }
    }

    fn site(&self, node: Element<'_>) -> Site {
        self.file.site(self.place(node), node.tag_name().name())
    }

    fn note(&mut self, node: Element<'_>, text: &str) {
        let site = self.site(node);
        self.file.notices.push(Notice { line: site.line, message: format!("{site}: {text}") });
    }

    /// Refuses in a control file, notes in a header.
    fn refuse_or_note(&mut self, site: &Site, error: ControlError) -> Result<(), ControlError> {
        if self.is_control() {
            return Err(error);
        }
        self.file.notices.push(Notice { line: site.line, message: error.to_string() });
        Ok(())
    }

    fn read_document(&mut self) -> Result<(), ControlError> {
        let root = self.document.root_element();
        self.file.root = self.place(root);
        if root.tag_name().name() != "tablebase" || root.tag_name().namespace().is_some() {
            return Err(ControlError::NotTablebase(self.site(root)));
        }
        self.expect_whole_names(root)?;
        self.read_surroundings(root)?;
        self.read_root_attributes(root)?;
        let children: Vec<Element<'a>> = self.children(root)?;
        for child in children {
            self.read_child(root, child)?;
        }
        if self.is_control() && self.file.format.is_none() {
            self.note(root, "no format is given; <dtm/> is assumed");
        }
        Ok(())
    }

    /// Refuses names that begin with a colon, which the parser lets pass as if it were not there.
    fn expect_whole_names(&self, root: Element<'a>) -> Result<(), ControlError> {
        let text = self.document.input_text();
        let has_colon = |node: &Element<'a>| {
            text.get(node.range().start..).is_some_and(|tag| tag.starts_with("<:"))
        };
        match root.descendants().filter(Node::is_element).find(has_colon) {
            Some(node) => Err(ControlError::UnexpectedContent {
                site: self.site(node),
                found: format!(":{}", node.tag_name().name()).into(),
            }),
            None => Ok(()),
        }
    }

    /// Looks at what stands before and behind the root element.
    fn read_surroundings(&mut self, root: Element<'a>) -> Result<(), ControlError> {
        let text = self.document.input_text();
        let range = root.range();
        let prolog = Prolog::read(text.get(..range.start).unwrap_or_default());
        if prolog.has_internal_subset() {
            return Err(ControlError::InternalSubset(self.site(root)));
        }
        for item in &prolog.items {
            if let PrologItem::Instruction(text) = item
                && let Some(content) = instruction_content(text)
            {
                self.file.instruction = Some(content.to_owned());
            }
        }
        let body_end = text.get(range.clone()).and_then(|t| t.rfind("</")).unwrap_or(0);
        if text.find(END_TAG).is_some_and(|at| at < range.start + body_end) {
            let site = self.site(root);
            self.refuse_or_note(&site.clone(), ControlError::EndTagInside(site))?;
        }
        let behind = text.get(range.end..).unwrap_or_default();
        if self.is_control() && !behind.trim().is_empty() {
            self.note(root, "what stands behind the closing tag will not be kept in the table");
        }
        Ok(())
    }

    /// The child elements, after checking that nothing but white space stands between them.
    fn children(&mut self, node: Element<'a>) -> Result<Vec<Element<'a>>, ControlError> {
        let text = node.children().filter(Node::is_text).filter_map(|child| child.text());
        if let Some(stray) = text.map(str::trim).find(|text| !text.is_empty()) {
            let site = self.site(node);
            let found = stray.chars().take(20).collect::<String>().into();
            self.refuse_or_note(&site.clone(), ControlError::UnexpectedContent { site, found })?;
        }
        Ok(node.children().filter(Node::is_element).collect())
    }

    /// Checks that an element is empty and has only known attributes.
    fn expect_empty(&mut self, node: Element<'a>, allowed: &[&str]) -> Result<(), ControlError> {
        self.expect_attributes(node, allowed)?;
        for child in self.children(node)? {
            let site = self.site(node);
            let found = child.tag_name().name().into();
            self.refuse_or_note(&site.clone(), ControlError::UnexpectedContent { site, found })?;
        }
        Ok(())
    }

    fn expect_attributes(
        &mut self,
        node: Element<'a>,
        allowed: &[&str],
    ) -> Result<(), ControlError> {
        for attribute in node.attributes() {
            if attribute.namespace().is_some() || !allowed.contains(&attribute.name()) {
                let site = self.site(node);
                let attribute = attribute.name().into();
                self.refuse_or_note(
                    &site.clone(),
                    ControlError::UnknownAttribute { site, attribute },
                )?;
            }
        }
        Ok(())
    }

    fn required(&self, node: Element<'a>, name: &'static str) -> Result<&'a str, ControlError> {
        node.attribute(name).ok_or_else(|| ControlError::MissingAttribute {
            site: self.site(node),
            attribute: name.into(),
        })
    }

    /// The meaning of an enumerated value.
    fn choose<T: Copy>(
        &self,
        node: Element<'a>,
        attribute: &'static str,
        value: &str,
        choices: &[(&str, T)],
    ) -> Result<T, ControlError> {
        choices.iter().find(|(name, _)| *name == value).map(|&(_, meaning)| meaning).ok_or_else(
            || {
                let names: Vec<&str> = choices.iter().map(|&(name, _)| name).collect();
                self.bad_value(node, attribute, value, &names.join(", "))
            },
        )
    }

    /// The meaning of a required enumerated attribute.
    fn choose_required<T: Copy>(
        &self,
        node: Element<'a>,
        attribute: &'static str,
        choices: &[(&str, T)],
    ) -> Result<T, ControlError> {
        self.choose(node, attribute, self.required(node, attribute)?, choices)
    }

    fn bad_value(
        &self,
        node: Element<'a>,
        attribute: &'static str,
        value: &str,
        allowed: &str,
    ) -> ControlError {
        let site = self.site(node);
        ControlError::BadValue { site, attribute, value: value.into(), allowed: allowed.into() }
    }

    /// A number, 0 if it is missing. In a control file it must be one and not negative.
    fn number(&self, node: Element<'a>, name: &'static str) -> Result<u64, ControlError> {
        let Some(text) = node.attribute(name) else { return Ok(0) };
        let bad = leading_number(text).is_none_or(|value| value < 0);
        if self.is_control() && bad {
            return Err(self.bad_value(node, name, text, "whole numbers from 0"));
        }
        Ok(leading_u64(text))
    }

    /// Refuses the second of two elements that declare the same thing.
    fn expect_first(&mut self, node: Element<'a>, what: &'static str) -> Result<(), ControlError> {
        let line = self.place(node).line;
        if let Some(&first_line) = self.seen.get(what) {
            return Err(ControlError::Duplicate { site: self.site(node), what, first_line });
        }
        self.seen.insert(what, line);
        Ok(())
    }

    fn read_root_attributes(&mut self, root: Element<'a>) -> Result<(), ControlError> {
        // The original wrote `symmetry` beside the old `index` and could not read it back.
        let allowed: &[&str] = match self.file.mode {
            Strictness::Control => &["offset", "format", "index"],
            Strictness::Header => &["offset", "format", "index", "symmetry"],
        };
        self.expect_attributes(root, allowed)?;
        if let Some(offset) = root.attribute("offset") {
            if self.is_control() {
                self.note(
                    root,
                    "the attribute 'offset' is written by the program and ignored here",
                );
            } else {
                self.file.offset = leading_u64(offset);
            }
        }

        match root.attribute("format") {
            None => {}
            Some("one-byte-dtm") => {
                self.expect_first(root, "format")?;
                let place = self.place(root);
                let format = Format::Dtm(Some(8));
                self.file.format = Some(FormatDeclaration { format, on_root: true, place });
            }
            Some("fourbyte") => {
                return Err(self.no_longer(root, "format 'fourbyte'", "write <dtm/> instead"));
            }
            Some(other) => return Err(self.bad_value(root, "format", other, "one-byte-dtm")),
        }

        if let Some(written) = root.attribute("index") {
            self.expect_first(root, "index")?;
            let index_type = self.index_type(root, "index", written)?;
            let symmetry = match self.file.mode {
                Strictness::Control => None,
                Strictness::Header => self.read_symmetry(root)?,
            };
            self.file.index = Some(IndexDeclaration {
                index_type,
                written: written.to_owned(),
                symmetry,
                on_root: true,
                place: self.place(root),
            });
        }
        Ok(())
    }
}

/// The content of our own processing instruction.
pub(crate) fn instruction_content(text: &str) -> Option<&str> {
    let content = text.strip_prefix("<?")?.strip_prefix(INSTRUCTION)?.strip_suffix("?>")?;
    (content.is_empty() || content.starts_with(char::is_whitespace)).then(|| content.trim())
}
