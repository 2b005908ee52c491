//! Complete endings by the names of their control files: `kqk`, `kpkp-basic`, `qvr` for suicide
//! chess.
//!
//! Owns the names, what their options mean, and which endings lead to which. The text is written by
//! [`crate::write`].

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use hoffman_board::value::FlagType;
use hoffman_board::{Bitboard, Color, Format, MAX_PIECES, Material, Role, Variant};

use crate::check::{check_declarations, check_pieces};
use crate::error::ControlError;
use crate::location::resolve_pieces;
use crate::model::{ControlFile, IndexType, Strictness};
use crate::write::{NewControlFile, render};

/// The men in the order of names, kings included.
const NAME_ORDER: [Role; 6] =
    [Role::King, Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::Pawn];

/// What a pawn may become in the order in which the tables are named. A king in suicide chess only.
const PROMOTIONS: [Role; 5] = [Role::Queen, Role::Rook, Role::Bishop, Role::Knight, Role::King];

/// Why a name is not that of a control file that can be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndingError {
    /// No ending, or an option that is not known.
    #[error("Invalid control filename {name}: {reason}")]
    Invalid {
        /// The name.
        name: Box<str>,
        /// What is wrong with it.
        reason: NameProblem,
    },
    /// An ending by another name than its own.
    #[error(
        "Improper control filename {name}: the men of a side stand in the order k q r b n p and the \
         stronger side is named first; write {proper}.xml"
    )]
    Improper {
        /// The name.
        name: Box<str>,
        /// The ending's own name.
        proper: Box<str>,
    },
    /// The options cannot be had for these men.
    #[error("{name}.xml cannot be written: {source}")]
    Impossible {
        /// The ending.
        name: Box<str>,
        /// The first conflict.
        source: Box<ControlError>,
    },
}

/// What is wrong with a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameProblem {
    /// The size of propagation tables is no number.
    #[error("-{0}: write a whole number of megabytes from 1, as in -prop64")]
    Megabytes(Box<str>),
    /// There is no such option.
    #[error(
        "there is no option -{0}; the options are -basic -whitewins -naive -naive2 -simple -compact -propN \
         -4x4 -2x8"
    )]
    Option(Box<str>),
    /// Two options say the same thing.
    #[error("-{option} is a second {kind}")]
    Second {
        /// The later one.
        option: Box<str>,
        /// What it says.
        kind: &'static str,
    },
    /// It cannot be seen where the second side begins.
    #[error(
        "each side begins with its king, as in krkp.xml; in suicide chess a v stands between the sides, as in \
         krvp.xml"
    )]
    Sides,
    /// A letter that stands for no piece.
    #[error("'{0}' is no piece letter (k q r b n p)")]
    Letter(char),
    /// A side has nothing.
    #[error("each side needs a man")]
    NoMan,
    /// Too many men.
    #[error("{0} men are too many, at most {MAX_PIECES} are possible")]
    TooMany(usize),
    /// Not one king a side.
    #[error("each side has one king, but for suicide chess")]
    Kings,
}

/// What the options of a name ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct NameOptions {
    format: Format,
    index: Option<IndexType>,
    megabytes: Option<u32>,
    /// The part of the board that all men are confined to.
    board: Option<Bitboard>,
}

/// A complete ending with the form of its table, known by the name of its control file.
///
/// The name of normal chess is `k`, White's other men, `k`, Black's; that of suicide chess is
/// White's men, `v`, Black's. The stronger side is White: the one with more men or else of more
/// worth. Options follow, each behind a hyphen: `basic` or `whitewins` (else dtm); `naive`,
/// `naive2`, `simple` or `compact` (else combinadic5); `propN` for propagation tables of N
/// megabytes; `4x4` for the squares a1 to d4 or `2x8` for the files a and b, which no man may
/// leave. Files of `whitewins`, `4x4` and `2x8` are of no use with colours exchanged: there either
/// side may be named first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ending {
    material: Material,
    variant: Variant,
    options: NameOptions,
    /// The options as they were written, each with its hyphen.
    suffix: String,
}

impl FromStr for Ending {
    type Err = EndingError;

