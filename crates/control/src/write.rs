//! Control files for endings named by their material, as `genctlfile.pl` writes them.

use std::fmt::Write as _;

use hoffman_board::pieces::default_squares;
use hoffman_board::{Bitboard, Color, Material, Role};

/// What a pawn may become.
const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// The text of a control file for a complete ending in normal chess: dtm, default index, every table
/// that a capture or a promotion leads to as futurebase, output to `STEM.htb`. The stronger side
/// should be White, see [`Material::normalized`].
pub fn control_for_material(material: &Material) -> String {
    render(material, &[], material.is_symmetric())
}

/// The text of a control file for a part of an ending: as [`control_for_material`], but the men named
/// in `locations` stand on those squares only, each entry meaning one man of its colour and role in
/// list order. No table is named for moves to other squares.
pub fn control_for_part(material: &Material, locations: &[(Color, Role, Bitboard)]) -> String {
    let whole = locations.iter().all(|&(_, role, squares)| squares == default_squares(role));
    render(material, locations, whole && material.is_symmetric())
}

/// A table that a move leads to, and whether its colours are exchanged.
type Successor = (String, bool);

/// Writes the text. Where the side to move is not stored only tables for White's moves are named.
fn render(
    material: &Material,
    locations: &[(Color, Role, Bitboard)],
    color_symmetric: bool,
) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE tablebase SYSTEM \"http://www.freesoft.org/software/hoffman/tablebase.dtd\">\n\
         <tablebase>\n   <dtm/>\n",
    );
    let mut left = locations.to_vec();
    let kings = Color::ALL.map(|color| (color, Role::King));
    for (color, role) in kings.into_iter().chain(material.men_in_naming_order()) {
        let given = left.iter().position(|&(c, r, _)| (c, r) == (color, role));
        let squares = given.map(|at| left.remove(at).2).filter(|&s| s != default_squares(role));
        let location = squares.map_or_else(String::new, |squares| {
            let names: Vec<String> = squares.into_iter().map(|s| s.to_string()).collect();
            format!(" location=\"{}\"", names.join(" "))
        });
        // Writing to a string cannot fail.
        let _ =
            writeln!(text, "   <piece color=\"{color}\" type=\"{}\"{location}/>", role_name(role));
    }
    for (stem, inverted) in successors(material) {
        if !(inverted && color_symmetric) {
            let colors = if inverted { " colors=\"invert\"" } else { "" };
            let _ = writeln!(text, "   <futurebase filename=\"{stem}.htb\"{colors}/>");
        }
    }
    let _ = writeln!(text, "   <output filename=\"{}.htb\"/>\n</tablebase>", material.stem());
    text
}

/// The tables one capture or promotion away, in the order of the script, without duplicates.
fn successors(material: &Material) -> Vec<Successor> {
    let mut found = Vec::new();
    let mut add = |material: Option<Material>| {
        let Some((material, inverted)) = material.map(|m| m.normalized()) else { return };
        let successor = (material.stem(), inverted);
        if !found.contains(&successor) {
            found.push(successor);
        }
    };
    for (color, role) in material.men_in_naming_order() {
        add(material.without(color, role));
    }
    for color in Color::ALL {
        let Some(without_pawn) = material.without(color, Role::Pawn) else { continue };
        for promoted in PROMOTIONS.map(|role| without_pawn.with(color, role)) {
            add(Some(promoted));
            // No pawn can be captured on the last rank.
            for captured in PROMOTIONS {
                let had = *material.count.get(!color).get(captured) > 0;
                add(promoted.without(!color, captured).filter(|_| had));
            }
        }
    }
    found
}

/// The word for a role in a control file.
pub const fn role_name(role: Role) -> &'static str {
    match role {
        Role::King => "king",
        Role::Queen => "queen",
        Role::Rook => "rook",
        Role::Bishop => "bishop",
        Role::Knight => "knight",
        Role::Pawn => "pawn",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ControlFile, Mode, check_declarations, check_pieces, resolve_pieces};

    fn read(text: &str) -> ControlFile {
        ControlFile::parse(text, "test", Mode::Control).unwrap()
    }

    #[test]
    fn complete_endings_are_written() {
        for name in ["KvK", "KQvK", "KPvKP", "KRPvKR", "KQPvKRP"] {
            let control = read(&control_for_material(&name.parse().unwrap()));
            assert!(control.notices.is_empty());
            check_declarations(&control).unwrap();
            let pieces = resolve_pieces(&control).unwrap();
            check_pieces(&control, &pieces).unwrap();
            let material = Material::from_men(pieces.iter().map(|p| (p.color, p.role)));
            assert_eq!(material.to_string(), name);
            assert_eq!(control.output_name().unwrap(), format!("{}.htb", material.stem()));
        }
    }

    #[test]
    fn parts_have_locations() {
        let squares = Bitboard::from_rank(hoffman_board::Rank::Second);
        let material = "KPPvKP".parse().unwrap();
        let text = control_for_part(&material, &[(Color::White, Role::Pawn, squares)]);
        let control = read(&text);
        let locations: Vec<_> = control.pieces.iter().map(|p| p.squares).collect();
        assert_eq!(locations, [None, None, Some(squares), None, None]);
        let symmetric = control_for_part(&"KPvKP".parse().unwrap(), &[]);
        assert_eq!(symmetric, control_for_material(&"KPvKP".parse().unwrap()));
    }
}
