//! Progress in a won position whose moves no table counts.

use std::collections::HashMap;
use std::time::Instant;

use hoffman::shakmaty::{Chess, Color, Move, Position as _, Role, Square};
use hoffman::{Tablebase, Wdl};

use crate::judgement::key;

/// How far a way is looked for, in plies behind the move that is judged.
const FARTHEST: u32 = 8;

/// Positions that tables are asked for in one search: some hundredths of a second.
const MOST: u32 = 10_000;

/// Looks for a way to a capture, a move of a pawn or mate that the other side cannot prevent. Such
/// a move cannot be taken back, so a win that finds one after another comes to its end.
pub(crate) struct ProgressSearch<'t> {
    tables: &'t Tablebase,
    left: u32,
    until: Option<Instant>,
    /// Of positions with the winner to move: whether there is a way within so many plies.
    known: HashMap<String, (u32, bool)>,
}

impl ProgressSearch<'_> {
    pub(crate) fn new(tables: &Tablebase, until: Option<Instant>) -> ProgressSearch<'_> {
        ProgressSearch { tables, left: MOST, until, known: HashMap::new() }
    }

    /// Of won positions with the loser to move, the number of the one with the shortest way; none
    /// if none was found.
    pub(crate) fn shortest(&mut self, positions: &[&Chess]) -> Option<usize> {
        (0..=FARTHEST).step_by(2).find_map(|plies| {
            let found = positions.iter().position(|position| self.is_driven(position, plies));
            found.filter(|_| !self.is_over())
        })
    }

    fn is_over(&self) -> bool {
        self.left == 0 || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Whether all moves of the loser let the winner reach the end of a way. Captures of the loser
    /// are such ends, too.
    fn is_driven(&mut self, position: &Chess, plies: u32) -> bool {
        let moves = position.legal_moves();
        let ends = |m: &Move| m.is_zeroing();
        if moves.is_empty() {
            return position.is_checkmate();
        }
        plies > 0 && moves.iter().all(|m| ends(m) || self.reaches(&after(position, *m), plies - 1))
    }

    /// Whether the winner reaches the end of a way within some plies.
    fn reaches(&mut self, position: &Chess, plies: u32) -> bool {
        let key = key(position);
        match self.known.get(&key) {
            Some(&(within, true)) if within <= plies => return true,
            Some(&(within, false)) if within >= plies => return false,
            _ => {}
        }
        let reaches = self.reaches_anew(position, plies);
        if !self.is_over() {
            self.known.insert(key, (plies, reaches));
        }
        reaches
    }

    fn reaches_anew(&mut self, position: &Chess, plies: u32) -> bool {
        let mut quiet = Vec::new();
        for m in position.legal_moves() {
            let after = after(position, m);
            if after.is_checkmate() {
                return true;
            }
            if self.is_over() || !self.is_lost(&after) {
                continue;
            }
            if m.is_zeroing() {
                return true;
            }
            quiet.push(after);
        }
        plies > 1 && quiet.iter().any(|after| self.is_driven(after, plies - 1))
    }

    fn is_lost(&mut self, position: &Chess) -> bool {
        self.left = self.left.saturating_sub(1);
        matches!(self.tables.wdl(position), Ok(Some(Wdl::Loss)))
    }
}

fn after(position: &Chess, m: Move) -> Chess {
    let mut after = position.clone();
    after.play_unchecked(m);
    after
}

/// How far a lost side to move is from being driven into a corner: smaller is nearer. Where no way
/// is found this is what a win without pawns has to work at.
pub(crate) fn freedom(position: &Chess) -> u32 {
    let board = position.board();
    let loser = position.turn();
    let (Some(own), Some(other)) = (board.king_of(loser), board.king_of(loser.other())) else {
        return 0;
    };
    let corner = corners(position, loser.other()).map(|corner| steps(own, corner)).min();
    let edge = [own.file() as u32, own.rank() as u32].map(|line| line.min(7 - line));
    let edge = edge[0].min(edge[1]);
    let moves = position.legal_moves().len() as u32;
    8 * edge + 4 * corner.unwrap_or(0) + 4 * steps(own, other) + moves
}

/// The corners in which the winner can mate: those of its bishops' colour if it has bishops and no
/// stronger man.
fn corners(position: &Chess, winner: Color) -> impl Iterator<Item = Square> {
    let board = position.board();
    let men = board.by_color(winner);
    let has_strong = (men & (board.rooks_and_queens() | board.pawns())).any();
    let bishops = men & board.by_role(Role::Bishop);
    let light = bishops.into_iter().any(Square::is_light);
    let dark = bishops.into_iter().any(Square::is_dark);
    [Square::A1, Square::H1, Square::A8, Square::H8]
        .into_iter()
        .filter(move |corner| has_strong || light == dark || corner.is_light() == light)
}

