//! A position of a list, as a line of EPD or of JSON.

use std::fmt::Write as _;

use hoffman_board::{Placement, Value, Variant};
use serde::{Serialize, Serializer};
use serde_json::json;

use super::candidates::{Candidate, Scan};
use super::{ListError, Zugzwang};
use crate::lines::{Bound, Category, Known};
use crate::moves::Move;
use crate::position::{Position, color_name};
use crate::report::{PositionVerdict, SaidReport};
use crate::words::known_in_words;

/// A position that is asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListedPosition {
    /// The position.
    pub position: Position,
    /// What is known of it.
    pub known: Known,
    /// What it costs to be on move, if zugzwangs are asked for.
    pub zugzwang: Option<Zugzwang>,
    /// The only move that keeps the result, if that is asked for.
    pub only: Option<Move>,
    /// The line in which the winner never has a choice, if that is asked for.
    pub line: Vec<Move>,
    variant: Variant,
}

impl Scan<'_> {
    /// What is to be said of a candidate; none if its moves are not what is asked for. Lines are
    /// left out unless it is `shown`.
    pub(super) fn listed(
        &self,
        candidate: &Candidate,
        shown: bool,
    ) -> Result<Option<ListedPosition>, ListError> {
        let lister = self.lister;
        let table = lister.table();
        let Some(placement) = table.space().decode(candidate.index) else { return Ok(None) };
        let Some(image) = lister.image(&placement) else { return Ok(None) };
        let Some(value) = table.codec().value(candidate.raw, placement.turn) else {
            return Ok(None);
        };
        let position = lister.position(&placement, image);
        let Some(known) = lister.known(&position, value, image) else { return Ok(None) };

        let mut listed = ListedPosition {
            position,
            known,
            zugzwang: None,
            only: None,
            line: Vec::new(),
            variant: table.variant(),
        };
        if lister.query.only_move {
            let only = self.only_move(&listed.position, &listed.known)?;
            if only.is_none() {
                return Ok(None);
            }
            listed.only = only;
        }

        if let Some(how) = lister.query.unique_line {
            match self.unique_line(&listed.position, &listed.known, (how, shown))? {
                Some(line) => listed.line = line,
                None => return Ok(None),
            }
        }

        if let Some((kind, raw)) = candidate.zugzwang
            && let Some(value) = table.codec().value(raw, placement.turn.other())
        {
            let other = Placement { turn: placement.turn.other(), ..placement };
            let position = lister.position(&other, image);
            let known = lister.known(&position, value, image);
            listed.zugzwang = known.map(|other| Zugzwang { kind, other });
        }
        Ok(Some(listed))
    }
}

impl ListedPosition {
    /// The position as a line of EPD, without a newline: `dm` (moves to mate, if the side to move
    /// mates for certain), `bm` (the only move), `pv` (the line), and comments in `c0` (the
    /// result) and `c1` (the zugzwang).
    pub fn epd(&self) -> String {
        let mut text = self.position.short_fen();
        if let Some(moves) = self.mate() {
            let _ = write!(text, " dm {moves};");
        }
        if let Some(only) = self.only {
            let _ = write!(text, " bm {};", self.san(&[only]));
        }
        if !self.line.is_empty() {
            let _ = write!(text, " pv {};", self.san(&self.line));
        }
        let _ = write!(text, " c0 \"{}\";", known_in_words(&self.known, 0));
        if let Some(Zugzwang { other, .. }) = &self.zugzwang {
            let side = color_name(other.turn);
            let _ = write!(text, " c1 \"with {side} to move: {}\";", known_in_words(other, 0));
        }
        text
    }

    /// Moves to a mate by the side to move, if it is certain.
    fn mate(&self) -> Option<u16> {
        let is_mate = self.known.is_exact && !self.known.counts_conversions();
        match self.known.distance().filter(|_| is_mate && self.variant == Variant::Normal) {
            Some(Value::Win(moves)) => Some(moves),
            _ => None,
        }
    }

    /// Moves that follow each other, in SAN.
    fn san(&self, line: &[Move]) -> String {
        let mut position = self.position.clone();
        let mut names = Vec::new();
        for m in line {
            let name = position.san(m, self.variant).unwrap_or_else(|| m.classic());
            names.push(name);
            position = position.after(m);
        }
        names.join(" ")
    }
}

/// What JSON says of a position, with the words of `probe --json`.
#[derive(Serialize)]
struct Told<'s> {
    category: Category,
    /// Plies to mate, negative if the side to move loses.
    dtm: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtw: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtc: Option<i32>,
    bound: Bound,
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<SaidReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'s str>,
}

impl Told<'_> {
    fn of<'s>(known: &Known, variant: Variant, kind: Option<&'s str>) -> Told<'s> {
        let PositionVerdict { category, dtm, dtw, dtc, .. } =
            PositionVerdict::new(known, variant, false);
        let (bound, said) = (known.bound(), SaidReport::new(known));
        Told { category, dtm, dtw, dtc, bound, said, kind }
    }
}

impl Serialize for ListedPosition {
    /// An object with `fen`, `category`, `dtm`, `bound`, and `said`, `zugzwang`, `only` and `line`
    /// where there is something to say.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Object<'s> {
            fen: String,
            #[serde(flatten)]
            told: Told<'s>,
            #[serde(skip_serializing_if = "Option::is_none")]
            zugzwang: Option<serde_json::Value>,
            #[serde(skip_serializing_if = "Option::is_none")]
            only: Option<String>,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            line: Vec<String>,
        }
        let zugzwang = self.zugzwang.as_ref().map(|Zugzwang { kind, other }| {
            json!(Told::of(other, self.variant, Some(kind.name())))
        });
        let object = Object {
            fen: self.position.fen(),
            told: Told::of(&self.known, self.variant, None),
            zugzwang,
            only: self.only.map(|m| m.uci()),
            line: self.line.iter().map(Move::uci).collect(),
        };
        object.serialize(serializer)
    }
}
