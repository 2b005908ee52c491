//! Prunes: which kinds of futuremoves are taken as decided, and the shell patterns that name them.
//!
//! The patterns are those of POSIX `fnmatch` with letter case ignored, preceded by the old rule
//! that the letters `any` stand for `*`. Written here because no crate folds case and quotes in
//! this way.

use hoffman_board::{Color, FuturemoveKind};

use crate::model::Place;

/// What happens to a pruned move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PruneEffect {
    /// The move wins for the side that makes it.
    Concede,
    /// The move is treated as if it did not exist.
    Discard,
}

impl PruneEffect {
    /// The word in a control file: `concede` or `discard`.
    pub const fn name(self) -> &'static str {
        match self {
            PruneEffect::Concede => "concede",
            PruneEffect::Discard => "discard",
        }
    }
}

/// A `prune` element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prune {
    /// The side whose moves are pruned; for stalemates the side that wins them.
    pub color: Color,
    /// The kinds of moves that are meant.
    pub pattern: PrunePattern,
    /// What happens to them.
    pub effect: PruneEffect,
    /// In the input of an expansion: for which tables the prune is meant. None: for all.
    pub condition: Option<String>,
    /// Where the element stands.
    pub place: Place,
}

impl Prune {
    /// Whether a kind of futuremove is pruned.
    pub fn matches(&self, kind: FuturemoveKind) -> bool {
        !self.is_stalemate() && self.pattern.matches(&kind.name())
    }

    /// Whether stalemates are meant, not moves.
    pub fn is_stalemate(&self) -> bool {
        self.pattern.text == "stalemate"
    }
}

/// A shell pattern: `*`, `?`, `[abc]`, `[a-d]`, `[!x]` or `[^x]`, backslash quotes. Letter case is
/// ignored; the first lower-case `any` and everything behind it reads as `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunePattern {
    text: String,
    items: Vec<PatternItem>,
}

/// One item of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternItem {
    /// Any text.
    Star,
    /// Any one character.
    One,
    /// This character, in lower case.
    Char(char),
    /// One character of these ranges, or of none of them.
    Set { negated: bool, ranges: Vec<(char, char)> },
    /// Nothing at all: a backslash with nothing behind it.
    Never,
}

impl PatternItem {
    /// Whether a single lower-case character fits.
    fn fits(&self, ch: char) -> bool {
        match self {
            PatternItem::One => true,
            PatternItem::Char(own) => *own == ch,
            PatternItem::Set { negated, ranges } => {
                ranges.iter().any(|&(low, high)| (low..=high).contains(&ch)) != *negated
            }
            PatternItem::Star | PatternItem::Never => false,
        }
    }
}