    /// Reads a name, with or without `.xml`.
    fn from_str(text: &str) -> Result<Ending, EndingError> {
        let invalid = |reason| EndingError::Invalid { name: text.into(), reason };
        let stem = text.strip_suffix(".xml").unwrap_or(text);
        let men_length = stem.find('-').unwrap_or(stem.len());
        let (men, suffix) = stem.split_at(men_length);
        let options = read_options(suffix).map_err(invalid)?;
        let (material, variant) = read_men(men).map_err(invalid)?;
        let ending = Ending { material, variant, options, suffix: suffix.to_owned() };
        let proper = ending.proper().0;
        if proper.to_string() != stem {
            let proper = proper.to_string().into();
            return Err(EndingError::Improper { name: text.into(), proper });
        }
        Ok(ending)
    }
}

impl fmt::Display for Ending {
    /// The name without `.xml`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for color in Color::ALL {
            if color == Color::Black && self.variant == Variant::Suicide {
                f.write_str("v")?;
            }
            for role in NAME_ORDER {
                for _ in 0..*self.material.count.get(color).get(role) {
                    write!(f, "{}", role.char())?;
                }
            }
        }
        f.write_str(&self.suffix)
    }
}

impl Ending {
    /// The text of the control file, every table that a capture or a promotion leads to as
    /// futurebase.
    ///
    /// # Errors
    ///
    /// [`EndingError::Impossible`] if the index type cannot number these men.
    pub fn control_text(&self) -> Result<String, EndingError> {
        let name = self.to_string();
        let text = self.render();
        expect_valid(&text, &format!("{name}.xml")).map_err(|source| EndingError::Impossible {
            name: name.into(),
            source: source.into(),
        })?;
        Ok(text)
    }

    /// The ending followed by everything that it depends on, each once: captures come before
    /// promotions, and what an ending leads to stands behind it.
    ///
    /// # Errors
    ///
    /// [`EndingError::Impossible`] if one of the control files cannot be written.
    pub fn with_dependencies(&self) -> Result<Vec<Ending>, EndingError> {
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        let mut left = vec![self.clone()];
        while let Some(ending) = left.pop() {
            if !seen.insert(ending.to_string()) {
                continue;
            }
            ending.control_text().map_err(|error| match error {
                EndingError::Impossible { source, .. } => {
                    EndingError::Impossible { name: self.to_string().into(), source }
                }
                other => other,
            })?;
            let next = ending.futurebases(ending.omits_side_to_move());
            left.extend(next.into_iter().rev().map(|(ending, _)| ending));
            all.push(ending);
        }
        Ok(all)
    }

    /// The ending under its own name, and whether its colours had to be exchanged for that.
    fn proper(&self) -> (Ending, bool) {
        let (material, inverted) =
            if self.is_invertible() { self.material.normalized() } else { (self.material, false) };
        (Ending { material, ..self.clone() }, inverted)
    }

    /// Whether the table can be used with colours exchanged: the board is the same from both sides,
    /// and entries do not speak of one colour.
    fn is_invertible(&self) -> bool {
        self.options.board.is_none() && !matches!(self.options.format, Format::Flag(_))
    }

    /// Whether the table will not say who is to move. Then only tables for White's moves are named.
    fn omits_side_to_move(&self) -> bool {
        self.material.is_symmetric() && self.options.index.is_none() && self.is_invertible()
    }

    /// The endings one capture or promotion away, and whether with colours exchanged: captures,
    /// then for each colour its promotions, each without and with a capture. Of White's moves only,
    /// if so asked.
    fn futurebases(&self, white_only: bool) -> Vec<(Ending, bool)> {
        let mut found: Vec<(Ending, bool)> = Vec::new();
        let mut add = |material: Option<Material>| {
            // A side that has lost its last man has won: there is no table of that.
            let both = |m: &Material| {
                Color::ALL.into_iter().all(|color| m.count.get(color).iter().any(|&n| n > 0))
            };
            let Some(material) = material.filter(both) else { return };
            let successor = Ending { material, ..self.clone() }.proper();
            let needed = !(successor.1 && white_only);
            if needed && !found.contains(&successor) {
                found.push(successor);
            }
        };
        let kings_are_men = self.variant == Variant::Suicide;
        let material = self.material;
        for color in Color::ALL {
            for role in NAME_ORDER.into_iter().filter(|&r| kings_are_men || r != Role::King) {
                add(material.without(color, role));
            }
        }
        let others = || PROMOTIONS.into_iter().filter(move |&r| kings_are_men || r != Role::King);
        for color in Color::ALL {
            let Some(without_pawn) = material.without(color, Role::Pawn) else { continue };
            for promoted in others().map(|role| without_pawn.with(color, role)) {
                add(Some(promoted));
                for captured in others().filter(|&r| *material.count.get(!color).get(r) > 0) {
                    add(promoted.without(!color, captured));
                }
            }
        }
        found
    }

