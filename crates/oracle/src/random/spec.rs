//! What a table is to be: its men and where they may stand, and which moves lead out of it.

use hoffman_board::pieces::default_squares;
use hoffman_board::{
    Bitboard, Color, Format, Material, PAWN_SQUARES, Role, Square, Symmetry, Variant,
};
use hoffman_control::{ControlFile, PruneEffect, Strictness};

use super::text::pawngen_element;

/// Where a man may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restriction {
    Anywhere,
    On(Bitboard),
    Plus(Square),
}

/// A man of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RandomMan {
    pub(super) color: Color,
    pub(super) role: Role,
    pub(super) place: Restriction,
}

impl RandomMan {
    /// The squares it may stand on, of a plus pawn at most.
    pub(super) fn squares(&self) -> Bitboard {
        match self.place {
            Restriction::Anywhere => default_squares(self.role),
            Restriction::On(squares) => squares,
            Restriction::Plus(start) => {
                Bitboard::from_file(start.file())
                    .into_iter()
                    .filter(|&s| self.color.fold_wb(s >= start, s <= start))
                    .collect::<Bitboard>()
                    & PAWN_SQUARES
            }
        }
    }

    pub(super) fn flipped(&self) -> RandomMan {
        let place = match self.place {
            Restriction::Anywhere => Restriction::Anywhere,
            Restriction::On(squares) => Restriction::On(squares.flip_vertical()),
            Restriction::Plus(start) => Restriction::Plus(start.flip_vertical()),
        };
        RandomMan { color: self.color.other(), role: self.role, place }
    }
}

/// A pawngen element, as its attributes say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pawngen {
    pub(super) start: [Bitboard; 2],
    pub(super) required: [usize; 2],
    pub(super) queens: [usize; 2],
    pub(super) captures: [usize; 2],
    pub(super) part: Option<(usize, usize)>,
}

/// A table to be.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub(super) variant: Variant,
    pub(super) format: Format,
    pub(super) men: Vec<RandomMan>,
    pub(super) pawngen: Option<Pawngen>,
    /// Which prunes may be enabled.
    pub(super) may: Vec<(Color, PruneEffect)>,
    /// How many futurebases may follow each other.
    pub(super) depth: usize,
    /// How many images of the board share an index; 0 leaves it to the program.
    pub(super) symmetry: u8,
}

/// A table that answers moves of another.
#[derive(Clone, Debug)]
pub(super) struct Child {
    pub(super) output: String,
    pub(super) inverted: bool,
    pub(super) relation: Relation,
}

/// Which moves a table answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Normal,
    /// The other part of a split table.
    Part,
    Capture(Color, Role),
    Promotion(Color, Role),
    /// The side that promotes, what to, what it takes.
    CapturePromotion(Color, Role, Role),
}

impl Relation {
    /// The word in a control file.
    pub(super) fn word(self) -> Option<&'static str> {
        match self {
            Relation::Normal => Some("normal"),
            Relation::Part => None,
            Relation::Capture(..) => Some("capture"),
            Relation::Promotion(..) => Some("promotion"),
            Relation::CapturePromotion(..) => Some("capture-promotion"),
        }
    }
}

pub(super) const EFFECTS: [PruneEffect; 2] = [PruneEffect::Concede, PruneEffect::Discard];
pub(super) const PIECES: [Role; 4] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight];

/// A kind of move out of a table that chess has not ruled out, and the futurebases that may answer
/// it.
pub(super) struct MoveKind {
    pub(super) text: String,
    pub(super) relation: Relation,
}

impl Spec {
    pub(super) fn men_of(&self, color: Color, role: Role) -> usize {
        let pawns = match &self.pawngen {
            Some(p) if role == Role::Pawn => p.required[color.fold_wb(0, 1)],
            _ => 0,
        };
        pawns + self.men.iter().filter(|m| (m.color, m.role) == (color, role)).count()
    }

    pub(super) fn men_by_color(&self, color: Color) -> usize {
        Role::ALL.iter().map(|&role| self.men_of(color, role)).sum()
    }

    pub(super) fn material(&self) -> Material {
        let mut men = Vec::new();
        for color in Color::ALL {
            for role in Role::ALL {
                men.extend(std::iter::repeat_n((color, role), self.men_of(color, role)));
            }
        }
        Material::from_men(men)
    }

