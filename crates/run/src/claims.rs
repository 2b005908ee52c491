//! What the values of a generated table prove of chess, for its header.

use hoffman_board::{ByColor, Color};
use hoffman_control::{Claims, ControlFile, PruneUse};
use hoffman_solve::{Survey, Verdict};

/// What a table claims that is made with the prunes of a control file, out of futurebases that claim
/// `behind`, each in the colours of the table. `verdict` is that on moves of a kind that no futurebase
/// answers.
pub(crate) fn claims_of(
    control: &ControlFile,
    survey: &Survey,
    verdict: &dyn Fn(Color, &str) -> Option<Verdict>,
    behind: impl IntoIterator<Item = Claims>,
) -> Claims {
    let decides = |color: Color, effect: Verdict| {
        let open = survey.kinds.iter().filter(|kind| kind.mover == color && !kind.complete);
        open.into_iter().any(|kind| verdict(color, &kind.kind) == Some(effect))
    };
    let possible = PruneUse::possible(control);
    let discards = ByColor::new_with(|color| decides(color, Verdict::Discard));
    let prunes = PruneUse {
        discards,
        concedes: ByColor::new_with(|color| decides(color, Verdict::Concede)),
        stalemates: possible.stalemates,
        idle: ByColor::new_with(|color| *discards.get(color) && *possible.idle.get(color)),
    };
    behind.into_iter().fold(Claims::after(control.variant, prunes), Claims::and)
}