    fn render(&self) -> String {
        render(&NewControlFile {
            material: &self.material,
            variant: self.variant,
            format: self.options.format,
            index: self.options.index,
            megabytes: self.options.megabytes,
            board: self.options.board,
            locations: &[],
            futurebases: self.named_futurebases(self.omits_side_to_move()),
            stem: self.to_string(),
        })
    }

    /// The tables that the ending leads to by name, and whether with colours exchanged.
    pub(crate) fn named_futurebases(&self, white_only: bool) -> Vec<(String, bool)> {
        let named = |(ending, inverted): (Ending, bool)| (ending.to_string(), inverted);
        self.futurebases(white_only).into_iter().map(named).collect()
    }

    /// An ending of normal chess without options.
    pub(crate) fn plain(material: &Material) -> Ending {
        Ending {
            material: *material,
            variant: Variant::Normal,
            options: NameOptions::default(),
            suffix: String::new(),
        }
    }
}

impl Default for NameOptions {
    fn default() -> NameOptions {
        NameOptions { format: Format::Dtm(None), index: None, megabytes: None, board: None }
    }
}

/// Reads the options of a name, each with its hyphen.
fn read_options(suffix: &str) -> Result<NameOptions, NameProblem> {
    let mut options = NameOptions::default();
    let mut seen: Vec<&str> = Vec::new();
    for word in suffix.split('-').skip(1) {
        let digits = word.strip_prefix("prop");
        let kind = match (word, digits) {
            ("basic", _) => {
                options.format = Format::Basic;
                "format"
            }
            ("whitewins", _) => {
                options.format = Format::Flag(FlagType::WhiteWins);
                "format"
            }
            ("naive" | "naive2" | "simple" | "compact", _) => {
                options.index = IndexType::from_name(word);
                "index type"
            }
            ("4x4", _) => {
                options.board = Some(Bitboard(0x0F0F_0F0F));
                "board"
            }
            ("2x8", _) => {
                options.board = Some(Bitboard(0x0303_0303_0303_0303));
                "board"
            }
            (_, Some(digits)) => {
                let number = digits.parse().ok().filter(|&megabytes: &u32| megabytes > 0);
                // Anything but plain digits would give the file a second name.
                let plain = number.filter(|number| number.to_string() == digits);
                let plain = plain.ok_or_else(|| NameProblem::Megabytes(word.into()))?;
                options.megabytes = Some(plain);
                "size of propagation tables"
            }
            _ => return Err(NameProblem::Option(word.into())),
        };
        if seen.contains(&kind) {
            return Err(NameProblem::Second { option: word.into(), kind });
        }
        seen.push(kind);
    }
    Ok(options)
}

/// Reads the men of a name.
fn read_men(text: &str) -> Result<(Material, Variant), NameProblem> {
    let mut men = Vec::new();
    let (white, black, variant) = if let Some((white, black)) = text.split_once('v') {
        (white, black, Variant::Suicide)
    } else {
        let second = text.strip_prefix('k').and_then(|rest| rest.find('k'));
        let second = second.ok_or(NameProblem::Sides)?;
        let (white, black) = text.split_at(second + 1);
        (white, black, Variant::Normal)
    };
    for (color, side) in [(Color::White, white), (Color::Black, black)] {
        for letter in side.chars() {
            let role = NAME_ORDER.into_iter().find(|role| role.char() == letter);
            men.push((color, role.ok_or(NameProblem::Letter(letter))?));
        }
        if side.is_empty() {
            return Err(NameProblem::NoMan);
        }
    }
    if men.len() > MAX_PIECES {
        return Err(NameProblem::TooMany(men.len()));
    }
    let material = Material::from_men(men);
    let kings = |color| material.count.get(color).king;
    if variant == Variant::Normal && Color::ALL.into_iter().any(|color| kings(color) != 1) {
        return Err(NameProblem::Kings);
    }
    Ok((material, variant))
}

/// Checks what can be checked without other files.
fn expect_valid(text: &str, origin: &str) -> Result<(), ControlError> {
    let control = ControlFile::parse(text, origin, Strictness::Control)?;
    check_declarations(&control)?;
    check_pieces(&control, &resolve_pieces(&control)?).map(drop)
}
