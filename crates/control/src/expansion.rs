//! From the input of an expansion to the control file of one of its tables, by edits of the
//! original text.

use hoffman_board::{Color, Material, Role};

use crate::elements::{
    futurebase_element, pawngen_element, pawns_required, piece_element, prune_element,
};
use crate::model::{ControlFile, PawngenElement, Place};
use crate::sheet::Sheet;
use crate::statistics::escape;

/// The pieces in the order in which promoted ones are added.
const PIECES: [Role; 5] = [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// What the control file of a table says other than the input of its expansion.
#[derive(Clone, Debug)]
pub struct ExpansionEdits<'a> {
    /// The men of the table.
    pub men: &'a Material,
    /// Its pawn structures.
    pub pawngen: &'a PawngenElement,
    /// Of each prune, whether it holds. Those that do lose their conditions.
    pub prunes: &'a [bool],
    /// The futurebases, and whether with colours exchanged.
    pub futurebases: &'a [(String, bool)],
    /// Whether the index element cannot stay.
    pub drops_index: bool,
    /// The file of the table.
    pub output: &'a str,
    /// A comment at the end.
    pub mark: &'a str,
}

/// Writes the control file of a table.
pub fn render_expansion(input: &ControlFile, edits: &ExpansionEdits<'_>) -> String {
    let mut sheet = Sheet::new(input.text());
    match &input.pawngen {
        Some(element) => {
            let name_end = element.place.start + "<pawngen".len();
            sheet.insert(name_end, pawns_required(edits.pawngen));
        }
        // A file of 2006.
        None => edit_pieces(&mut sheet, input, edits),
    }
    if let Some(index) = input.index.as_ref().filter(|index| edits.drops_index && !index.on_root) {
        sheet.remove(index.place.span());
    }
    edit_prunes(&mut sheet, input, edits.prunes);
    edit_futurebases(&mut sheet, input, edits.futurebases);
    sheet.append(&format!("\n   <output filename=\"{}\"/>", escape(edits.output)));
    sheet.append(&format!("\n   <!-- {} -->", edits.mark));
    sheet.whole(input.root.span())
}

/// Puts a `pawngen` element in the place of the pawns, adds promoted men and takes captured ones
/// away.
fn edit_pieces(sheet: &mut Sheet<'_>, input: &ControlFile, edits: &ExpansionEdits<'_>) {
    let mut pawns = input.pieces.iter().filter(|piece| piece.role == Role::Pawn);
    if let Some(first) = pawns.next() {
        let line = sheet.line_start(first.place.start);
        let mut text = String::new();
        for (color, role, wanted) in pieces_of(edits.men) {
            if places_of(input, color, role).is_empty() {
                text.push_str(&(piece_element(color, role, "") + &line).repeat(wanted));
            }
        }
        text.push_str(&pawngen_element(edits.pawngen));
        sheet.replace(first.place.span(), text);
    }
    pawns.for_each(|pawn| sheet.remove(pawn.place.span()));

    for (color, role, wanted) in pieces_of(edits.men) {
        let listed = places_of(input, color, role);
        for place in listed.iter().skip(wanted) {
            sheet.remove(place.span());
        }
        if let Some(&last) = listed.last().filter(|_| wanted > listed.len()) {
            // Men of one kind stand together.
            let one = sheet.line_start(last.start) + &piece_element(color, role, "");
            sheet.insert(last.end, one.repeat(wanted - listed.len()));
        }
    }
}

/// How many pieces of each kind there are.
fn pieces_of(men: &Material) -> impl Iterator<Item = (Color, Role, usize)> {
    let of_color = |color: Color| {
        PIECES.map(|role| (color, role, usize::from(*men.count.get(color).get(role))))
    };
    Color::ALL.into_iter().flat_map(of_color)
}

/// Where pieces of a kind are listed.
fn places_of(input: &ControlFile, color: Color, role: Role) -> Vec<Place> {
    let own = input.pieces.iter().filter(|piece| (piece.color, piece.role) == (color, role));
    own.map(|piece| piece.place).collect()
}

/// Keeps the prunes that hold, without their conditions.
fn edit_prunes(sheet: &mut Sheet<'_>, input: &ControlFile, kept: &[bool]) {
    for (prune, &kept) in input.prunes.iter().zip(kept) {
        if !kept {
            sheet.remove(prune.place.span());
        } else if prune.condition.is_some() {
            let text = prune_element(prune.color, prune.pattern.as_str(), prune.effect);
            sheet.replace(prune.place.span(), text);
        }
    }
}

/// Puts the futurebases of a table in the place of those of the input.
fn edit_futurebases(sheet: &mut Sheet<'_>, input: &ControlFile, files: &[(String, bool)]) {
    let all: Vec<String> =
        files.iter().map(|(name, inverted)| futurebase_element(name, *inverted)).collect();
    let mut elements = input.futurebases.iter().map(|element| element.place);
    match elements.next() {
        Some(first) if !all.is_empty() => {
            sheet.replace(first.span(), all.join(&sheet.line_start(first.start)));
        }
        Some(first) => sheet.remove(first.span()),
        None => all.iter().for_each(|text| sheet.append(&format!("\n   {text}"))),
    }
    elements.for_each(|place| sheet.remove(place.span()));
}
