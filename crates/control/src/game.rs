//! Control files of a game that differs from chess by what moves do: one table of several.

use hoffman_board::{Bitboard, Color, Format, Role};

use crate::elements::{
    format_element, futurebase_element, pawngen_element, piece_element, prune_element,
};
use crate::model::PawngenElement;
use crate::prune::PruneEffect;

/// A control file with outcomes, and comments.
#[derive(Clone, Debug, Default)]
pub struct GameControl {
    /// What stands above everything, in a comment.
    pub about: String,
    /// Which prunes there are.
    pub enables: Vec<(Color, PruneEffect)>,
    /// Whether both sides have the same men, and positions with either side to move are stored.
    pub is_symmetric: bool,
    /// The kings and pieces, with their squares if they have not all.
    pub pieces: Vec<(Color, Role, Option<Bitboard>)>,
    /// The pawn structures, if there are pawns.
    pub pawngen: Option<PawngenElement>,
    /// The names of tables that moves lead to, without their ending.
    pub futurebases: Vec<String>,
    /// What is pruned, in groups.
    pub prunes: Vec<PruneGroup>,
    /// The name of the table, without its ending.
    pub stem: String,
}

/// Prunes under one comment; without moves there is none.
#[derive(Clone, Debug, Default)]
pub struct PruneGroup {
    /// The comment.
    pub about: String,
    /// Patterns of a side's moves, and what becomes of them.
    pub moves: Vec<(Color, String, PruneEffect)>,
}

impl GameControl {
    /// The text of the file.
    pub fn text(&self) -> String {
        let lines = self.elements().into_iter().map(|line| format!("   {line}\n"));
        let lines: String = lines.collect();
        format!(
            "<?xml version=\"1.0\"?>\n\
             <!DOCTYPE tablebase SYSTEM \"http://www.freesoft.org/software/hoffman/tablebase.dtd\">\n\
             {}\n<tablebase>\n{lines}</tablebase>\n",
            comment(&self.about)
        )
    }

    fn elements(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (color, effect) in &self.enables {
            lines.push(format!("<prune-enable color=\"{color}\" type=\"{}\"/>", effect.name()));
        }
        if self.is_symmetric {
            lines.push("<index type=\"combinadic3\"/>".to_owned());
        }
        lines.push(format_element(Format::Basic));

        for (color, role, squares) in &self.pieces {
            let location = squares.map_or_else(String::new, |squares| {
                let names: Vec<String> = squares.into_iter().map(|s| s.to_string()).collect();
                format!(" location=\"{}\"", names.join(" "))
            });
            lines.push(piece_element(*color, *role, &location));
        }

        lines.extend(self.pawngen.as_ref().map(pawngen_element));
        if !self.futurebases.is_empty() {
            lines.push(comment("What captures and promotions lead to."));
        }
        let file = |stem: &String| futurebase_element(&format!("{stem}.htb"), false);
        lines.extend(self.futurebases.iter().map(file));

        for group in self.prunes.iter().filter(|group| !group.moves.is_empty()) {
            lines.push(comment(&group.about));
            for (color, pattern, effect) in &group.moves {
                lines.push(prune_element(*color, pattern, *effect));
            }
        }

        lines.push(format!("<output filename=\"{}.htb\"/>", self.stem));
        lines
    }
}

/// A comment, in which no two hyphens may follow each other.
fn comment(text: &str) -> String {
    format!("<!-- {} -->", text.replace("--", "- -"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ControlFile, Strictness};

    #[test]
    fn games_are_read_back() {
        let squares = Bitboard(0x7);
        let prune = (Color::White, "K[a-h][1-8]".to_owned(), PruneEffect::Discard);
        let game = GameControl {
            about: "Kings -- and nothing else.".to_owned(),
            enables: vec![(Color::White, PruneEffect::Discard)],
            is_symmetric: true,
            pieces: vec![
                (Color::White, Role::King, Some(squares)),
                (Color::Black, Role::King, None),
            ],
            prunes: vec![
                PruneGroup { about: "Off the squares.".to_owned(), moves: vec![prune] },
                PruneGroup::default(),
            ],
            stem: "kings".to_owned(),
            ..GameControl::default()
        };
        let control = ControlFile::parse(&game.text(), "test", Strictness::Control).unwrap();
        assert!(control.notices.is_empty());
        assert_eq!(control.pieces[0].squares, Some(squares));
        assert_eq!((control.prunes.len(), control.prune_enables.len()), (1, 1));
        assert_eq!(control.output_name().unwrap(), "kings.htb");
    }
}
