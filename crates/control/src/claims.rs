//! What the values of a table prove of chess, as far as its header tells.
//!
//! A table made with prunes is right about another game than chess: some moves were taken from a
//! side (discarded), or won at once (conceded). What such a value proves depends on whose moves
//! they were. The four claims of [`Claims`] keep that apart; each is proved by induction over the
//! moves to the end of the game:
//!
//! - *White's wins* hold if nothing was given to White: none of Black's moves is discarded, none of
//!   White's is conceded, and stalemates do not win for White.
//! - *White's draws* (and wins), that White does not lose, hold if none of Black's moves is
//!   discarded and none of White's is conceded, and if White is nowhere called safe because all its
//!   moves were discarded: an artificial stalemate, in which White would have to make one of those
//!   moves.
//!
//! Black's are the same with the colours exchanged. A table has a claim if its own prunes leave it
//! and every futurebase has it too.

use std::collections::HashMap;
use std::fmt;

use hoffman_board::{ByColor, Color, FuturemoveKind, Outcome, OutcomeBounds, Role, Variant};

use crate::model::{ControlFile, IndexType, PieceElement};
use crate::prune::PruneEffect;

/// The word in the processing instruction that the claims of a table follow.
const CERTAIN: &str = "certain";

/// What the values that a table gives a side prove of chess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SideClaims {
    /// Positions that the table calls won for the side are won, in at most as many moves.
    pub wins: bool,
    /// Positions that the table does not call lost for the side are not lost.
    pub holds: bool,
}

/// What the values of a table prove of chess, or of suicide chess if that is what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claims(ByColor<SideClaims>);

/// The prunes that decided positions of a table, its futurebases left aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneUse {
    /// Whether moves of a side were discarded.
    pub discards: ByColor<bool>,
    /// Whether moves of a side were conceded.
    pub concedes: ByColor<bool>,
    /// The side that stalemates were conceded to.
    pub stalemates: Option<Color>,
    /// Whether a side did not lose somewhere because all its moves were discarded.
    pub idle: ByColor<bool>,
}

impl PruneUse {
    /// What the elements of a control file make possible, its futurebases left aside: prunes that
    /// match no move count as well.
    pub fn possible(control: &ControlFile) -> PruneUse {
        let prunes = |color: Color, effect: PruneEffect| {
            let moves = control.prunes.iter().filter(|prune| !prune.is_stalemate());
            moves.into_iter().any(|prune| (prune.color, prune.effect) == (color, effect))
        };
        let discards = ByColor::new_with(|color| prunes(color, PruneEffect::Discard));
        let concedes = ByColor::new_with(|color| prunes(color, PruneEffect::Concede));
        let stalemates = control.stalemates_conceded_to();
        let discarded = |color: Color, kind: FuturemoveKind| {
            let mut named = control.prunes.iter().filter(|p| p.color == color && p.matches(kind));
            named.next().is_some_and(|prune| prune.effect == PruneEffect::Discard)
        };
        // Only where no futurebase is given have all versions counted all such positions as
        // stalemates.
        let lost = |color: Color| {
            control.variant == Variant::Normal
                && control.futurebases.is_empty()
                && stalemates == Some(color.other())
        };
        let idle = ByColor::new_with(|color| {
            let kinds = FuturemoveKind::all().map(|kind| (kind, discarded(color, kind)));
            *discards.get(color) && may_be_idle(kinds) && !lost(color)
        });
        PruneUse { discards, concedes, stalemates, idle }
    }

    /// What the `prune-enable` elements allow to the table and to all futurebases behind it.
    fn enabled(control: &ControlFile) -> PruneUse {
        let discards = ByColor::new_with(|color| control.enables(color, PruneEffect::Discard));
        let concedes = ByColor::new_with(|color| control.enables(color, PruneEffect::Concede));
        // Stalemates may be conceded to the side that moves may be conceded to, which rules out
        // more.
        PruneUse { discards, concedes, stalemates: None, idle: discards }
    }
}