    /// Gives all men squares that are the same in the images that share an index.
    pub(super) fn make_symmetric(&mut self) {
        if self.symmetry > 2 && self.men.iter().any(|m| m.role == Role::Pawn) {
            self.symmetry = 2;
        }
        let symmetries = || Symmetry::all().take(usize::from(self.symmetry.max(1)));
        for man in
            self.men.iter_mut().filter(|m| self.symmetry > 1 && m.place != Restriction::Anywhere)
        {
            let images = || symmetries().map(|s| s.apply_bitboard(man.squares()));
            let inner = images().fold(Bitboard::FULL, |all, set| all & set);
            let outer = images().fold(Bitboard::EMPTY, |all, set| all | set);
            let squares = if inner.any() { inner } else { outer } & default_squares(man.role);
            let all = squares == default_squares(man.role);
            man.place = if all { Restriction::Anywhere } else { Restriction::On(squares) };
        }
    }

    /// Whether no man is restricted.
    pub(super) fn is_whole(&self) -> bool {
        self.pawngen.is_none() && self.men.iter().all(|m| m.place == Restriction::Anywhere)
    }

    /// Whether the colours can be exchanged and the side to move is not stored.
    pub(super) fn is_color_symmetric(&self, index: &str) -> bool {
        let flag = matches!(self.format, Format::Flag(_));
        let index = matches!(index, "combinadic4" | "combinadic5");
        self.is_whole() && self.material().is_symmetric() && !flag && index
    }

    pub(super) fn promotions(&self) -> Vec<Role> {
        let king = (self.variant == Variant::Suicide).then_some(Role::King);
        PIECES.into_iter().chain(king).collect()
    }

    /// What can be captured of a side.
    pub(super) fn victims(&self, color: Color) -> Vec<Role> {
        let royal = self.variant == Variant::Normal;
        let mut roles = Role::ALL.to_vec();
        roles.retain(|&r| self.men_of(color, r) > 0 && !(royal && r == Role::King));
        roles
    }

    /// All kinds of moves of a side that may lead out of the table.
    pub(super) fn kinds(&self, color: Color) -> Vec<MoveKind> {
        let letter = |role: Role| role.upper_char();
        let enemy = color.other();
        let mut all = Vec::new();
        for role in Role::ALL.into_iter().filter(|&r| self.men_of(color, r) > 0) {
            let alike = |m: &&RandomMan| (m.color, m.role) == (color, role);
            if self.men.iter().filter(alike).any(|m| m.place != Restriction::Anywhere) {
                let kind = |square: Square| MoveKind {
                    text: format!("{}{square}", letter(role)),
                    relation: Relation::Normal,
                };
                all.extend(default_squares(role).into_iter().map(kind));
            }
            for victim in self.victims(enemy) {
                let text = format!("{}x{}", letter(role), letter(victim));
                all.push(MoveKind { text, relation: Relation::Capture(enemy, victim) });
            }
        }
        if self.men_of(color, Role::Pawn) > 0 {
            for to in self.promotions() {
                let text = format!("P={}", letter(to));
                all.push(MoveKind { text, relation: Relation::Promotion(color, to) });
                for victim in self.victims(enemy).into_iter().filter(|&r| r != Role::Pawn) {
                    let text = format!("Px{}={}", letter(victim), letter(to));
                    let relation = Relation::CapturePromotion(color, to, victim);
                    all.push(MoveKind { text, relation });
                }
            }
        }
        all
    }
}

pub(super) fn flipped(pawngen: &Pawngen) -> Pawngen {
    let swap = |[white, black]: [usize; 2]| [black, white];
    let [white, black] = pawngen.start.map(Bitboard::flip_vertical);
    Pawngen {
        start: [black, white],
        required: swap(pawngen.required),
        queens: swap(pawngen.queens),
        captures: swap(pawngen.captures),
        part: pawngen.part,
    }
}

/// How many structures a pawngen element admits.
pub(super) fn count_structures(pawngen: &Pawngen) -> usize {
    let text = format!("<tablebase>{}</tablebase>", pawngen_element(pawngen));
    let control = ControlFile::parse(&text, "random", Strictness::Control).expect("well-formed");
    control.pawngen.map_or(0, |element| crate::arrangements(&element).len())
}
