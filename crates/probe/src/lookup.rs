//! Which table answers a position, and a move in a position that a table answers.
//!
//! A table answers a position in its own colours, and with the colours exchanged only where that
//! gives the same game ([`OpenTable::is_own_image`]). Behind a move, the table that answers the
//! position before it decides by its header: first the table itself, then the futurebases that it
//! names, in the colours in which it names them, then its prunes. Any table of chess answers for
//! another one of chess.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use hoffman_board::{Color, Format, Material, OutcomeBounds, Square, Value, Variant};
use hoffman_control::{Assumption, Claims, PruneEffect};
use hoffman_table::{EntryValue, Table, TableProblem};

use crate::collection::{Collection, CollectionError, is_bare_kings, table_name};
use crate::moves::Move;
use crate::open_table::{Named, OpenTable, outcomes_of};
use crate::position::Position;

/// The answer of a table to a position.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The table among the others.
    pub member: Arc<OpenTable>,
    /// The index of the position, or of its mirror image if `inverted`.
    pub index: u64,
    /// Whether the colours were exchanged to find it.
    pub inverted: bool,
    /// The side to move in the position.
    pub turn: Color,
    /// What the table says to the side to move; [`EntryValue::Illegal`] in normal chess if the
    /// side not to move is in check, whatever the table says.
    pub value: EntryValue,
    /// What the values of the table prove, in the colours of the position.
    pub claims: Claims,
}

impl Hit {
    /// The table.
    pub fn table(&self) -> &Table {
        self.member.table()
    }

    /// The outcome that the table gives, under its own rules; none if it gives none.
    pub fn said(&self) -> Option<OutcomeBounds> {
        outcomes_of(self.value, self.turn)
    }

    /// What that proves of chess.
    pub fn proved(&self) -> OutcomeBounds {
        self.said().map_or(OutcomeBounds::UNKNOWN, |said| self.claims.prove(said))
    }

    /// The ending whose table is missing, if the table leans on one and so does not tell.
    pub fn leans_on(&self) -> Option<Material> {
        if self.value != EntryValue::Unknown {
            return None;
        }
        match self.table().entry(self.index).map_err(|error| error.problem) {
            Err(TableProblem::Behind { ending }) => Some(ending),
            _ => None,
        }
    }

    /// In what the game of the table is not chess; empty if it is.
    pub fn assumptions(&self) -> &Arc<[Assumption]> {
        self.member.assumptions(self.inverted)
    }
}

/// What is found behind a move in a position that a table answers.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The table that answers, by the rules of the one before the move.
    Hit(Hit),
    /// No table has to answer: the move is pruned.
    Pruned(PruneEffect),
    /// The table that would have to answer is not at hand; its file, or the file of the ending.
    Missing(String),
}

/// Whether the table's distances to mate are those of chess: no prunes could have changed them.
fn is_exact_dtm(member: &OpenTable) -> bool {
    matches!(member.table().codec().format(), Format::Dtm(_)) && member.header_claims().is_exact()
}

/// Which of the tables of folders are asked first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precedence {
    /// Those of chess with distances.
    Distances,
    /// Those of chess that tell who wins.
    Outcomes,
    /// Those of chess that tell of one side whether it wins, or holds.
    Halves,
    /// Those with prunes.
    Pruned,
}

impl Precedence {
    fn of(member: &OpenTable) -> Precedence {
        match member.table().codec().format() {
            _ if !member.is_plain() => Precedence::Pruned,
            format if format.has_distance() => Precedence::Distances,
            Format::Flag(_) => Precedence::Halves,
            _ => Precedence::Outcomes,
        }
    }
}

/// The tables of folders, asked for a position one after another.
struct FolderSearch<'c> {
    collection: &'c Collection,
    query: &'c Query<'c>,
    /// Why a table that might have the position cannot be opened.
    failure: Option<CollectionError>,
    /// The answer of a table that has the position, and no value of it without another table that
    /// is not there.
    unknown: Option<Hit>,
    pruned: Vec<Arc<OpenTable>>,
}