/// Whether a side may be left with discarded moves only, if of these kinds of its moves those
/// marked are discarded. A discarded promotion is no such move where the pawn may become something
/// else.
pub fn may_be_idle(kinds: impl IntoIterator<Item = (FuturemoveKind, bool)>) -> bool {
    // By what is taken on the way.
    let mut promotions: HashMap<Option<Role>, bool> = HashMap::new();
    for (kind, discarded) in kinds {
        let captured = match kind {
            FuturemoveKind::Capture { of, .. } => Some(of),
            _ => None,
        };
        match kind.promotion() {
            Some(_) => *promotions.entry(captured).or_insert(true) &= discarded,
            None if discarded => return true,
            None => {}
        }
    }
    promotions.into_values().any(|all_discarded| all_discarded)
}

impl Claims {
    /// The values are those of chess.
    pub const EXACT: Claims = Claims::all(true);
    /// The values prove nothing.
    pub const NONE: Claims = Claims::all(false);

    const fn all(holds: bool) -> Claims {
        Claims::alike(SideClaims { wins: holds, holds })
    }

    /// The same for both sides.
    const fn alike(side: SideClaims) -> Claims {
        Claims(ByColor { white: side, black: side })
    }

    /// What holds after these prunes, if all futurebases are exact. In suicide chess a side that
    /// has no move has won, so discarded moves prove nothing for either side.
    pub fn after(variant: Variant, prunes: PruneUse) -> Claims {
        let discards = prunes.discards.white || prunes.discards.black;
        if variant == Variant::Suicide && discards {
            return Claims::NONE;
        }
        Claims(ByColor::new_with(|color| {
            let given = *prunes.discards.get(color.other()) || *prunes.concedes.get(color);
            SideClaims {
                wins: !given && prunes.stalemates != Some(color),
                holds: !given && !*prunes.idle.get(color),
            }
        }))
    }

    /// What the header of a table says of it by itself, its futurebases not at hand.
    ///
    /// What the program that wrote it has put down, see [`Claims::instruction`]. If it has put down
    /// nothing, the values are exact where no prunes are enabled; elsewhere, what follows from the
    /// `prune-enable` elements, which no futurebase of it can go beyond. Less if it may have a
    /// [defect](Defect) of the original program.
    pub fn of_header(control: &ControlFile) -> Claims {
        if let Some(recorded) = Claims::recorded(control) {
            return recorded;
        }
        let sound = Defect::of(control).map_or(Claims::EXACT, Defect::leaves);
        if control.prune_enables.is_empty() && control.prunes.is_empty() {
            return sound;
        }
        let own = Claims::of_prunes(control).and(sound);
        if control.futurebases.is_empty() {
            return own;
        }
        own.and(Claims::after(control.variant, PruneUse::enabled(control)))
    }

    /// What a table's own prunes leave, if all its futurebases are exact.
    pub fn of_prunes(control: &ControlFile) -> Claims {
        Claims::after(control.variant, PruneUse::possible(control))
    }

    /// What the program that wrote a table has put down of it.
    pub fn recorded(control: &ControlFile) -> Option<Claims> {
        let first = control.instruction.as_deref()?.split(';').next()?;
        let words = first.trim().strip_prefix(CERTAIN)?;
        let has = |name: &str| words.split_ascii_whitespace().any(|word| word == name);
        Some(Claims(ByColor::new_with(|color| {
            let [wins, holds] = names(color).map(has);
            SideClaims { wins, holds }
        })))
    }

    /// The words by which the claims are put down in the processing instruction of a table:
    /// `certain white-wins white-holds`.
    pub fn instruction(self) -> String {
        let mut words = vec![CERTAIN];
        words.extend(self.names());
        words.join(" ")
    }

