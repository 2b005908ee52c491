//! Edits of a text of XML: what is not touched stays as it is, white space and comments included.

use std::ops::Range;

use crate::document::Element;
use crate::statistics::escape;
use crate::text::END_TAG;

/// Replacements of parts of a text, and what is added before the closing tag.
pub(crate) struct Sheet<'t> {
    text: &'t str,
    replacements: Vec<(Range<usize>, String)>,
    appended: String,
}

impl<'t> Sheet<'t> {
    /// No edits yet.
    pub(crate) fn new(text: &'t str) -> Sheet<'t> {
        Sheet { text, replacements: Vec::new(), appended: String::new() }
    }

    pub(crate) fn replace(&mut self, range: Range<usize>, by: String) {
        self.replacements.push((range, by));
    }

    pub(crate) fn insert(&mut self, at: usize, text: String) {
        self.replace(at..at, text);
    }

    pub(crate) fn append(&mut self, text: &str) {
        self.appended.push_str(text);
    }

    /// Removes a part of the text and the white space before it.
    pub(crate) fn remove(&mut self, range: Range<usize>) {
        let before = self.text.get(..range.start).unwrap_or_default();
        self.replace(before.trim_end().len()..range.end, String::new());
    }

    /// Sets an attribute: in its place if it is there, else as the last one.
    pub(crate) fn set(&mut self, node: Element<'_>, name: &str, value: &str) {
        let written = format!("{name}=\"{}\"", escape(value));
        if let Some(attribute) = node.attribute_node(name) {
            self.replace(attribute.range(), written);
            return;
        }
        let name_end = node.range().start + 1 + node.tag_name().name().len();
        let end = node.attributes().map(|a| a.range().end).max().unwrap_or(name_end);
        self.insert(end, format!(" {written}"));
    }

    /// Removes an attribute, if it is there.
    pub(crate) fn unset(&mut self, node: Element<'_>, name: &str) {
        if let Some(attribute) = node.attribute_node(name) {
            self.remove(attribute.range());
        }
    }

    /// A line break and the indentation of what begins somewhere.
    pub(crate) fn line_start(&self, at: usize) -> String {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let blanks: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        format!("\n{blanks}")
    }

    /// The whole text with everything applied; what is appended stands behind the last element of
    /// the root.
    pub(crate) fn whole(mut self, root: Range<usize>) -> String {
        let inside = self.text.get(root.clone()).unwrap_or_default();
        let body = inside.rfind("</").and_then(|at| inside.get(..at)).unwrap_or(inside);
        let appended = std::mem::take(&mut self.appended);
        self.insert(root.start + body.trim_end().len(), appended);
        let all = 0..self.text.len();
        self.applied(all)
    }

    /// The root element with everything applied and its closing tag without a blank.
    pub(crate) fn root(mut self, root: Range<usize>) -> String {
        let whole = self.text.get(root.clone()).unwrap_or_default();
        let (body, open_only) = match whole.strip_suffix("/>") {
            Some(start) if !whole.contains("</") => (start.trim_end(), true),
            _ => (whole.rfind("</").and_then(|at| whole.get(..at)).unwrap_or(whole), false),
        };
        let mut result = self.applied(root.start..root.start + body.len());
        if open_only {
            result.push_str(">\n");
        }
        result.push_str(&self.appended);
        result.push_str(END_TAG);
        result
    }

    /// A part of the text with its replacements.
    fn applied(&mut self, range: Range<usize>) -> String {
        // The sort is stable: what is inserted at one place keeps its order.
        self.replacements.sort_by_key(|(range, _)| (range.start, range.end));
        let mut result = String::with_capacity(range.len() + 100);
        let mut at = range.start;
        for (range, by) in std::mem::take(&mut self.replacements) {
            result.push_str(self.text.get(at..range.start).unwrap_or_default());
            result.push_str(&by);
            at = at.max(range.end);
        }
        result.push_str(self.text.get(at..range.end).unwrap_or_default());
        result
    }
}
