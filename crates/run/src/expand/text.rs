//! The text of a table's control file, by edits of the input: comments and white space stay.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;

use hoffman_board::{Color, Material, Role};
use hoffman_control::{
    ControlFile, Mode, PawnMasks, PawngenElement, PawngenSide, Place, check_declarations,
    check_pieces, escape, resolve_pieces_with, role_name,
};

use super::seal::{mark, sealed};
use super::{Expanded, Input, Named, Node};
use crate::error::RunError;

impl Input<'_> {
    /// Writes the control file of a table.
    pub(super) fn render(
        &self,
        material: &Material,
        node: &Node,
        named: Vec<Named>,
    ) -> Result<Expanded, RunError> {
        let element = self.element_of(material, node);
        let name = self.name(material);
        let files: Vec<(String, bool)> = named
            .into_iter()
            .filter_map(|named| match named {
                Named::Given(number) => {
                    self.given.get(number).map(|given| (given.name.clone(), given.inverted))
                }
                Named::Own(behind) => Some((format!("{}.htb", self.name(&behind)), false)),
            })
            .collect();
        let mut edits = Edits::new(self.control);
        if self.old {
            self.edit_pieces(&mut edits, material, &element);
            self.edit_index(&mut edits);
        } else {
            edits.insert(self.element.place.start + "<pawngen".len(), numbers(&element));
        }
        edit_prunes(&mut edits, self.control, &self.kept_prunes(material, node)?);
        edit_futurebases(&mut edits, self.control, &files);
        let output = format!("{name}.htb");
        let mut end = format!("\n   <output filename=\"{}\"/>", escape(&output));
        let _ = write!(end, "\n   <!-- {} -->", mark(&self.control.origin));
        let text = sealed(&edits.apply(&end));
        self.check(&text, node.masks)?;
        Ok(Expanded {
            name: PathBuf::from(format!("{name}.xml")),
            control: text,
            output: PathBuf::from(output),
            futurebases: files.into_iter().map(|(name, _)| PathBuf::from(name)).collect(),
        })
    }

    /// Checks that a text can be carried out, as far as that can be seen without the futurebases.
    fn check(&self, text: &str, masks: Option<PawnMasks>) -> Result<(), RunError> {
        let table = ControlFile::parse(text, &self.control.origin, Mode::Control)?;
        check_declarations(&table)?;
        check_pieces(&table, &resolve_pieces_with(&table, masks)?)?;
        Ok(())
    }

    /// Puts a `pawngen` element in the place of the pawns, adds promoted men and takes captured ones away.
    fn edit_pieces(&self, edits: &mut Edits<'_>, material: &Material, element: &PawngenElement) {
        let mut first = true;
        for piece in &self.control.pieces {
            if piece.role != Role::Pawn {
                continue;
            }
            if first {
                let mut text = String::new();
                for color in Color::ALL {
                    for role in self.promoted(material, color) {
                        if *self.pieces.count.get(color).get(role) == 0 {
                            text.push_str(&piece_element(color, role));
                            text.push_str(&edits.line_start(piece.place));
                        }
                    }
                }
                text.push_str(&pawngen_element(element));
                edits.replace(piece.place.span(), text);
            } else {
                edits.remove(piece.place);
            }
            first = false;
        }
        for color in Color::ALL {
            for role in [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
                let count = |m: &Material| usize::from(*m.count.get(color).get(role));
                let (listed, wanted) = (count(&self.pieces), count(material));
                let own = self.control.pieces.iter().filter(|p| (p.color, p.role) == (color, role));
                let own: Vec<Place> = own.map(|piece| piece.place).collect();
                for place in own.iter().skip(wanted) {
                    edits.remove(*place);
                }
                if let Some(&last) = own.last().filter(|_| wanted > listed) {
                    // Men of one kind stand together.
                    let one = format!("{}{}", edits.line_start(last), piece_element(color, role));
                    edits.insert(last.end, one.repeat(wanted - listed));
                }
            }
        }
    }

    fn edit_index(&self, edits: &mut Edits<'_>) {
        let index = self.control.index.as_ref().filter(|_| self.drops_index());
        if let Some(index) = index.filter(|index| !index.on_root) {
            edits.remove(index.place);
        }
    }
}

/// The attributes that an expansion adds.
fn numbers(element: &PawngenElement) -> String {
    let number = |side: &PawngenSide| side.pawns_required.unwrap_or(0);
    format!(
        " white-pawns-required=\"{}\" black-pawns-required=\"{}\"",
        number(&element.white),
        number(&element.black)
    )
}