    /// The names of what is claimed: `white-wins`, `white-holds`, `black-wins`, `black-holds`.
    pub fn names(self) -> Vec<&'static str> {
        let of = |color: Color| {
            let side = self.of(color);
            let names = names(color).into_iter().zip([side.wins, side.holds]);
            names.filter_map(|(name, claimed)| claimed.then_some(name))
        };
        Color::ALL.into_iter().flat_map(of).collect()
    }

    /// What is claimed of a side.
    pub fn of(self, color: Color) -> SideClaims {
        *self.0.get(color)
    }

    /// Whether the values are those of chess.
    pub fn is_exact(self) -> bool {
        self == Claims::EXACT
    }

    /// What both claim.
    #[must_use]
    pub fn and(self, other: Claims) -> Claims {
        Claims(ByColor::new_with(|color| {
            let (a, b) = (self.of(color), other.of(color));
            SideClaims { wins: a.wins && b.wins, holds: a.holds && b.holds }
        }))
    }

    /// The same with the colours exchanged.
    #[must_use]
    pub fn swapped(self) -> Claims {
        Claims(ByColor { white: self.0.black, black: self.0.white })
    }

    /// What a table with these claims proves of chess by a value.
    pub fn prove(self, said: OutcomeBounds) -> OutcomeBounds {
        let at_most = |color: Color, said: Outcome| {
            // Seen from the side that hopes for little.
            let side = self.of(color);
            match said.winner() {
                Some(winner) if winner == color && side.wins => said,
                Some(winner) if winner != color => said,
                _ if side.holds => Outcome::Draw,
                _ => Outcome::won_by(color.other()),
            }
        };
        OutcomeBounds {
            least: at_most(Color::White, said.least),
            most: at_most(Color::Black, said.most),
        }
    }
}

/// What the claims of a side are called.
fn names(color: Color) -> [&'static str; 2] {
    color.fold_wb(["white-wins", "white-holds"], ["black-wins", "black-holds"])
}

/// A defect of the original program that may have spoilt a table of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Defect {
    /// Illegal captures may count as moves: a table without distances, from futurebases without
    /// them.
    IllegalCaptures,
    /// Wins by having no move are not carried on: distances in suicide chess.
    SuicideStalemates,
    /// En passant positions are lost: index type naive2 with two like pawns.
    LikePawns,
    /// En passant positions are lost: a part of a table of pawn structures.
    SplitStructures,
    /// A futurebase and its image with exchanged colours, in a table that stores one side to move.
    FuturebaseTwice,
}

impl Defect {
    /// The defect that the original program may have left in a table with this header.
    pub fn of(control: &ControlFile) -> Option<Defect> {
        if !control.program()?.starts_with("Hoffman Version") {
            return None;
        }
        let distances = control.entry_format().has_distance();
        if control.variant == Variant::Suicide && distances {
            return Some(Defect::SuicideStalemates);
        }
        if !distances && !control.futurebases.is_empty() {
            return Some(Defect::IllegalCaptures);
        }
        let pawns = |color: Color| {
            let is_pawn = |p: &&PieceElement| (p.color, p.role) == (color, Role::Pawn);
            control.pieces.iter().filter(is_pawn).count()
        };
        if control.index_type() == IndexType::Naive2 && Color::ALL.iter().any(|&c| pawns(c) > 1) {
            return Some(Defect::LikePawns);
        }
        if control.pawngen.as_ref().is_some_and(|pawngen| (pawngen.start, pawngen.count) != (0, 0))
        {
            return Some(Defect::SplitStructures);
        }
        (Defect::leaves_out_a_side(control) && Defect::names_one_twice(control))
            .then_some(Defect::FuturebaseTwice)
    }

    /// What a table with the defect proves all the same.
    pub const fn leaves(self) -> Claims {
        match self {
            // What is lost is called lost; more may be, in positions without a legal move.
            Defect::IllegalCaptures => Claims::alike(SideClaims { wins: false, holds: true }),
            // What is called lost is lost; what should be may be called drawn.
            Defect::SuicideStalemates => Claims::alike(SideClaims { wins: true, holds: false }),
            Defect::LikePawns | Defect::SplitStructures | Defect::FuturebaseTwice => Claims::NONE,
        }
    }