impl PrunePattern {
    /// Reads a pattern. Every text is one.
    pub fn new(text: &str) -> PrunePattern {
        let source = match text.find("any") {
            Some(at) => format!("{}*", text.get(..at).unwrap_or_default()),
            None => text.to_owned(),
        };
        let chars: Vec<char> = source.to_lowercase().chars().collect();
        let mut items = Vec::new();
        let mut rest = chars.as_slice();

        while let Some((&first, tail)) = rest.split_first() {
            rest = tail;
            if first == '*' && items.last() == Some(&PatternItem::Star) {
                continue;
            }
            items.push(match first {
                '*' => PatternItem::Star,
                '?' => PatternItem::One,
                '\\' => match rest.split_first() {
                    Some((&quoted, tail)) => {
                        rest = tail;
                        PatternItem::Char(quoted)
                    }
                    None => PatternItem::Never,
                },
                '[' => match read_set(rest) {
                    Some((set, tail)) => {
                        rest = tail;
                        set
                    }
                    None => PatternItem::Char('['),
                },
                other => PatternItem::Char(other),
            });
        }
        PrunePattern { text: text.to_owned(), items }
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the whole of `kind` fits the pattern.
    pub fn matches(&self, kind: &str) -> bool {
        let kind: Vec<char> = kind.to_lowercase().chars().collect();
        let (mut text, mut items) = (kind.as_slice(), self.items.as_slice());
        // Where to go on if the text behind the last star has to begin one character later.
        let mut retry: Option<(&[char], &[PatternItem])> = None;
        loop {
            match (items.split_first(), text.split_first()) {
                (Some((PatternItem::Star, items_left)), _) => {
                    items = items_left;
                    retry = Some((text, items_left));
                    continue;
                }
                (Some((item, items_left)), Some((&ch, text_left))) if item.fits(ch) => {
                    (items, text) = (items_left, text_left);
                    continue;
                }
                (None, None) => return true,
                _ => {}
            }
            let Some((from, items_left)) = retry else { return false };
            let Some((_, text_left)) = from.split_first() else { return false };
            (text, items) = (text_left, items_left);
            retry = Some((text_left, items_left));
        }
    }
}

/// Reads a bracket expression behind its `[`. None if it is never closed.
fn read_set(mut rest: &[char]) -> Option<(PatternItem, &[char])> {
    let negated = matches!(rest.first(), Some('!' | '^'));
    if negated {
        rest = rest.get(1..)?;
    }
    let mut ranges = Vec::new();
    loop {
        let (&first, tail) = rest.split_first()?;
        if first == ']' && !ranges.is_empty() {
            return Some((PatternItem::Set { negated, ranges }, tail));
        }
        let (low, tail) = read_member(rest)?;
        rest = tail;
        let mut high = low;
        if rest.first() == Some(&'-') && rest.get(1).is_some_and(|&c| c != ']') {
            (high, rest) = read_member(rest.get(1..)?)?;
        }
        ranges.push((low, high));
    }
}

/// Reads one end of a range, which a backslash may quote.
fn read_member(rest: &[char]) -> Option<(char, &[char])> {
    match rest.split_first()? {
        ('\\', tail) => tail.split_first().map(|(&ch, tail)| (ch, tail)),
        (&ch, tail) => Some((ch, tail)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        let pattern = PrunePattern::new(pattern);
        for kind in yes {
            assert!(pattern.matches(kind), "{} {kind}", pattern.as_str());
        }
        for kind in no {
            assert!(!pattern.matches(kind), "{} {kind}", pattern.as_str());
        }
    }

    #[test]
    fn patterns_match_as_the_manual_of_behaviour_says() {
        check("K??", &["Ke4", "KxP"], &["Re4", "K", "PxR=Q"]);
        check("[KR][a-h][1-8]", &["Ke4", "Ra1"], &["KxP", "Qa1"]);
        check("P=?", &["P=Q", "P=K"], &["PxR=Q"]);
        check("P*=?", &["P=Q", "PxR=Q"], &["PxR"]);
        check("R*", &["RxQ", "Ra4"], &["KxR"]);
        check("*", &["RxQ", "P=Q", ""], &[]);
        check("Kany", &["KxP", "Ke4"], &["Re4"]);
        check("KANY", &["kany", "KANY"], &["KxP"]);
        check("Pany thing*", &["Pf3"], &["Kf3"]);
        check("px[pq]", &["PxP", "PxQ"], &["PxR"]);
        check("P=[!Q]", &["P=R"], &["P=Q", "P="]);
        check("P=[^QR]", &["P=N"], &["P=Q", "P=R"]);
        check("P=[]Q]", &["P=]", "P=Q"], &["P=R"]);
        check("[a-]", &["a", "-"], &["b"]);
        check("\\*", &["*"], &["x"]);
        check("[\\]x]", &["]", "x"], &["\\"]);
        check("[KR", &["[kr"], &["K"]);
        check("K\\", &[], &["K", "K\\"]);
        check("*a*b", &["aab", "xaxb"], &["aba"]);
        check("stalemate", &["stalemate"], &["K"]);
    }

    #[test]
    fn a_stalemate_prune_matches_no_move() {
        let prune = |text| Prune {
            color: Color::White,
            pattern: PrunePattern::new(text),
            effect: PruneEffect::Concede,
            condition: None,
            place: Place::default(),
        };
        let capture = "KxP".parse().unwrap();
        assert!(prune("stalemate").is_stalemate() && !prune("stalemate").matches(capture));
        assert!(!prune("*").is_stalemate() && prune("*").matches(capture));
    }
}
