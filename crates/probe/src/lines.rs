//! What is known of a position and of its moves, which move is best, and how play goes on.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hoffman_board::{Format, Role, Value, Variant};
use hoffman_control::PruneEffect;
use hoffman_table::EntryValue;
use serde::Serialize;

use crate::collection::{Collection, CollectionError, Hit, is_bare_kings, table_name};
use crate::moves::{Move, Position};

/// The most plies of a main line.
pub const MAX_PLIES: usize = 600;

/// The result of a position for the side to move, in the words of the Lichess tablebase server and in
/// the order in which it lists what a move leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// The side to move loses.
    Loss,
    /// No table says.
    Unknown,
    /// A loss in a table in which something is conceded to the winner or kept from the loser.
    MaybeLoss,
    /// Nobody can force a win.
    Draw,
    /// A win in a table in which something is conceded to the winner or kept from the loser.
    MaybeWin,
    /// The side to move wins.
    Win,
}

impl Category {
    /// The same seen by the other side.
    pub const fn negate(self) -> Category {
        match self {
            Category::Loss => Category::Win,
            Category::MaybeLoss => Category::MaybeWin,
            Category::MaybeWin => Category::MaybeLoss,
            Category::Win => Category::Loss,
            same => same,
        }
    }

    /// Whether the side to move wins, as far as is known.
    pub const fn is_win(self) -> bool {
        matches!(self, Category::Win | Category::MaybeWin)
    }

    /// Whether the side to move loses, as far as is known.
    pub const fn is_loss(self) -> bool {
        matches!(self, Category::Loss | Category::MaybeLoss)
    }
}

/// What is known of a position.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// What the table says, if one has the position.
    pub hit: Option<Hit<'a>>,
    /// The result for the side to move.
    pub category: Category,
    /// The value with its distance to mate; in suicide chess to the end.
    pub dtm: Option<Value>,
    /// The value with its distance to conversion.
    pub dtc: Option<Value>,
    /// The side to move is mated.
    pub checkmate: bool,
    /// The side to move has no move and is not in check.
    pub stalemate: bool,
    /// Suicide chess: the side to move has won.
    pub variant_win: bool,
    /// Suicide chess: the side to move has lost.
    pub variant_loss: bool,
    /// Neither side can mate.
    pub insufficient_material: bool,
}

/// A legal move with what is known of the position behind it.
#[derive(Clone, Debug)]
pub struct MoveOption<'a> {
    /// The move.
    pub m: Move,
    /// The position after it.
    pub after: Position,
    /// What is known of that position, for the side then to move. A conceded move leaves a
    /// [`Category::MaybeLoss`].
    pub known: Known<'a>,
    /// What a prune makes of the move, if no table has the position after it and the table that answers
    /// for the position itself prunes the move.
    pub pruned: Option<PruneEffect>,
}

/// Finds out what is known of a position. It must be possible, see [`Position::check_possible`], and its
/// en passant square usable.
///
/// # Errors
/// A table cannot be read.
pub fn assess<'a>(
    collection: &'a Collection,
    position: &Position,
) -> Result<Known<'a>, CollectionError> {
    let mut known = Known {
        hit: collection.lookup(position)?,
        category: Category::Unknown,
        dtm: None,
        dtc: None,
        checkmate: false,
        stalemate: false,
        variant_win: false,
        variant_loss: false,
        insufficient_material: false,
    };
    let variant = collection.variant();
    let stuck = !position.has_legal_move(variant);
    match variant {
        Variant::Normal => {
            known.checkmate = stuck && position.is_check();
            known.stalemate = stuck && !known.checkmate;
            known.insufficient_material = position.is_insufficient_material();
        }
        Variant::Suicide => {
            known.variant_loss = position.board.by_color(position.turn.other()).is_empty();
            known.variant_win = stuck && !known.variant_loss;
        }
    }
    let value = if known.checkmate {
        Some(EntryValue::Exact(Value::Loss(0)))
    } else if known.variant_win {
        Some(EntryValue::Exact(Value::Win(0)))
    } else if known.variant_loss {
        Some(EntryValue::Exact(Value::Loss(0)))
    } else if let Some(hit) = known.hit {
        Some(hit.value)
    } else if known.stalemate || known.insufficient_material || is_bare_kings(position) {
        Some(EntryValue::Draw)
    } else {
        None
    };
    let Some(value) = value else { return Ok(known) };
    known.category = match value {
        EntryValue::Exact(Value::Win(_)) | EntryValue::Win => Category::Win,
        EntryValue::Exact(Value::Loss(_)) | EntryValue::Loss => Category::Loss,
        EntryValue::Exact(Value::Draw) | EntryValue::Draw => Category::Draw,
        EntryValue::Exact(Value::Illegal)
        | EntryValue::Illegal
        | EntryValue::WinOrDraw
        | EntryValue::DrawOrLoss
        | EntryValue::Unknown => Category::Unknown,
    };
    let over = known.checkmate || known.variant_win || known.variant_loss;
    if let (Some(hit), false) = (known.hit, over)
        && is_doubtful(&hit, position, known.category)
    {
        known.category = match known.category {
            Category::Win => Category::MaybeWin,
            Category::Loss => Category::MaybeLoss,
            same => same,
        };
    }
    let exact = match value {
        EntryValue::Draw => Some(Value::Draw),
        EntryValue::Exact(value) if value != Value::Illegal => Some(value),
        _ => None,
    };
    match known.hit.map(|hit| hit.table.codec().format()) {
        Some(Format::Dtc(_)) if !over => known.dtc = exact,
        _ => known.dtm = exact,
    }
    if known.category == Category::Draw {
        known.dtm = Some(Value::Draw);
    }
    Ok(known)
}