    /// Whether a table may be one that stores positions with White to move only.
    fn leaves_out_a_side(control: &ControlFile) -> bool {
        let count = |color: Color, role: Role| {
            control.pieces.iter().filter(|p| (p.color, p.role) == (color, role)).count()
        };
        matches!(control.index_type(), IndexType::Combinadic4 | IndexType::Combinadic5)
            && Role::ALL.iter().all(|&r| count(Color::White, r) == count(Color::Black, r))
            && control.pieces.iter().all(|piece| piece.squares.is_none())
    }

    fn names_one_twice(control: &ControlFile) -> bool {
        let mut pairs = control.futurebases.iter().enumerate();
        pairs.any(|(at, first)| {
            let others = &control.futurebases[at + 1..];
            others.iter().any(|f| f.filename == first.filename && f.inverted != first.inverted)
        })
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Defect::IllegalCaptures => {
                "version 1.7 may have taken illegal captures for moves in tables without distances"
            }
            Defect::SuicideStalemates => {
                "version 1.7 overlooks wins by having no move in distances of suicide chess"
            }
            Defect::LikePawns => {
                "version 1.7 loses en passant positions of two like pawns with index type naive2"
            }
            Defect::SplitStructures => {
                "version 1.7 loses en passant positions in parts of tables of pawn structures"
            }
            Defect::FuturebaseTwice => {
                "version 1.7 may be wrong where a futurebase was given for both colours of a table \
                 that stores one side to move"
            }
        })
    }
}

/// Something in which the game of a table is not chess.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Assumption {
    /// Moves of a side out of the table that match a pattern, if no futurebase answers them.
    Moves {
        /// Whose moves.
        color: Color,
        /// The pattern, as `P=?`.
        pattern: String,
        /// What happens to them.
        effect: PruneEffect,
    },
    /// Stalemates are won by a side.
    Stalemates(Color),
    /// Moves of a side in tables behind this one.
    Behind {
        /// Whose moves.
        color: Color,
        /// What happens to them.
        effect: PruneEffect,
    },
    /// The original program did it right.
    Defect(Defect),
}

impl Assumption {
    /// What the header of a table assumes. A kind of prune that it enables and does not use itself
    /// is one of its futurebases.
    pub fn of_header(control: &ControlFile) -> Vec<Assumption> {
        let own = control.prunes.iter().map(|prune| {
            let (color, effect) = (prune.color, prune.effect);
            if prune.is_stalemate() {
                return Assumption::Stalemates(color);
            }
            let pattern = prune.pattern.as_str().to_owned();
            Assumption::Moves { color, pattern, effect }
        });
        let is_own = |color: Color, effect: PruneEffect| {
            control.prunes.iter().any(|prune| (prune.color, prune.effect) == (color, effect))
        };
        let behind = control
            .prune_enables
            .iter()
            .filter(|enabled| {
                !control.futurebases.is_empty() && !is_own(enabled.color, enabled.effect)
            })
            .map(|enabled| Assumption::Behind { color: enabled.color, effect: enabled.effect });
        let defect = Defect::of(control).map(Assumption::Defect);
        let mut all = Vec::new();
        for assumption in own.chain(behind).chain(defect) {
            if !all.contains(&assumption) {
                all.push(assumption);
            }
        }
        all
    }

    /// The same with the colours exchanged. Squares in patterns stay as they are written.
    #[must_use]
    pub fn swapped(mut self) -> Assumption {
        match &mut self {
            Assumption::Moves { color, .. }
            | Assumption::Stalemates(color)
            | Assumption::Behind { color, .. } => *color = color.other(),
            Assumption::Defect(_) => {}
        }
        self
    }
}

