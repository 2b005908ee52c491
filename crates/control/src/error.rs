//! What can be wrong with a control file, and what is merely worth saying.

use std::collections::HashMap;
use std::fmt;
use std::str::Utf8Error;

use hoffman_board::MAX_PIECES;

use crate::limits::{MOST_ATTRIBUTES, MOST_PATTERN};

/// The element that a message is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The file, as it was named to the parser.
    pub origin: Box<str>,
    /// The line on which the element begins, from 1.
    pub line: u32,
    /// The element's name.
    pub element: Box<str>,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}, <{}>", self.origin, self.line, self.element)
    }
}

/// Something found that does not stop the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The line it is about, from 1.
    pub line: u32,
    /// One sentence that names file, line and element.
    pub message: String,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// More remarks than this are counted, not listed.
const LISTED: usize = 20;

/// Remarks of which those that differ in the line only are said once, and of which there are not
/// too many.
pub fn folded(messages: Vec<String>) -> Vec<String> {
    let (mut messages, more) = fold(messages, |message| message);
    messages.extend(more);
    messages
}

/// The same for the remarks on a text.
pub(crate) fn fold_notices(notices: Vec<Notice>, origin: &str) -> Vec<Notice> {
    let (mut notices, more) = fold(notices, |notice| &mut notice.message);
    let line = notices.last().map_or(1, |last| last.line);
    notices.extend(more.map(|more| Notice { line, message: format!("{origin}: {more}") }));
    notices
}

/// Items with messages, folded; and what is to be said of those left out.
fn fold<T>(items: Vec<T>, message: impl Fn(&mut T) -> &mut String) -> (Vec<T>, Option<String>) {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut listed: Vec<(T, usize)> = Vec::new();
    let mut more = 0;
    for mut item in items {
        let place = *places.entry(without_line(message(&mut item))).or_insert(listed.len());
        if let Some((_, times)) = listed.get_mut(place) {
            *times += 1;
        } else if listed.len() < LISTED {
            listed.push((item, 1));
        } else {
            more += 1;
        }
    }
    for (item, times) in &mut listed {
        let message = message(item);
        match *times {
            1 => {}
            2 => message.push_str(" (and once more)"),
            times => *message = format!("{message} (and {} times more)", times - 1),
        }
    }
    let more = match more {
        0 => None,
        1 => Some("and one more remark".to_owned()),
        _ => Some(format!("and {more} more remarks")),
    };
    (listed.into_iter().map(|(item, _)| item).collect(), more)
}

/// A message without the first number of a line in it.
fn without_line(message: &str) -> String {
    const LINE: &str = ", line ";
    match message.split_once(LINE) {
        Some((before, behind)) => {
            let behind = behind.trim_start_matches(|c: char| c.is_ascii_digit());
            [before, LINE, behind].concat()
        }
        None => message.to_owned(),
    }
}