impl<'c> FolderSearch<'c> {
    fn new(collection: &'c Collection, query: &'c Query<'c>) -> FolderSearch<'c> {
        FolderSearch { collection, query, failure: None, unknown: None, pruned: Vec::new() }
    }

    /// The answer of a table of chess that passes a test: of the first one with distances, else of
    /// the first one without.
    fn among(
        &mut self,
        tables: impl Iterator<Item = Result<Arc<OpenTable>, CollectionError>>,
        test: &impl Fn(&OpenTable) -> bool,
    ) -> Result<Option<Hit>, CollectionError> {
        let mut outcomes = Vec::new();
        for found in tables {
            let member = match found {
                Ok(member) if test(&member) => member,
                Ok(_) => continue,
                Err(error) => {
                    self.failure.get_or_insert(error);
                    continue;
                }
            };
            match Precedence::of(&member) {
                Precedence::Distances => {
                    if let Some(hit) = self.known(&member)? {
                        return Ok(Some(hit));
                    }
                }
                Precedence::Outcomes | Precedence::Halves => outcomes.push(member),
                Precedence::Pruned => self.pruned.push(member),
            }
        }
        outcomes.sort_by_key(|member| Precedence::of(member));
        for member in outcomes {
            if let Some(hit) = self.known(&member)? {
                return Ok(Some(hit));
            }
        }
        Ok(None)
    }

    /// What a table says, if it is a value.
    fn known(&mut self, member: &Arc<OpenTable>) -> Result<Option<Hit>, CollectionError> {
        let hit = self.collection.ask(member, self.query)?;
        if hit.as_ref().is_none_or(|hit| hit.value != EntryValue::Unknown) {
            return Ok(hit);
        }
        self.unknown = self.unknown.take().or(hit);
        Ok(None)
    }

    /// What is left to say if no table of chess has a value.
    fn rest(self) -> Result<Option<Hit>, CollectionError> {
        if self.unknown.is_some() {
            return Ok(self.unknown);
        }
        for member in &self.pruned {
            if let Some(hit) = self.collection.ask(member, self.query)? {
                return Ok(Some(hit));
            }
        }
        self.failure.map_or(Ok(None), Err)
    }
}

impl Collection {
    /// The answer to a position by itself: of the first given table that stands for it, else of a
    /// table in the folders, those of chess before those with prunes, among them those with
    /// distances before those without; none if no table stands for it.
    ///
    /// An en passant square that fits no pawn is ignored; one that fits a pawn of the side to move
    /// is in no table.
    ///
    /// # Errors
    /// A table is damaged, or one that might have the position cannot be opened and no other has
    /// it.
    pub fn lookup(&self, position: &Position) -> Result<Option<Hit>, CollectionError> {
        self.lookup_where(position, |_| true)
    }

    /// The answer of a table of chess, without prunes; none if no such table has the position.
    ///
    /// # Errors
    /// As for [`Collection::lookup`].
    pub fn lookup_plain(&self, position: &Position) -> Result<Option<Hit>, CollectionError> {
        self.lookup_where(position, OpenTable::is_plain)
    }

    /// [`Collection::lookup`] as far as memory tells: none as well if a table has to be opened or
    /// read for it.
    pub fn lookup_cached(&self, position: &Position) -> Option<Hit> {
        let query = Query::new(position)?;
        let found = self.listed_open(&query.material);
        let of = |precedence: Precedence| {
            found.clone().filter(move |member| {
                member.map_or(Precedence::Distances, |member| Precedence::of(member)) == precedence
            })
        };
        let unlisted = self.has_unlisted().then_some(None);
        let chess = of(Precedence::Distances).chain(of(Precedence::Outcomes));
        let chess = chess.chain(of(Precedence::Halves)).chain(unlisted);
        let found = chess.chain(of(Precedence::Pruned));
        for member in self.given().iter().map(Some).chain(found) {
            let member = member?;
            for inverted in query.orientations(member) {
                let Some((index, turn)) = query.find(member, inverted) else { continue };
                let value = member.cached_value(query.position, index, turn)?;
                return Some(self.hit(member, &query, inverted, (index, value)));
            }
        }
        None
    }