impl fmt::Display for Assumption {
    /// `White's moves P=? are conceded`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |color: Color| color.fold_wb("White", "Black");
        let done = |effect: PruneEffect| match effect {
            PruneEffect::Concede => "conceded",
            PruneEffect::Discard => "discarded",
        };
        match self {
            Assumption::Moves { color, pattern, effect } => {
                write!(f, "{}'s moves {pattern} are {}", name(*color), done(*effect))
            }
            Assumption::Stalemates(color) => write!(f, "stalemates are won by {}", name(*color)),
            Assumption::Behind { color, effect } => {
                let (color, done) = (name(*color), done(*effect));
                write!(f, "some of {color}'s moves may be {done} in the tables behind it")
            }
            Assumption::Defect(defect) => defect.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Strictness;

    fn read(elements: &str) -> ControlFile {
        let text = format!("<tablebase><dtm bits=\"8\"/>{elements}</tablebase>");
        ControlFile::parse(&text, "test", Strictness::Header).unwrap()
    }

    fn claims(elements: &str) -> [bool; 4] {
        let claims = Claims::of_header(&read(elements));
        let (white, black) = (claims.of(Color::White), claims.of(Color::Black));
        [white.wins, white.holds, black.wins, black.holds]
    }

    const KINGS: &str =
        "<piece color=\"white\" type=\"king\"/><piece color=\"black\" type=\"king\"/>";

    fn enable(color: &str, effect: &str) -> String {
        format!("<prune-enable color=\"{color}\" type=\"{effect}\"/>")
    }

    fn prune(color: &str, pattern: &str, effect: &str) -> String {
        let prune = format!("<prune color=\"{color}\" move=\"{pattern}\" type=\"{effect}\"/>");
        enable(color, effect) + &prune
    }

    #[test]
    fn claims_follow_from_whose_moves_are_pruned() {
        let conceded_to_black = prune("black", "P=?", "concede");
        let discarded_of_white = prune("white", "P=[RBN]", "discard");
        let king_discarded = prune("white", "K*", "discard");
        let futurebase = "<futurebase filename=\"kk.htb\"/>";
        let stalemates = prune("black", "stalemate", "concede");
        for (elements, expected) in [
            (String::new(), [true, true, true, true]),
            (conceded_to_black.clone(), [true, true, false, false]),
            // Who may not promote to a rook may promote to a queen.
            (discarded_of_white.clone(), [true, true, false, false]),
            // White may have been left with discarded moves only.
            (king_discarded.clone(), [true, false, false, false]),
            (prune("white", "P*=?", "discard"), [true, false, false, false]),
            (format!("{king_discarded}{stalemates}"), [true, true, false, false]),
            // With futurebases, such a position may be called drawn all the same.
            (format!("{king_discarded}{stalemates}{futurebase}"), [true, false, false, false]),
            // Draws are still draws if only stalemates are not.
            (stalemates.clone(), [true, true, false, true]),
            // What a futurebase may do, too: it is enabled.
            (format!("{futurebase}{}", enable("white", "concede")), [false, false, true, true]),
            (format!("{conceded_to_black}{}", prune("white", "P=?", "concede")), [false; 4]),
        ] {
            assert_eq!(claims(&format!("{KINGS}{elements}")), expected, "{elements}");
        }
        let suicide = format!("<variant name=\"suicide\"/>{KINGS}{discarded_of_white}");
        assert_eq!(claims(&suicide), [false; 4]);
    }

    #[test]
    fn what_was_put_down_counts_for_more() {
        let pruned = format!("{KINGS}{}", prune("white", "K*", "discard"));
        for (instruction, expected) in [
            ("certain white-wins white-holds; from kk.htb", [true, true, false, false]),
            ("certain", [false; 4]),
            ("from certain.htb; certain white-wins", [true, false, false, false]),
            ("from kk.htb", [true, false, false, false]),
        ] {
            let text = format!(
                "<?hoffman {instruction}?><tablebase><dtm bits=\"8\"/>{pruned}</tablebase>"
            );
            let control = ControlFile::parse(&text, "test", Strictness::Header).unwrap();
            let claims = Claims::of_header(&control);
            let (white, black) = (claims.of(Color::White), claims.of(Color::Black));
            let found = [white.wins, white.holds, black.wins, black.holds];
            assert_eq!(found, expected, "{instruction}");
        }
        let claims = Claims::after(
            Variant::Normal,
            PruneUse { discards: ByColor { white: true, black: false }, ..PruneUse::default() },
        );
        assert_eq!(claims.instruction(), "certain white-wins white-holds");
        assert_eq!(claims.swapped().instruction(), "certain black-wins black-holds");
        assert_eq!(Claims::NONE.instruction(), "certain");
    }

    #[test]
    fn a_value_proves_what_its_claims_allow() {
        let [black, draw, white] =
            [Outcome::BlackWins, Outcome::Draw, Outcome::WhiteWins].map(OutcomeBounds::exactly);
        let at_least = Claims::after(
            Variant::Normal,
            PruneUse { discards: ByColor { white: true, black: false }, ..PruneUse::default() },
        );
        assert_eq!(at_least.prove(white), white);
        let held = OutcomeBounds { least: Outcome::Draw, most: Outcome::WhiteWins };
        assert_eq!(at_least.prove(draw), held);
        assert_eq!(at_least.prove(black), OutcomeBounds::UNKNOWN);
        assert_eq!(at_least.swapped().prove(draw), held.swapped());
        for said in [black, draw, white, held] {
            assert_eq!(Claims::EXACT.prove(said), said);
            assert_eq!(Claims::NONE.prove(said), OutcomeBounds::UNKNOWN);
        }
        // A win that proves no win may still prove that there is no loss.
        let stalemates = PruneUse { stalemates: Some(Color::White), ..PruneUse::default() };
        assert_eq!(Claims::after(Variant::Normal, stalemates).prove(white), held);
        assert_eq!(Claims::after(Variant::Normal, stalemates).prove(draw), draw);
    }

    #[test]
    fn defects_of_the_original_are_seen() {
        let of = |elements: &str, program: &str| {
            let text = format!(
                "<tablebase>{elements}<generation-statistics><program>{program}</program>\
                 </generation-statistics></tablebase>"
            );
            Defect::of(&ControlFile::parse(&text, "test", Strictness::Header).unwrap())
        };
        let futurebases = "<futurebase filename=\"a.htb\"/>\
                           <futurebase filename=\"a.htb\" colors=\"invert\"/>";
        let dtm = "<dtm bits=\"8\"/>";
        let rooks = "<piece color=\"white\" type=\"rook\"/><piece color=\"black\" type=\"rook\"/>";
        let pawns = "<piece color=\"white\" type=\"pawn\"/>".repeat(2);
        for (elements, expected) in [
            (format!("{KINGS}{dtm}{futurebases}"), Some(Defect::FuturebaseTwice)),
            (format!("{KINGS}{rooks}{dtm}{futurebases}"), Some(Defect::FuturebaseTwice)),
            (format!("{KINGS}{pawns}{dtm}{futurebases}"), None),
            (
                format!("<index type=\"naive2\"/>{KINGS}{pawns}{dtm}{futurebases}"),
                Some(Defect::LikePawns),
            ),
            (format!("{KINGS}<basic/>{futurebases}"), Some(Defect::IllegalCaptures)),
            (format!("{KINGS}<basic/>"), None),
            (format!("<variant name=\"suicide\"/>{KINGS}{dtm}"), Some(Defect::SuicideStalemates)),
        ] {
            assert_eq!(of(&elements, "Hoffman Version 1082"), expected, "{elements}");
            assert_eq!(of(&elements, "Hoffman 2.0.0 (Rust)"), None, "{elements}");
        }
    }

    #[test]
    fn assumptions_are_named() {
        let elements = format!(
            "{KINGS}{}{}{}<futurebase filename=\"kk.htb\"/>",
            prune("white", "P=[RBN]", "discard"),
            prune("black", "stalemate", "concede"),
            enable("white", "concede")
        );
        let said: Vec<String> =
            Assumption::of_header(&read(&elements)).iter().map(ToString::to_string).collect();
        let expected = [
            "White's moves P=[RBN] are discarded",
            "stalemates are won by Black",
            "some of White's moves may be conceded in the tables behind it",
        ];
        assert_eq!(said, expected);
    }
}
