//! The game of assumptions as control files, one for every table that a position needs.
//!
//! A table has all positions of its men with the pawn structures that arise from the position.
//! What a capture or a promotion leads to is the same for all kinds of moves that lead there, so
//! they must all be played, or all lose, or all win.

mod rules;
mod table;

use std::collections::BTreeMap;

use hoffman_board::{Bitboard, Color, FuturemoveKind, Material, Rank, Role, Square, Variant};
use hoffman_prove::AssumedResult;
use hoffman_reader::shakmaty::{Chess, EnPassantMode, Position as _};
use hoffman_reader::{AsPosition, Error as ProbeError, FenError};

use self::rules::AssumedRules;
use crate::error::Error;
use crate::what_if::{Assumed, WhatIf};

/// More tables are not written about.
const MOST_TABLES: usize = 300;

/// A table has no more kings and pieces, pawns left aside.
const MOST_PIECES: usize = 5;

/// What pawns may become.
const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// Control files for a position under assumptions.
#[derive(Clone, Debug)]
pub struct ControlSet {
    position: Chess,
    rules: AssumedRules,
    /// What is assumed, in words.
    words: Vec<String>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlText {
    /// The name of the file.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// What moves of one side that lead to the same men do.
struct MoveGroup {
    color: Color,
    material: Material,
    kinds: Vec<FuturemoveKind>,
    ruling: Option<AssumedResult>,
}

impl ControlSet {
    /// The game in which these assumptions hold.
    ///
    /// Control files know one kind of positions without a move. So where a side may be left with
    /// moves that lose, and nothing else, its stalemates are lost, too; [`ControlSet::adds`] tells.
    ///
    /// # Errors
    /// The position is none of chess. [`Error::Assumption`]: control files cannot say it.
    pub fn new(position: impl AsPosition, assumed: &[WhatIf]) -> Result<ControlSet, Error> {
        let position = position.as_position(Variant::Normal)?.into_owned();
        let chess = Chess::try_from(&position).map_err(|reason| {
            ProbeError::from(FenError::Impossible { fen: position.fen(), reason })
        })?;
        if chess.ep_square(EnPassantMode::Legal).is_some() {
            return Err(refused("a position with a pawn that can be taken en passant"));
        }
        // What does not fit the position is told first.
        Assumed::new(assumed, None, &chess)?;
        let rules = AssumedRules::new(assumed, &chess)?;
        let mut words: Vec<String> = assumed.iter().map(ToString::to_string).collect();
        words.extend(rules.added.iter().map(ToString::to_string));
        Ok(ControlSet { position: chess, rules, words })
    }

    /// What has to be assumed beside, so that the tables say the same.
    #[must_use]
    pub fn adds(&self) -> Option<&WhatIf> {
        self.rules.added.as_ref()
    }

    /// The files, the table of the position last.
    ///
    /// # Errors
    /// [`Error::Assumption`]: there are too many or too large ones, or moves that lead to the same
    /// table are not alike.
    pub fn files(&self) -> Result<Vec<ControlText>, Error> {
        let men = self.position.board().clone().into_iter();
        let root = Material::from_men(men.map(|(_, man)| (man.color, man.role)));
        let mut tables: BTreeMap<(usize, u8, String), (Material, Vec<MoveGroup>)> = BTreeMap::new();
        let mut waiting = vec![root];
        while let Some(material) = waiting.pop() {
            let pawns = |color: Color| material.count.get(color).pawn;
            let pawns = pawns(Color::White) + pawns(Color::Black);
            let order = (material.men(), pawns, material.stem());
            if tables.contains_key(&order) {
                continue;
            }
            check_size(&material, tables.len())?;
            let groups = self.groups(&material)?;
            let followed = groups.iter().filter(|group| group.ruling.is_none());
            waiting.extend(followed.map(|group| group.material));
            tables.insert(order, (material, groups));
        }
        let text = |(material, groups): &(Material, Vec<MoveGroup>)| ControlText {
            name: format!("{}.xml", name_of(material)),
            text: self.text(material, groups, *material == root),
        };
        Ok(tables.values().map(text).collect())
    }

    /// The captures and promotions of a table by the men behind them.
    fn groups(&self, material: &Material) -> Result<Vec<MoveGroup>, Error> {
        let mut groups: Vec<MoveGroup> = Vec::new();
        for color in Color::ALL {
            for (kind, behind) in self.exits(material, color) {
                let ruling = self.rules.ruling(color, kind);
                let alike = groups
                    .iter_mut()
                    .find(|group| (group.color, group.material) == (color, behind));
                match alike {
                    Some(group) if group.ruling != ruling => {
                        let first =
                            group.kinds.first().map_or_else(String::new, ToString::to_string);
                        return Err(refused(&format!(
                            "{kind} unlike {first}, as both lead to {behind}"
                        )));
                    }
                    Some(group) => group.kinds.push(kind),
                    None => {
                        groups.push(MoveGroup {
                            color,
                            material: behind,
                            kinds: vec![kind],
                            ruling,
                        });
                    }
                }
            }
        }
        Ok(groups)
    }
}

impl ControlSet {
    /// What a side's captures and promotions leave on the board.
    fn exits(&self, material: &Material, color: Color) -> Vec<(FuturemoveKind, Material)> {
        let mut found = Vec::new();
        let promoted = |behind: Material, role: Role| {
            behind.without(color, Role::Pawn).map(|behind| behind.with(color, role))
        };
        for by in roles(material, color) {
            for of in roles(material, color.other()).filter(|&of| of != Role::King) {
                let Some(behind) = material.without(color.other(), of) else { continue };
                if by != Role::Pawn || self.pawns_take(color, of) {
                    found.push((FuturemoveKind::Capture { by, of, promotion: None }, behind));
                }
                for role in PROMOTIONS.into_iter().filter(|_| by == Role::Pawn && of != Role::Pawn)
                {
                    let kind = FuturemoveKind::Capture { by, of, promotion: Some(role) };
                    found.extend(promoted(behind, role).map(|behind| (kind, behind)));
                }
            }
        }
        for role in PROMOTIONS {
            let kind = FuturemoveKind::Promotion(role);
            found.extend(promoted(*material, role).map(|behind| (kind, behind)));
        }
        found
    }

    /// Whether pawns of a side may come to take men of a role without promoting. They stay on
    /// their files until something has been taken. A pawn that begins beside one of the other side
    /// may be taken en passant, as far as a table can tell: see [`ControlSet::taken_in_passing`].
    fn pawns_take(&self, color: Color, of: Role) -> bool {
        let rank = |square: Square| color.relative_rank(square.rank());
        let own = self.pawns(color).into_iter();
        if of != Role::Pawn {
            return own.into_iter().any(|from| rank(from) < Rank::Seventh);
        }
        let mixed = Color::ALL.into_iter().any(|color| self.has_pieces(color));
        let passes = |from, at| [from, at].map(rank) == [Rank::Fifth; 2] && are_beside(from, at);
        let meets = |from: Square, at: Square| {
            rank(at) > rank(from) && (mixed || are_beside(from, at)) || passes(from, at)
        };
        let enemies = self.pawns(color.other());
        own.into_iter().any(|from| enemies.into_iter().any(|at| meets(from, at)))
    }

    /// How many pawns a side's pawns may take en passant that have made no double step: a table
    /// counts with one wherever it may have been the last move. They begin where double steps end,
    /// or come there from another file.
    fn taken_in_passing(&self, color: Color) -> u64 {
        let enemy = color.other();
        let rank = |square: Square| color.relative_rank(square.rank());
        let takes =
            |side: Color| self.has_pieces(side.other()) || self.pawns_take(side, Role::Pawn);
        let meets = |from: Square, at: Square| match (rank(from), rank(at)) {
            (Rank::Fifth, Rank::Fifth) => are_beside(from, at),
            // One that stands beside may take it as it stands, and go on to the same square.
            (from_rank, Rank::Fifth) if from_rank < Rank::Fifth => {
                takes(color) && !are_beside(from, at)
            }
            (from, at) => from <= Rank::Fifth && at > Rank::Fifth && takes(enemy),
        };
        let own = self.pawns(color);
        let met = |at: &Square| own.into_iter().any(|from| meets(from, *at));
        self.pawns(enemy).into_iter().filter(met).count() as u64
    }

    /// Whether a side has, or may get, pieces that pawns can take.
    fn has_pieces(&self, color: Color) -> bool {
        let board = self.position.board();
        let pieces = board.by_color(color) & !board.pawns() & !board.kings();
        !pieces.is_empty() || !self.pawns(color).is_empty() && self.promotes(color)
    }

    /// Whether a side's promotions are played.
    fn promotes(&self, color: Color) -> bool {
        let kinds = PROMOTIONS.into_iter().map(FuturemoveKind::Promotion);
        kinds.into_iter().any(|kind| self.rules.ruling(color, kind).is_none())
    }

    /// The pawns of the position.
    fn pawns(&self, color: Color) -> Bitboard {
        self.position.board().pawns() & self.position.board().by_color(color)
    }
}

/// Whether two squares are on files side by side.
fn are_beside(a: Square, b: Square) -> bool {
    u32::from(a.file()).abs_diff(u32::from(b.file())) == 1
}

/// What control files cannot say.
fn refused(what: &str) -> Error {
    Error::Assumption(format!("--write-control: control files cannot express {what}"))
}

fn check_size(material: &Material, tables: usize) -> Result<(), Error> {
    let pawns = Color::ALL.map(|color| usize::from(material.count.get(color).pawn));
    let pieces = material.men() - pawns.iter().sum::<usize>();
    if tables >= MOST_TABLES || pieces > MOST_PIECES {
        return Err(Error::Assumption(format!(
            "--write-control: play leads to {material} and to too many or too large tables; say which \
             promotions and captures win or lose"
        )));
    }
    Ok(())
}

/// The name of a table, without its ending.
fn name_of(material: &Material) -> String {
    format!("what-if-{}", material.stem())
}

/// The roles that a side has, a king among them.
fn roles(material: &Material, color: Color) -> impl Iterator<Item = Role> {
    let men = *material.count.get(color);
    Role::ALL.into_iter().filter(move |role| *men.get(*role) > 0)
}