    /// [`Collection::lookup`] among the tables that pass a test.
    fn lookup_where(
        &self,
        position: &Position,
        test: impl Fn(&OpenTable) -> bool,
    ) -> Result<Option<Hit>, CollectionError> {
        let Some(query) = Query::new(position) else { return Ok(None) };
        for member in self.given().iter().filter(|member| test(member)) {
            if let Some(hit) = self.ask(member, &query)? {
                return Ok(Some(hit));
            }
        }

        let mut search = FolderSearch::new(self, &query);
        let listed = search.among(self.listed_tables(&query.material), &test)?;
        if let Some(hit) = listed {
            return Ok(Some(hit));
        }
        // Folders without a list are asked only if no other one answers.
        if let Some(hit) = search.among(self.unlisted_tables(&query.material), &test)? {
            return Ok(Some(hit));
        }
        search.rest()
    }

    /// What is behind a move in a position that `asker` answers; `next` is the position after it.
    /// With a limit any value will do that is better than that for the side then to move.
    ///
    /// # Errors
    /// As for [`Collection::lookup`].
    pub fn reply(
        &self,
        asker: &Hit,
        (m, next): (&Move, &Position),
        limit: Option<Value>,
    ) -> Result<Reply, CollectionError> {
        let member = &asker.member;
        let Some(query) = Query::new(next) else {
            return Ok(Reply::Missing(table_name(&next.material())));
        };
        let query = Query { limit, ..query };
        if let Some(hit) = self.ask_so(member, &query, asker.inverted)? {
            return Ok(Reply::Hit(hit));
        }
        if let Some(hit) = self.ask_named(asker, &query)? {
            return Ok(Reply::Hit(hit));
        }
        if member.is_plain() {
            let found = self.lookup_plain(next)?;
            return Ok(found.map_or_else(|| Reply::Missing(query.file()), Reply::Hit));
        }

        let mover = if asker.inverted { asker.turn.other() } else { asker.turn };
        let prune = member.prune(mover, m.kind(asker.inverted));
        if let Some(name) = self.not_at_hand(asker, &query) {
            return Ok(Reply::Missing(name));
        }
        Ok(prune.map_or_else(|| Reply::Missing(query.file()), Reply::Pruned))
    }

    /// The answer of a futurebase that the asking table names.
    fn ask_named(&self, asker: &Hit, query: &Query<'_>) -> Result<Option<Hit>, CollectionError> {
        // Where no folders are looked into, chess is asked of the given tables alone.
        if asker.member.is_plain() && self.folders().is_empty() {
            return Ok(None);
        }
        let both = !asker.table().space().has_side_bit();
        for named in self.named_by(&asker.member).iter() {
            let Some(member) = &named.member else { continue };
            let inverted = asker.inverted != named.inverted;
            for inverted in [Some(inverted), both.then_some(!inverted)].into_iter().flatten() {
                if let Some(hit) = self.ask_so(member, query, inverted)? {
                    return Ok(Some(hit));
                }
            }
        }
        Ok(None)
    }

    /// The name of a futurebase of the asking table that is not at hand and may hold the position.
    fn not_at_hand(&self, asker: &Hit, query: &Query<'_>) -> Option<String> {
        let both = !asker.table().space().has_side_bit();
        let men = if asker.inverted { query.material.swapped() } else { query.material };
        let named = self.named_by(&asker.member);
        let mut missing = named.iter().filter(|named| named.member.is_none());
        missing.find(|named| named.may_hold(&men, both)).map(|named| named.name.clone())
    }

    /// What a table says of a position, in its own colours or, where that is the same game, with
    /// exchanged ones.
    fn ask(
        &self,
        member: &Arc<OpenTable>,
        query: &Query<'_>,
    ) -> Result<Option<Hit>, CollectionError> {
        for inverted in query.orientations(member) {
            if let Some(hit) = self.ask_so(member, query, inverted)? {
                return Ok(Some(hit));
            }
        }
        Ok(None)
    }

    /// What a table says of a position as it is, or with the colours exchanged.
    fn ask_so(
        &self,
        member: &Arc<OpenTable>,
        query: &Query<'_>,
        inverted: bool,
    ) -> Result<Option<Hit>, CollectionError> {
        let Some((index, turn)) = query.find(member, inverted) else { return Ok(None) };
        let value = member.value(query.position, (index, turn), query.limit)?;
        Ok(Some(self.hit(member, query, inverted, (index, value))))
    }

    fn hit(
        &self,
        member: &Arc<OpenTable>,
        query: &Query<'_>,
        inverted: bool,
        (index, value): (u64, EntryValue),
    ) -> Hit {
        let claims = self.claims_of(member);
        let claims = if inverted { claims.swapped() } else { claims };
        let turn = query.position.turn;
        Hit { member: Arc::clone(member), index, inverted, turn, value, claims }
    }

