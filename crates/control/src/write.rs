//! Control files for endings named by their material, as `genctlfile.pl` writes them.

use hoffman_board::pieces::default_squares;
use hoffman_board::{Bitboard, Color, Format, Material, Role, Variant};

use crate::elements::{format_element, futurebase_element, piece_element, prune_element};
use crate::ending::Ending;
use crate::model::IndexType;
use crate::prune::PruneEffect;

/// The text of a control file for a complete ending in normal chess: the default index, every table
/// that a capture or a promotion leads to as futurebase, output to `STEM.htb`. The stronger side
/// should be White, see [`Material::normalized`].
pub fn control_for_material(material: &Material, format: Format) -> String {
    control_for_part(material, &[], format)
}

/// The text of a control file for a part of an ending: as [`control_for_material`], but the men
/// named in `locations` stand on those squares only, each entry meaning one man of its colour and
/// role in list order. No table is named for moves to other squares.
pub fn control_for_part(
    material: &Material,
    locations: &[(Color, Role, Bitboard)],
    format: Format,
) -> String {
    let whole = locations.iter().all(|&(_, role, squares)| squares == default_squares(role));
    let white_only = whole && material.is_symmetric();
    render(&NewControlFile {
        material,
        variant: Variant::Normal,
        format,
        index: None,
        megabytes: None,
        board: None,
        locations,
        futurebases: Ending::plain(material).named_futurebases(white_only),
        stem: material.stem(),
    })
}

/// What a control file of an ending says.
pub(crate) struct NewControlFile<'a> {
    pub(crate) material: &'a Material,
    pub(crate) variant: Variant,
    pub(crate) format: Format,
    /// The index type, if it is not the default.
    pub(crate) index: Option<IndexType>,
    /// The size of propagation tables, if they are asked for.
    pub(crate) megabytes: Option<u32>,
    /// The squares that no man may leave, if not all.
    pub(crate) board: Option<Bitboard>,
    /// The squares of single men, each entry meaning one man in list order.
    pub(crate) locations: &'a [(Color, Role, Bitboard)],
    /// Names of tables, and whether with colours exchanged.
    pub(crate) futurebases: Vec<(String, bool)>,
    /// The name of the output file without its ending.
    pub(crate) stem: String,
}

/// Writes the text.
pub(crate) fn render(contents: &NewControlFile<'_>) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE tablebase SYSTEM \"http://www.freesoft.org/software/hoffman/tablebase.dtd\">\n\
         <tablebase>\n",
    );
    let mut add = |line: String| {
        text.push_str("   ");
        text.push_str(&line);
        text.push('\n');
    };

    let pruned = Color::ALL.into_iter().filter(|_| contents.board.is_some());
    for color in pruned.clone() {
        add(format!("<prune-enable color=\"{color}\" type=\"discard\"/>"));
    }
    if contents.variant == Variant::Suicide {
        add("<variant name=\"suicide\"/>".to_owned());
    }
    if let Some(index) = contents.index {
        add(format!("<index type=\"{}\"/>", index.name()));
    }
    add(format_element(contents.format));
    let mut left = contents.locations.to_vec();

    for (color, role) in list_order(contents) {
        let given = left.iter().position(|&(c, r, _)| (c, r) == (color, role));
        let squares = given.map_or(default_squares(role), |at| left.remove(at).2);
        let squares = squares & contents.board.unwrap_or(Bitboard::FULL);
        let location = if squares == default_squares(role) {
            String::new()
        } else {
            let names: Vec<String> = squares.into_iter().map(|s| s.to_string()).collect();
            format!(" location=\"{}\"", names.join(" "))
        };
        add(piece_element(color, role, &location));
    }

    for (stem, inverted) in &contents.futurebases {
        add(futurebase_element(&format!("{stem}.htb"), *inverted));
    }

    for color in pruned {
        // Every move to a square, whichever: the only ones that leave the table lead off the board.
        add(prune_element(color, "?[a-h][1-8]", PruneEffect::Discard));
    }

    add(format!("<output filename=\"{}.htb\"/>", contents.stem));
    if let Some(megabytes) = contents.megabytes {
        add(format!("<enable-proptables MB=\"{megabytes}\"/>"));
    }
    text.push_str("</tablebase>\n");
    text
}

/// The men in the order of the list: kings first in normal chess, side by side in suicide chess.
fn list_order(contents: &NewControlFile<'_>) -> Vec<(Color, Role)> {
    let men = contents.material.men_in_naming_order();
    let kings = |color| {
        let count = contents.material.count.get(color).king;
        std::iter::repeat_n((color, Role::King), usize::from(count))
    };
    if contents.variant == Variant::Normal {
        return Color::ALL.into_iter().flat_map(kings).chain(men).collect();
    }
    let side = |color| kings(color).chain(men.iter().copied().filter(move |man| man.0 == color));
    Color::ALL.into_iter().flat_map(side).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ControlFile, Strictness, check_declarations, check_pieces, resolve_pieces};

    fn read(text: &str) -> ControlFile {
        ControlFile::parse(text, "test", Strictness::Control).unwrap()
    }

    #[test]
    fn complete_endings_are_written() {
        for name in ["KvK", "KQvK", "KPvKP", "KRPvKR", "KQPvKRP"] {
            let control = read(&control_for_material(&name.parse().unwrap(), Format::Dtm(None)));
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
        let text =
            control_for_part(&material, &[(Color::White, Role::Pawn, squares)], Format::Dtm(None));
        let control = read(&text);
        let locations: Vec<_> = control.pieces.iter().map(|p| p.squares).collect();
        assert_eq!(locations, [None, None, Some(squares), None, None]);
        let symmetric = control_for_part(&"KPvKP".parse().unwrap(), &[], Format::Dtm(None));
        let whole = control_for_material(&"KPvKP".parse().unwrap(), Format::Dtm(None));
        assert_eq!(symmetric, whole);
    }
}
