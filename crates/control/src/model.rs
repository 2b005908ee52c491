//! The typed model of a control file. Words, not meanings: what follows from them is found
//! elsewhere.

use std::collections::BTreeMap;
use std::ops::Range;

use hoffman_board::{Bitboard, Color, Format, Role, Variant};

use crate::error::{ControlError, Notice, Site};
use crate::prune::{Prune, PruneEffect};

/// How strictly a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// A control file: everything unknown is refused.
    Control,
    /// The XML prefix of a table: what is unknown is noted; statistics and offsets count.
    Header,
}

/// Where an element stands in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The line of its first character, from 1.
    pub line: u32,
    /// Byte offset of its first character, after a byte-order mark.
    pub start: usize,
    /// Byte offset behind its last character.
    pub end: usize,
}

impl Place {
    /// The bytes of the element in [`ControlFile::text`].
    pub fn span(self) -> Range<usize> {
        self.start..self.end
    }
}

/// The index types that can be read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IndexType {
    /// Six bits a piece.
    Naive,
    /// Six bits a piece, five for the second of two identical ones.
    Naive2,
    /// Mixed radix over the allowed squares.
    Simple,
    /// Mixed radix with a king pair table.
    Compact,
    /// Combinations, the side to move always stored.
    Combinadic3,
    /// Combinations, the king pair least significant.
    Combinadic4,
    /// Combinations, the king pair at its place in the list.
    #[default]
    Combinadic5,
}

impl IndexType {
    /// All types.
    pub const ALL: [IndexType; 7] = [
        IndexType::Naive,
        IndexType::Naive2,
        IndexType::Simple,
        IndexType::Compact,
        IndexType::Combinadic3,
        IndexType::Combinadic4,
        IndexType::Combinadic5,
    ];

    /// The type of that name; `pawngen` is another name of combinadic4. None if there is none, or
    /// none that is still supported.
    pub fn from_name(name: &str) -> Option<IndexType> {
        if name == "pawngen" {
            return Some(IndexType::Combinadic4);
        }
        IndexType::ALL.into_iter().find(|t| t.name() == name)
    }

    /// The name in a control file.
    pub const fn name(self) -> &'static str {
        match self {
            IndexType::Naive => "naive",
            IndexType::Naive2 => "naive2",
            IndexType::Simple => "simple",
            IndexType::Compact => "compact",
            IndexType::Combinadic3 => "combinadic3",
            IndexType::Combinadic4 => "combinadic4",
            IndexType::Combinadic5 => "combinadic5",
        }
    }

    /// Whether it is `naive` or `naive2`.
    pub const fn is_naive(self) -> bool {
        matches!(self, IndexType::Naive | IndexType::Naive2)
    }

    /// Whether it is one of the combinadic types.
    pub const fn is_combinadic(self) -> bool {
        matches!(self, IndexType::Combinadic3 | IndexType::Combinadic4 | IndexType::Combinadic5)
    }

    /// Whether the white king and the first piece exchange their places before pieces are numbered.
    pub const fn moves_white_king_first(self) -> bool {
        matches!(self, IndexType::Combinadic3 | IndexType::Combinadic4)
    }
}

/// An index type with its symmetry, as declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDeclaration {
    /// The type.
    pub index_type: IndexType,
    /// The type as it was written: `pawngen` is an old name of `combinadic4`.
    pub written: String,
    /// The number of board images that share an entry: 1, 2, 4 or 8. None: to be chosen.
    pub symmetry: Option<u8>,
    /// Whether it stands in an attribute of the root element, as in the oldest files.
    pub on_root: bool,
    /// The `index` element, or the root element.
    pub place: Place,
}

/// An entry format, as declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatDeclaration {
    /// The format.
    pub format: Format,
    /// Whether it stands in an attribute of the root element, as in the oldest files.
    pub on_root: bool,
    /// The `dtm`, `dtc`, `basic` or `flag` element, or the root element.
    pub place: Place,
}

/// A `piece` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceElement {
    /// Whose man it is.
    pub color: Color,
    /// What it is.
    pub role: Role,
    /// The squares of the `location` attribute. None: all that the rules of chess allow.
    pub squares: Option<Bitboard>,
    /// The square of a plus pawn, from which it may advance.
    pub plus: Option<hoffman_board::Square>,
    /// Where the element stands.
    pub place: Place,
}