fn piece_element(color: Color, role: Role) -> String {
    format!("<piece color=\"{color}\" type=\"{}\"/>", role_name(role))
}

fn pawngen_element(element: &PawngenElement) -> String {
    let squares = |side: &PawngenSide| {
        side.start.into_iter().map(|square| square.to_string()).collect::<Vec<_>>().join(" ")
    };
    let mut text = format!(
        "<pawngen white-pawn-locations=\"{}\" black-pawn-locations=\"{}\"{}",
        squares(&element.white),
        squares(&element.black),
        numbers(element)
    );
    for color in [Color::White, Color::Black] {
        let side = element.side(color);
        let numbers = [
            ("queens-required", side.queens_required),
            ("captures-allowed", side.captures_allowed),
        ];
        for (name, number) in numbers.into_iter().filter(|&(_, number)| number > 0) {
            let _ = write!(text, " {color}-{name}=\"{number}\"");
        }
    }
    text.push_str("/>");
    text
}

/// Keeps the prunes that hold, without their conditions.
fn edit_prunes(edits: &mut Edits<'_>, control: &ControlFile, kept: &[bool]) {
    for (prune, &kept) in control.prunes.iter().zip(kept) {
        if !kept {
            edits.remove(prune.place);
        } else if prune.condition.is_some() {
            let text = format!(
                "<prune color=\"{}\" move=\"{}\" type=\"{}\"/>",
                prune.color,
                escape(prune.pattern.as_str()),
                prune.effect.name()
            );
            edits.replace(prune.place.span(), text);
        }
    }
}

/// Puts the futurebases of a table in the place of those of the input.
fn edit_futurebases(edits: &mut Edits<'_>, control: &ControlFile, files: &[(String, bool)]) {
    let mut elements = control.futurebases.iter().map(|element| element.place);
    let element = |(name, inverted): &(String, bool)| {
        let colors = if *inverted { " colors=\"invert\"" } else { "" };
        format!("<futurebase filename=\"{}\"{colors}/>", escape(name))
    };
    let all: Vec<String> = files.iter().map(element).collect();
    match elements.next() {
        Some(first) if !all.is_empty() => {
            edits.replace(first.span(), all.join(&edits.line_start(first)));
        }
        Some(first) => edits.remove(first),
        None => {
            for text in all {
                let _ = write!(edits.end, "\n   {text}");
            }
        }
    }
    for place in elements {
        edits.remove(place);
    }
}

/// Edits of a control file's text.
struct Edits<'c> {
    text: &'c str,
    root: Place,
    changes: Vec<(Range<usize>, String)>,
    /// What is added before the closing tag.
    end: String,
}

impl<'c> Edits<'c> {
    fn new(control: &'c ControlFile) -> Edits<'c> {
        Edits { text: control.text(), root: control.root, changes: Vec::new(), end: String::new() }
    }

    fn replace(&mut self, range: Range<usize>, by: String) {
        self.changes.push((range, by));
    }

    fn insert(&mut self, at: usize, text: String) {
        self.changes.push((at..at, text));
    }

    /// Removes an element and the white space before it.
    fn remove(&mut self, place: Place) {
        let before = self.text.get(..place.start).unwrap_or_default();
        self.replace(before.trim_end().len()..place.end, String::new());
    }

    /// A line break and the indentation of an element.
    fn line_start(&self, place: Place) -> String {
        let before = self.text.get(..place.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let blanks: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        format!("\n{blanks}")
    }

    /// The text with everything applied, and `end` before its closing tag.
    fn apply(mut self, end: &str) -> String {
        let root = self.text.get(self.root.span()).unwrap_or_default();
        let body = root.rfind("</").and_then(|at| root.get(..at)).unwrap_or(root).trim_end();
        let at = self.root.start + body.len();
        let end = format!("{}{end}", self.end);
        // Sorted stably: what stands at one place keeps its order, and the end comes last.
        self.changes.push((at..at, end));
        self.changes.sort_by_key(|(range, _)| (range.start, range.end));
        let mut result = String::new();
        let mut copied = 0;
        for (range, by) in self.changes {
            result.push_str(self.text.get(copied..range.start).unwrap_or_default());
            result.push_str(&by);
            copied = copied.max(range.end);
        }
        result.push_str(self.text.get(copied..).unwrap_or_default());
        result
    }
}
