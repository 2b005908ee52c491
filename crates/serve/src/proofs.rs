//! What was proved of positions that no table has. It is kept as long as the server runs, within a
//! bound, so that the address of a position says it again.

use hoffman::{Correspondence, Explanation, KingZugzwangs, Position, Square};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use serde::Serialize;
use serde_json::Value;

/// How much is kept, in bytes.
const KEPT: u64 = 8 << 20;

/// What is kept of a position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeptProof {
    /// Who wins, or at least draws: `white`, `white-holds`, `draw`, `black-holds`, `black` or
    /// `unknown`.
    pub(crate) result: &'static str,
    /// The same in words.
    pub(crate) words: String,
    /// What the proof took; nothing of a position behind a move, which was proved on the way.
    pub(crate) took: Value,
    /// Why it is so, if that was found out.
    pub(crate) why: Option<String>,
    /// The squares of the kings that correspond to each other, if there are some.
    pub(crate) corresponding: Vec<CorrespondingSquares>,
}

/// With the kings on any of these squares no side wants to be the one to move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CorrespondingSquares {
    white: Vec<String>,
    black: Vec<String>,
}

impl CorrespondingSquares {
    /// Those of an explanation.
    pub(crate) fn of(explanation: &Explanation) -> Vec<CorrespondingSquares> {
        let names = |squares: &[Square]| squares.iter().map(ToString::to_string).collect();
        let groups = explanation.kings.iter().flat_map(KingZugzwangs::correspondences);
        let squares = |group: Correspondence| CorrespondingSquares {
            white: names(&group.white),
            black: names(&group.black),
        };
        groups.map(squares).collect()
    }

    /// About what it takes, in bytes.
    fn bytes(&self) -> usize {
        64 + 32 * (self.white.len() + self.black.len())
    }
}

impl KeptProof {
    /// How much is known: nothing, that a side does not lose, or the result.
    fn extent(&self) -> u8 {
        match self.result {
            "white" | "draw" | "black" => 2,
            "white-holds" | "black-holds" => 1,
            _ => 0,
        }
    }
}

#[derive(Clone, Debug)]
struct ProofWeight;

impl Weighter<String, KeptProof> for ProofWeight {
    fn weight(&self, key: &String, proof: &KeptProof) -> u64 {
        // What the work took are a few numbers.
        let why = proof.why.as_ref().map_or(0, String::len);
        let squares: usize = proof.corresponding.iter().map(CorrespondingSquares::bytes).sum();
        (key.len() + proof.words.len() + why + squares) as u64 + 512
    }
}

/// Proofs by their positions. A clock has no part in them.
#[derive(Debug)]
pub(crate) struct KeptProofs(Cache<String, KeptProof, ProofWeight>);

impl Default for KeptProofs {
    fn default() -> KeptProofs {
        KeptProofs(Cache::with_weighter((KEPT / 600) as usize, KEPT, ProofWeight))
    }
}

impl KeptProofs {
    /// What is known of a position.
    pub(crate) fn of(&self, position: &Position) -> Option<KeptProof> {
        self.0.get(&key(position))
    }

    /// Keeps what was proved, unless more is known.
    pub(crate) fn keep(&self, position: &Position, proof: KeptProof) {
        let key = key(position);
        if self.0.get(&key).is_none_or(|old| proof.extent() >= old.extent()) {
            self.0.insert(key, proof);
        }
    }
}

/// The men, the side to move, and a right to take en passant that can be used.
fn key(position: &Position) -> String {
    let fen = position.clone().without_useless_en_passant().fen();
    fen.split(' ').take(4).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use hoffman::{AsPosition as _, Variant};

    use super::*;

    fn proof(result: &'static str) -> KeptProof {
        let (words, corresponding) = (result.to_owned(), Vec::new());
        KeptProof { result, words, took: Value::Null, why: None, corresponding }
    }

    #[test]
    fn less_does_not_take_the_place_of_more() {
        let proofs = KeptProofs::default();
        let position = |clock: &str| {
            let fen = format!("8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - {clock}");
            fen.as_position(Variant::Normal).expect("a position").into_owned()
        };
        assert_eq!(proofs.of(&position("0 1")), None);
        for (told, known) in [
            ("unknown", "unknown"),
            ("white-holds", "white-holds"),
            ("unknown", "white-holds"),
            ("white", "white"),
            ("white-holds", "white"),
        ] {
            proofs.keep(&position("0 1"), proof(told));
            let kept = proofs.of(&position("7 30")).expect("kept");
            assert_eq!((kept.result, kept.words.as_str()), (known, known), "{told}");
        }
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let proofs = KeptProofs::default();
        let mut squares = 0;
        for king in 0..64_u32 {
            for other in 0..64_u32 {
                for turn in ["w", "b"] {
                    let men = |at: u32| match (at == king, at == other) {
                        (true, _) => 'K',
                        (_, true) => 'k',
                        _ => '1',
                    };
                    let ranks: Vec<String> = (0..8)
                        .map(|rank| (0..8).map(|file| men(8 * rank + file)).collect())
                        .collect();
                    let fen = format!("{} {turn} - - 0 1", ranks.join("/"));
                    let Ok(position) = fen.as_position(Variant::Normal) else { continue };
                    proofs.keep(&position, KeptProof { words: "x".repeat(5000), ..proof("draw") });
                    squares += 1;
                }
            }
        }
        let kept = proofs.0.weight();
        assert!(squares > 5000 && kept <= KEPT && kept > KEPT / 2, "{squares} {kept}");
    }
}