    /// What the values of a table prove, as far as its header and those of its futurebases tell.
    pub fn claims_of(&self, member: &OpenTable) -> Claims {
        self.claims_but_of(member, &mut HashSet::new())
    }

    /// The same; tables that are being looked at already are taken by their own headers.
    fn claims_but_of(&self, member: &OpenTable, seen: &mut HashSet<PathBuf>) -> Claims {
        let header = member.header_claims();
        let control = member.table().control();
        let settled = header.is_exact() || Claims::recorded(control).is_some();
        if settled || control.futurebases.is_empty() {
            return header;
        }
        if let Some(claims) = member.claims.get() {
            return *claims;
        }
        if !seen.insert(member.table().path().to_owned()) {
            return header;
        }

        let named = self.named_by(member);
        let behind = |named: &Named| {
            let claims = self.claims_but_of(named.member.as_deref()?, seen);
            Some(if named.inverted { claims.swapped() } else { claims })
        };
        let behind: Option<Vec<Claims>> = named.iter().map(behind).collect();
        let claims = match behind {
            Some(behind) if explains_enables(member, &named) => {
                behind.into_iter().fold(member.own_claims(), Claims::and)
            }
            _ => header,
        };
        *member.claims.get_or_init(|| claims)
    }

    /// The value with the distance to mate under the rules of chess, from tables that have it and
    /// prune nothing; none if there is no such table. Two bare kings are a draw without one.
    ///
    /// # Errors
    /// See [`Collection::lookup`].
    pub fn value(&self, position: &Position) -> Result<Option<Value>, CollectionError> {
        if self.variant() == Variant::Normal {
            if position.is_opponent_in_check() {
                return Ok(Some(Value::Illegal));
            }
            if is_bare_kings(position) {
                return Ok(Some(Value::Draw));
            }
        }
        let hit = self.lookup_where(position, is_exact_dtm)?;
        Ok(hit.and_then(|hit| Table::exact(hit.value)))
    }
}

/// Whether each kind of prune that a table enables is one of its own or of a futurebase: otherwise
/// a file has taken the place of the one that the table was made from.
fn explains_enables(member: &OpenTable, named: &[Named]) -> bool {
    let control = member.table().control();
    control.prune_enables.iter().all(|enabled| {
        let (color, effect) = (enabled.color, enabled.effect);
        let own = control.prunes.iter().any(|p| (p.color, p.effect) == (color, effect));
        own || named.iter().any(|named| named.enables(color, effect))
    })
}

/// A position as tables are asked for it.
struct Query<'p> {
    position: &'p Position,
    material: Material,
    /// The en passant square, if it fits a pawn.
    en_passant: Option<Square>,
    /// Any value will do that is better than this one for the side to move, if there is a limit.
    limit: Option<Value>,
}

impl<'p> Query<'p> {
    /// None if the en passant square fits a pawn of the side to move.
    fn new(position: &'p Position) -> Option<Query<'p>> {
        let en_passant = match position.en_passant_pawn() {
            Some(color) if color == position.turn => return None,
            Some(_) => position.en_passant,
            None => None,
        };
        Some(Query { position, material: position.material(), en_passant, limit: None })
    }

    /// The ways in which a table by itself answers for these men: as they are, and with the
    /// colours exchanged.
    fn orientations(&self, member: &OpenTable) -> impl Iterator<Item = bool> + use<> {
        let own = *member.material() == self.material;
        let exchanged = *member.material() == self.material.swapped() && member.is_own_image();
        [own.then_some(false), exchanged.then_some(true)].into_iter().flatten()
    }

    /// The index of the position in a table, as it is or with the colours exchanged, and who is to
    /// move there; none if the table does not hold it.
    fn find(&self, member: &OpenTable, inverted: bool) -> Option<(u64, Color)> {
        let men = if inverted { self.material.swapped() } else { self.material };
        let holds = men == *member.material();
        holds.then(|| member.find(self.position, self.en_passant, inverted)).flatten()
    }

    /// The file that the table of the ending has.
    fn file(&self) -> String {
        table_name(&self.material)
    }
}