/// What a `pawngen` element says about one colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PawngenSide {
    /// The pawns of the starting structure.
    pub start: Bitboard,
    /// How many pawns the table has. None: left open, as in the input of an expansion.
    pub pawns_required: Option<u64>,
    /// How many pawns must have promoted.
    pub queens_required: u64,
    /// How many captures of pieces the pawns may have made.
    pub captures_allowed: u64,
    /// All squares on which a pawn stands in some structure of the table, as the header says.
    pub legal: Option<Bitboard>,
}

/// A `pawngen` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PawngenElement {
    /// White's pawns.
    pub white: PawngenSide,
    /// Black's pawns.
    pub black: PawngenSide,
    /// The number of the first structure of the table.
    pub start: u64,
    /// How many structures the table has. 0: all from `start`.
    pub count: u64,
    /// Where the structures begin in the file of a table. 0 in control files.
    pub offset: u64,
    /// How many `piece` elements stand before it: its pawns follow them in the piece list.
    pub position: usize,
    /// Where the element stands.
    pub place: Place,
}

impl PawngenElement {
    /// What it says about a colour.
    pub fn side(&self, color: Color) -> &PawngenSide {
        color.fold_wb(&self.white, &self.black)
    }
}

/// How a futurebase is said to relate to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FuturebaseKind {
    /// The same men on other squares.
    Normal,
    /// A man captured.
    Capture,
    /// A pawn promoted.
    Promotion,
    /// A man captured by a pawn that promotes.
    CapturePromotion,
}

impl FuturebaseKind {
    /// The word in a control file.
    pub const fn name(self) -> &'static str {
        match self {
            FuturebaseKind::Normal => "normal",
            FuturebaseKind::Capture => "capture",
            FuturebaseKind::Promotion => "promotion",
            FuturebaseKind::CapturePromotion => "capture-promotion",
        }
    }
}

/// A `futurebase` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FuturebaseElement {
    /// The file name. Empty only in headers.
    pub filename: String,
    /// The address, which is not used.
    pub url: Option<String>,
    /// The relation, if it is said.
    pub kind: Option<FuturebaseKind>,
    /// Whether its colours are exchanged before it is used.
    pub inverted: bool,
    /// Where the element stands.
    pub place: Place,
}

/// A `prune-enable` element, or `move-restriction` in old files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PruneEnable {
    /// The side whose moves may be pruned.
    pub color: Color,
    /// How.
    pub effect: PruneEffect,
    /// Where the element stands.
    pub place: Place,
}

/// An `output` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputElement {
    /// The file name, or the `url` attribute if there is no file name.
    pub filename: Option<String>,
    /// Where the element stands.
    pub place: Place,
}

/// An `enable-proptables` element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropTables {
    /// The size of a proptable in megabytes.
    pub megabytes: u64,
    /// Where the element stands.
    pub place: Place,
}

/// A control file, or the XML prefix of a table.
#[derive(Clone, Debug)]
pub struct ControlFile {
    /// The file as it was named to the parser, for messages.
    pub origin: String,
    /// How strictly it was read.
    pub mode: Strictness,
    /// The rules.
    pub variant: Variant,
    /// The index type and symmetry. None: `combinadic5` with an automatic symmetry.
    pub index: Option<IndexDeclaration>,
    /// The entry format. None: `dtm` with automatic width.
    pub format: Option<FormatDeclaration>,
    /// The pieces in order.
    pub pieces: Vec<PieceElement>,
    /// The pawn structures.
    pub pawngen: Option<PawngenElement>,
    /// The futurebases in order.
    pub futurebases: Vec<FuturebaseElement>,
    /// Which prunes are possible.
    pub prune_enables: Vec<PruneEnable>,
    /// The prunes in order.
    pub prunes: Vec<Prune>,
    /// Where the table goes.
    pub output: Option<OutputElement>,
    /// The size of propagation tables, if they are asked for.
    pub proptables: Option<PropTables>,
    /// Where the entries begin in the file of a table. 0 in control files.
    pub offset: u64,
    /// `tablebase-statistics`: the numbers by name.
    pub statistics: BTreeMap<String, i64>,
    /// `generation-statistics`: the texts by name, without the passes.
    pub generation: BTreeMap<String, String>,
    /// The content of a `<?hoffman ...?>` instruction before the root element.
    pub instruction: Option<String>,
    /// What was found that does not stop the work.
    pub notices: Vec<Notice>,
    /// The root element.
    pub root: Place,
    pub(crate) text: String,
}

impl ControlFile {
    /// One that says nothing.
    pub(crate) fn empty(origin: &str, mode: Strictness) -> ControlFile {
        ControlFile {
            origin: origin.to_owned(),
            mode,
            variant: Variant::Normal,
            index: None,
            format: None,
            pieces: Vec::new(),
            pawngen: None,
            futurebases: Vec::new(),
            prune_enables: Vec::new(),
            prunes: Vec::new(),
            output: None,
            proptables: None,
            offset: 0,
            statistics: BTreeMap::new(),
            generation: BTreeMap::new(),
            instruction: None,
            notices: Vec::new(),
            root: Place::default(),
            text: String::new(),
        }
    }