/// Whether the winner of a position was helped by prunes: his moves are conceded or the loser's discarded.
fn is_doubtful(hit: &Hit<'_>, position: &Position, category: Category) -> bool {
    let winner = match category {
        Category::Win => position.turn,
        Category::Loss => position.turn.other(),
        _ => return false,
    };
    // The table speaks of its own colours.
    let winner = if hit.inverted { winner.other() } else { winner };
    let control = hit.table.control();
    control.enables(winner, PruneEffect::Concede)
        || control.enables(winner.other(), PruneEffect::Discard)
}

/// The legal moves with what they lead to, best first.
///
/// The order is that of the Lichess server: by the result, then mates, then quicker wins and slower
/// losses, then stalemates, then captures of stronger men and promotions to stronger men, then the order
/// of the walk. `root` is what is known of the position itself.
///
/// # Errors
/// A table cannot be read.
pub fn ranked_moves<'a>(
    collection: &'a Collection,
    position: &Position,
    root: &Known<'_>,
) -> Result<Vec<MoveOption<'a>>, CollectionError> {
    let mut moves = Vec::new();
    for m in position.legal_moves(collection.variant()) {
        let after = position.after(&m);
        let mut known = assess(collection, &after)?;
        let over = known.variant_win || known.variant_loss;
        let pruned = match &root.hit {
            Some(hit) if known.hit.is_none() && !over => hit.prune(position.turn, &m),
            _ => None,
        };
        // What the rules alone say of the position does not count where the table goes by its prunes.
        if let Some(effect) = pruned {
            (known.dtm, known.dtc) = (None, None);
            known.category = match effect {
                PruneEffect::Concede => Category::MaybeLoss,
                PruneEffect::Discard => Category::Unknown,
            };
        }
        moves.push(MoveOption { m, after, known, pruned });
    }
    let counts_conversions = root.dtc.is_some() && root.dtm.is_none();
    moves.sort_by_key(|option| rank(option, counts_conversions));
    Ok(moves)
}

/// A key by which the better move is the smaller.
fn rank(option: &MoveOption<'_>, counts_conversions: bool) -> impl Ord + use<> {
    let MoveOption { m, known, pruned, .. } = option;
    let value = if counts_conversions { known.dtc.or(known.dtm) } else { known.dtm.or(known.dtc) };
    let plies = value.and_then(Value::plies).map(i32::abs);
    // A conversion ends the count at once, whatever table answers behind it.
    let plies = if counts_conversions && m.is_conversion() { Some(0) } else { plies };
    // A conceded move wins at once.
    let plies = if *pruned == Some(PruneEffect::Concede) { Some(0) } else { plies };
    let distance = match (known.category, plies) {
        (Category::Loss | Category::MaybeLoss, Some(plies)) => plies,
        (Category::Win | Category::MaybeWin, Some(plies)) => -plies,
        (_, Some(_)) => 0,
        (_, None) => i32::MAX,
    };
    let strength = |role: Option<Role>| Reverse(role.map_or(0, |r| r as u8));
    (
        known.category,
        !known.checkmate && !known.variant_loss,
        distance,
        !known.stalemate,
        strength(m.capture),
        strength(m.promotion),
    )
}

/// Best play from a position until it ends, by the values of the tables: in each position the first of the
/// ranked moves that keeps the value. Empty if the position is not known to be won or lost with its distance to mate; cut off
/// where tables lack or contradict each other, and after [`MAX_PLIES`].
///
/// # Errors
/// A table cannot be read.
pub fn main_line(
    collection: &Collection,
    position: &Position,
) -> Result<Vec<(Position, Move)>, CollectionError> {
    let mut line = Vec::new();
    let mut position = position.clone();
    let mut known = assess(collection, &position)?;
    while line.len() < MAX_PLIES {
        let Some(value @ (Value::Win(_) | Value::Loss(_))) = known.dtm else { break };
        let ranked = ranked_moves(collection, &position, &known)?;
        let keeps =
            |option: &MoveOption<'_>| option.known.dtm.and_then(Value::negate) == Some(value);
        let wins_at_once = |option: &MoveOption<'_>| {
            value == Value::Win(1) && option.pruned == Some(PruneEffect::Concede)
        };
        let best = ranked.into_iter().find(|option| keeps(option) || wins_at_once(option));
        let Some(best) = best else { break };
        line.push((position, best.m));
        position = best.after;
        known = best.known;
    }
    Ok(line)
}

/// The names of the tables that would be needed to know all of a position and its moves, in order of the
/// alphabet.
pub fn missing_tables<'a>(
    positions: impl IntoIterator<Item = (&'a Position, &'a Known<'a>)>,
) -> Vec<String> {
    let missing: BTreeSet<String> = positions
        .into_iter()
        .filter(|(_, known)| known.hit.is_none() && known.category == Category::Unknown)
        .map(|(position, _)| table_name(&position.material()))
        .collect();
    missing.into_iter().collect()
}