fn steps(a: Square, b: Square) -> u32 {
    a.distance(b)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use hoffman::shakmaty::uci::UciMove;
    use hoffman::shakmaty::{CastlingMode, fen::Fen};
    use hoffman::{Content, Profile};

    use super::*;
    use crate::judgement::judge;

    /// A folder with who wins with a rook, and nothing else.
    fn outcomes_of_rooks() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let options = hoffman::Options::new(folder.path());
        let make = |name: &str, pieces: &str| {
            let (control, table) = (folder.path().join("control.xml"), folder.path().join(name));
            let text = format!("<tablebase><basic/>{pieces}</tablebase>");
            std::fs::write(&control, text).expect("a file");
            let control = hoffman::control::Control::read(&control).expect("a control file");
            control.generate(Some(&table), &options, &mut |_| {}).expect("a table");
        };
        let piece = |color, kind| format!("<piece color=\"{color}\" type=\"{kind}\"/>");
        let kings = piece("white", "king") + &piece("black", "king");
        make("kk.htb", &kings);
        let behind = folder.path().join("kk.htb").display().to_string();
        let rest = format!("<futurebase filename=\"{behind}\"/>");
        make("krk.htb", &(kings + &piece("white", "rook") + &rest));
        folder
    }

    /// How many plies a game takes to mate against a side that keeps as much freedom as it can;
    /// none if it does not come to mate before the fifty-move rule does.
    fn game(tables: &Tablebase, fen: &str) -> Option<u32> {
        let fen: Fen = fen.parse().expect("a FEN");
        let mut position: Chess = fen.into_position(CastlingMode::Standard).expect("a position");
        let mut seen = HashSet::new();
        for plies in 0..100 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                return position.is_checkmate().then_some(plies);
            }
            seen.insert(key(&position));
            let m = if position.turn().is_white() {
                let judged = judge(tables, &position, &seen, None);
                let uci: UciMove = judged.moves[0].uci.parse().expect("a move");
                uci.to_move(&position).expect("a legal move")
            } else {
                let free = |m: &&Move| {
                    let mut turned = after(&position, **m);
                    turned = turned.clone().swap_turn().unwrap_or(turned);
                    freedom(&turned)
                };
                *moves.iter().max_by_key(free).expect("a move")
            };
            position.play_unchecked(m);
            assert!(position.board().occupied().count() == 3, "the winning man is lost");
        }
        None
    }

    #[test]
    fn a_rook_mates_without_distances() {
        let folder = outcomes_of_rooks();
        let tables = Tablebase::open(folder.path()).expect("tables");
        for fen in [
            "8/8/8/3k4/8/8/1R6/K7 w - - 0 1",
            "8/8/3k4/8/8/8/8/R6K w - - 0 1",
            "8/8/8/8/4k3/8/8/K6R w - - 0 1",
        ] {
            assert!(game(&tables, fen).is_some(), "{fen} does not end");
        }
    }

    /// The fastest move, a promotion, leads where no moves are counted; the slower ones are.
    #[test]
    fn a_pawn_is_promoted_where_only_its_own_table_has_distances() {
        let [counted, outcomes] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let build = |folder: &Path, content| {
            let options = hoffman::Options::new(folder).profile(Profile::Fast).content(content);
            let ending = "KPvK".parse().expect("an ending");
            hoffman::build(&[ending], &options, &mut |_| {}).expect("it can be built");
        };
        build(outcomes.path(), Content::Outcomes);
        build(counted.path(), Content::Distances);
        for file in std::fs::read_dir(counted.path()).expect("a folder") {
            let path = file.expect("a file").path();
            if !path.ends_with("kpk.hbf") {
                std::fs::remove_file(path).expect("a file");
            }
        }
        let folders = hoffman::OpenOptions::new().folder(counted.path()).folder(outcomes.path());
        let tables = folders.open().expect("tables");

        for fen in
            ["8/8/8/8/8/1K6/P6k/8 w - - 0 1", "8/P7/8/8/8/1K6/7k/8 w - - 0 1", FAR_FROM_PROMOTION]
        {
            assert!(game(&tables, fen).is_some(), "{fen} does not end");
            let fen: Fen = fen.parse().expect("a FEN");
            let position: Chess = fen.into_position(CastlingMode::Standard).expect("a position");
            let first = &judge(&tables, &position, &HashSet::new(), None).moves[0];
            let said = first.score.expect("a score").to_string();
            let own = tables.probe(&position).expect("an answer").value;
            let hoffman::Value::Win { plies: Some(plies) } = own else { panic!("{own:?}") };
            let exact = format!("score mate {}", plies.moves().0);
            assert!(said == exact || said == "score cp 20000", "{said} {exact}");
        }
    }

    const FAR_FROM_PROMOTION: &str = "8/8/8/8/2k5/8/4P3/4K3 w - - 0 1";
}