    /// The header of a table that no text describes, as of another program: men that may stand
    /// wherever the rules of chess allow, in this order, with the default index and this format.
    pub fn of_men(
        origin: &str,
        men: impl IntoIterator<Item = (Color, Role)>,
        format: Format,
    ) -> ControlFile {
        let place = Place::default();
        let piece = |(color, role)| PieceElement { color, role, squares: None, plus: None, place };
        ControlFile {
            format: Some(FormatDeclaration { format, on_root: false, place }),
            pieces: men.into_iter().map(piece).collect(),
            ..ControlFile::empty(origin, Strictness::Header)
        }
    }

    /// The text that was read, without a byte-order mark; empty if none was.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The index type, `combinadic5` if none is declared.
    pub fn index_type(&self) -> IndexType {
        self.index.as_ref().map_or_else(IndexType::default, |i| i.index_type)
    }

    /// The symmetry, if it is declared.
    pub fn symmetry(&self) -> Option<u8> {
        self.index.as_ref().and_then(|i| i.symmetry)
    }

    /// The entry format, `dtm` with automatic width if none is declared.
    pub fn entry_format(&self) -> Format {
        self.format.as_ref().map_or(Format::Dtm(None), |f| f.format)
    }

    /// The largest stored distance that occurs, from the statistics of a table.
    pub fn max_dtm(&self) -> Option<i64> {
        self.statistics.get("max-dtm").copied()
    }

    /// The smallest stored distance that occurs, from the statistics of a table.
    pub fn min_dtm(&self) -> Option<i64> {
        self.statistics.get("min-dtm").copied()
    }

    /// The program that made the table, from its generation statistics.
    pub fn program(&self) -> Option<&str> {
        self.generation.get("program").map(String::as_str)
    }

    /// Whether a kind of pruning is enabled.
    pub fn enables(&self, color: Color, effect: PruneEffect) -> bool {
        self.prune_enables.iter().any(|e| e.color == color && e.effect == effect)
    }

    /// The side that stalemates are conceded to.
    pub fn stalemates_conceded_to(&self) -> Option<Color> {
        self.prunes.iter().find(|p| p.is_stalemate()).map(|p| p.color)
    }

    /// Whether discarded moves of a sort that a futurebase answers spare their side mate and
    /// stalemate, so that a position in which only such moves are left is drawn. So it is with
    /// version 1.7, in tables with distances; ours count such a position as stalemate where those
    /// are conceded.
    pub fn discards_spare(&self) -> bool {
        let original = self.program().is_some_and(|program| program.starts_with("Hoffman Version"));
        self.entry_format().has_distance() && (original || self.stalemates_conceded_to().is_none())
    }

    /// Whether nothing but outcomes is wanted of solved slices: of a bitbase no more is asked for.
    /// In suicide chess the side that cannot move has won without a move, which is counted by
    /// itself.
    pub fn asks_outcomes(&self) -> bool {
        !self.entry_format().has_distance() && self.variant == Variant::Normal
    }

    /// The file that the table goes to.
    ///
    /// # Errors
    ///
    /// [`ControlError::NoOutput`] and [`ControlError::OutputIsUrl`].
    pub fn output_name(&self) -> Result<&str, ControlError> {
        let named = self.output.as_ref().and_then(|o| Some((o, o.filename.as_deref()?)));
        let Some((output, name)) = named.filter(|(_, name)| !name.is_empty()) else {
            let place = self.output.as_ref().map(|o| ("output", o.place));
            let (element, place) = place.unwrap_or(("tablebase", self.root));
            return Err(ControlError::NoOutput(self.site(place, element)));
        };
        if name.starts_with("http:") || name.starts_with("ftp:") {
            let site = self.site(output.place, "output");
            return Err(ControlError::OutputIsUrl { site, name: name.into() });
        }
        Ok(name)
    }

    /// Names an element for a message.
    pub fn site(&self, place: Place, element: &str) -> Site {
        Site { origin: self.origin.as_str().into(), line: place.line, element: element.into() }
    }

    /// The index element, or the root element if there is none, for messages.
    pub(crate) fn index_site(&self) -> Site {
        match &self.index {
            Some(index) if !index.on_root => self.site(index.place, "index"),
            _ => self.site(self.root, "tablebase"),
        }
    }
}
