//! What the values of a generated table prove of chess, for its header.

use hoffman_board::{ByColor, Color, FuturemoveKind, Variant};
use hoffman_control::{Claims, ControlFile, PruneUse, may_be_idle};
use hoffman_solve::{KindOfMove, Ruling, Survey};

/// What a table claims that is made with the prunes of a control file, out of futurebases that
/// claim `behind`, each in the colours of the table. `ruling` is that on moves of a kind that no
/// futurebase answers.
pub(crate) fn claims_of(
    control: &ControlFile,
    survey: &Survey,
    ruling: &dyn Fn(Color, FuturemoveKind) -> Option<Ruling>,
    behind: impl IntoIterator<Item = Claims>,
) -> Claims {
    let decides = |color: Color, effect: Ruling| {
        let open = survey.kinds.iter().filter(|kind| kind.mover == color && !kind.complete);
        open.into_iter().any(|kind| ruling(color, kind.kind) == Some(effect))
    };
    let stalemates = control.stalemates_conceded_to();
    let idle = |color: Color| {
        let kinds = survey.kinds.iter().filter(|kind| kind.mover == color);
        let discarded =
            |kind: &KindOfMove| !kind.complete && ruling(color, kind.kind) == Some(Ruling::Discard);
        // Where stalemates are conceded to the other side, a side that has only discarded moves has
        // lost.
        let lost = control.variant == Variant::Normal && stalemates == Some(color.other());
        !lost && may_be_idle(kinds.map(|kind| (kind.kind, discarded(kind))))
    };
    let prunes = PruneUse {
        discards: ByColor::new_with(|color| decides(color, Ruling::Discard)),
        concedes: ByColor::new_with(|color| decides(color, Ruling::Concede)),
        stalemates,
        idle: ByColor::new_with(idle),
    };
    behind.into_iter().fold(Claims::after(control.variant, prunes), Claims::and)
}

/// What the header of a table says of itself, besides its control file: what its values prove, if
/// not everything, and from which files it was made, each with a blank before it.
pub(crate) fn instruction_of(claims: Claims, record: &str) -> String {
    match (claims.is_exact(), record.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!("from{record}"),
        (false, true) => claims.instruction(),
        (false, false) => format!("{}; from{record}", claims.instruction()),
    }
}