/// Why a control file or the header of a table is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The bytes are no text.
    #[error("{origin}, line {line}: not UTF-8 text; save the file as UTF-8")]
    Encoding {
        /// The file.
        origin: Box<str>,
        /// The line of the first byte that does not fit.
        line: u32,
        /// What the decoder says.
        source: Utf8Error,
    },
    /// The text is not well-formed XML.
    #[error("{origin}, line {line}: not well-formed XML: {source}")]
    Xml {
        /// The file.
        origin: Box<str>,
        /// The line at which the parser stopped.
        line: u32,
        /// What the parser says.
        source: Box<roxmltree::Error>,
    },
    /// More attributes than an element may have.
    #[error("{origin}, line {line}: an element has more than {MOST_ATTRIBUTES} attributes")]
    ManyAttributes {
        /// The file.
        origin: Box<str>,
        /// The line of the first attribute too many.
        line: u32,
    },
    /// A pattern that is too long.
    #[error("{0}: the pattern has more than {MOST_PATTERN} characters")]
    LongPattern(Site),
    /// The document is something else.
    #[error("{0}: the root element of a control file is <tablebase>")]
    NotTablebase(Site),
    /// The document type declares entities.
    #[error("{0}: declarations inside the DOCTYPE are not supported; remove the part in brackets")]
    InternalSubset(Site),
    /// The closing tag stands where readers of the table would take it for the end.
    #[error(
        "{0}: the text '</tablebase>' must not stand before the closing tag, not even in a comment"
    )]
    EndTagInside(Site),
    /// An element that is not known, or not known here.
    #[error("{site}: this element is not allowed in <{parent}>")]
    UnknownElement {
        /// The element.
        site: Site,
        /// The element around it.
        parent: Box<str>,
    },
    /// Text or elements in an element that takes none.
    #[error("{site}: '{found}' does not belong here")]
    UnexpectedContent {
        /// The element.
        site: Site,
        /// The beginning of the text, or the name of the element, that was found.
        found: Box<str>,
    },
    /// An attribute that is not known.
    #[error("{site}: there is no attribute '{attribute}'")]
    UnknownAttribute {
        /// The element.
        site: Site,
        /// The attribute.
        attribute: Box<str>,
    },
    /// A required attribute is missing.
    #[error("{site}: attribute '{attribute}' is missing")]
    MissingAttribute {
        /// The element.
        site: Site,
        /// The attribute.
        attribute: Box<str>,
    },
    /// A value that is not one of the known words.
    #[error("{site}: attribute '{attribute}' cannot be '{value}'; allowed: {allowed}")]
    BadValue {
        /// The element.
        site: Site,
        /// The attribute.
        attribute: &'static str,
        /// What was found.
        value: Box<str>,
        /// What is allowed, separated by commas.
        allowed: Box<str>,
    },
    /// An element that may stand only once.
    #[error("{site}: a second declaration of the {what}, after the one on line {first_line}")]
    Duplicate {
        /// The second element.
        site: Site,
        /// What is declared twice.
        what: &'static str,
        /// The line of the first.
        first_line: u32,
    },
    /// A wrapper without the one child it needs.
    #[error("{site}: needs exactly one of dtm, dtc, basic, flag and holds {found}")]
    FormatWrapper {
        /// The wrapper.
        site: Site,
        /// How many it holds.
        found: usize,
    },
    /// A value of the old program that means nothing now.
    #[error("{site}: {what} is no longer supported; {remedy}")]
    NoLongerSupported {
        /// The element.
        site: Site,
        /// What is no longer supported.
        what: Box<str>,
        /// What to do instead.
        remedy: &'static str,
    },
    /// A prune of stalemates that does not concede them.
    #[error("{0}: stalemates can only be conceded, not discarded; write type=\"concede\"")]
    StalemateDiscarded(Site),
    /// A prune whose colour and effect are not enabled.
    #[error("{site}: needs <prune-enable color=\"{color}\" type=\"{effect}\"/>, which is missing")]
    PruneNotEnabled {
        /// The prune.
        site: Site,
        /// Its colour.
        color: hoffman_board::Color,
        /// Its effect.
        effect: &'static str,
    },
    /// A futurebase without a file.
    #[error("{0}: no file name is given; write filename=\"...\" (addresses are not supported)")]
    NoFileName(Site),
    /// No output element.
    #[error("{0}: no output file is named; add <output filename=\"...\"/> or use -o")]
    NoOutput(Site),
    /// A table cannot be written to a URL.
    #[error("{site}: the table cannot be written to '{name}'; name a file")]
    OutputIsUrl {
        /// The output element.
        site: Site,
        /// What it names.
        name: Box<str>,
    },
    /// A text that is no list of squares.
    #[error("{site}: illegal {whose} location '{text}'; {remedy}")]
    Location {
        /// The piece or pawngen element.
        site: Site,
        /// `piece` or `pawn`.
        whose: &'static str,
        /// The list of squares.
        text: Box<str>,
        /// What is wrong with it.
        remedy: &'static str,
    },
    /// More men than a table can have.
    #[error("{site}: too many pieces: {count}, at most {MAX_PIECES} are possible")]
    TooManyPieces {
        /// The first element too many.
        site: Site,
        /// The number of pieces.
        count: usize,
    },
    /// A side has no men.
    #[error("{site}: {color} has no piece; each side needs at least one")]
    NoPiece {
        /// The root element.
        site: Site,
        /// The side.
        color: hoffman_board::Color,
    },
    /// Not one king a side.
    #[error(
        "{site}: {color} has {count} kings; each side needs exactly one, but for suicide chess"
    )]
    Kings {
        /// The king too many, or the root element.
        site: Site,
        /// The side.
        color: hoffman_board::Color,
        /// Its kings.
        count: usize,
    },
    /// Doubled plus pawns in the wrong order.
    #[error("{0}: doubled pawns of one colour must be listed from rank 2 upwards")]
    DoubledOrder(Site),
    /// Opposed plus pawns in the wrong order.
    #[error("{0}: of two pawns that block each other the white one must be listed first")]
    OpposedOrder(Site),
    /// Two pieces frozen on one square.
    #[error("{site}: two pieces are frozen on {square}")]
    FrozenTogether {
        /// The second piece.
        site: Site,
        /// The square.
        square: hoffman_board::Square,
    },
    /// Frozen pieces take all squares of another piece.
    #[error("{0}: all squares of this piece are taken by pieces that cannot move")]
    NoSquareLeft(Site),
    /// Pawns beside a pawngen element.
    #[error("{0}: ordinary pawns are not possible beside <pawngen>")]
    PawnBesidePawngen(Site),
    /// A condition that only an expansion can decide.
    #[error(
        "{0}: 'pawngen-condition' is for the input of 'hoffman pawngen'; expand the file with it"
    )]
    ConditionNotExpanded(Site),
    /// The number of pawns is left open, as in the input of an expansion.
    #[error(
        "{site}: the attribute '{attribute}' is missing; expand the file with 'hoffman pawngen', or add the attribute"
    )]
    PawnNumbersOpen {
        /// The pawngen element.
        site: Site,
        /// The attribute.
        attribute: &'static str,
    },
    /// The squares of the pawns are not known yet: see [`crate::resolve_pieces_with`].
    #[error("{0}: the pawn structures have not been worked out yet")]
    PawngenNotExpanded(Site),
    /// More pawns are required than the starting structure has.
    #[error(
        "{site}: no pawn position satisfies the element: {color} starts with {have} pawns, {need} are required"
    )]
    PawngenImpossible {
        /// The pawngen element.
        site: Site,
        /// The side.
        color: hoffman_board::Color,
        /// Pawns at the start.
        have: u64,
        /// Pawns required, those that must promote included.
        need: u64,
    },
    /// A symmetry that the table cannot have.
    #[error("{site}: symmetry {symmetry} is not possible {reason}")]
    Symmetry {
        /// The index element or, for the automatic choice, the root.
        site: Site,
        /// The symmetry.
        symmetry: u8,
        /// With what it is not possible.
        reason: &'static str,
    },
    /// An index type that cannot number the table.
    #[error("{site}: index type '{index}' is not possible {reason}")]
    Index {
        /// The piece in the way, or the index element, or the root.
        site: Site,
        /// The index type.
        index: &'static str,
        /// With what it is not possible.
        reason: &'static str,
    },
    /// Identical pieces that overlap only through a third one.
    #[error(
        "{site}: positions would have no index, as this piece and the one on line {other_line} share squares only through a third; list them so that each overlaps the one before, or let all share a square"
    )]
    NotTransitive {
        /// The later piece.
        site: Site,
        /// The line of the earlier one.
        other_line: u32,
    },
    /// A processing instruction that cannot be written.
    #[error("{0}: the text of a processing instruction must not contain '?>'")]
    Instruction(Site),
}
