//! What a verification found, in words and as JSON.

use std::fmt;

use hoffman_board::{Format, Material};
use serde::Serialize;

use super::tally::Tally;
use super::tested::TestedTable;
use crate::words::claims_in_words;

/// How many differences a report lists.
pub const SHOWN: usize = 10;

/// An entry that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its index.
    pub index: u64,
    /// The position; none if the index stands for no position.
    pub fen: Option<String>,
    /// What the table says, as `win in 3`.
    pub stored: String,
    /// What its successors, or Syzygy, say.
    pub computed: String,
}

/// A number of the header's statistics that is not what was counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeaderDifference {
    /// The element, as `legal-positions`.
    pub element: String,
    /// The number in the header.
    pub header: i64,
    /// The number counted.
    pub counted: i64,
}

/// The comparison with Syzygy tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SyzygyReport {
    /// Positions compared.
    pub compared: u64,
    /// Positions that no Syzygy file answers.
    pub unanswered: u64,
    /// Positions with another outcome.
    pub different: u64,
    /// The first of them.
    pub first_differences: Vec<Difference>,
}

/// The result of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All that was asked for was checked and is right.
    Right,
    /// What could be checked is right, but tables are missing that the rest depends on.
    Incomplete,
    /// Something is wrong.
    Wrong,
}

impl Verdict {
    const fn words(self) -> &'static str {
        match self {
            Verdict::Right => "ok",
            Verdict::Incomplete => "nothing wrong was found, but not all could be checked",
            Verdict::Wrong => "NOT ok",
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// The ending, as `KQvKR`.
    pub table: String,
    /// Whether all that was asked for was checked and is right. Positions that Syzygy does not
    /// answer do not count, and with Syzygy only what the values prove of chess is compared.
    pub ok: bool,
    /// The same with the reason.
    pub verdict: Verdict,
    /// The number of indices of the table.
    pub indices: u64,
    /// Indices looked at.
    pub checked: u64,
    /// Legal positions among them: the player not to move is not in check.
    pub positions: u64,
    /// Entries that are not what they should be.
    pub different: u64,
    /// The first of them by index, at most [`SHOWN`].
    pub first_differences: Vec<Difference>,
    /// Positions whose distance could not be recomputed because a table needed is missing.
    pub unverified: u64,
    /// The tables missing, as `krk`.
    pub missing: Vec<String>,
    /// Positions of which only win, draw or loss could be compared.
    pub outcome_only: u64,
    /// Statistics of the header that were recounted.
    pub header_checked: Vec<String>,
    /// Those among them that are wrong.
    pub header_differences: Vec<HeaderDifference>,
    /// The comparison with Syzygy, if there was one.
    pub syzygy: Option<SyzygyReport>,
    /// What was not checked, and other remarks.
    pub remarks: Vec<String>,
}

impl fmt::Display for VerifyReport {
    /// Several lines for people, without a newline at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = self.verdict.words();
        write!(
            f,
            "{}: {verdict}, {} of {} indices checked, {} legal positions",
            self.table, self.checked, self.indices, self.positions
        )?;
        if self.different > 0 {
            write!(f, "\n  {} entries differ from what their successors say", self.different)?;
        }
        write_differences(f, &self.first_differences, "computed")?;
        if self.unverified > 0 {
            let missing = self.missing.join(", ");
            let unverified = self.unverified;
            write!(
                f,
                "\n  {unverified} positions could not be checked without a table of {missing}"
            )?;
        }

        if self.outcome_only > 0 {
            write!(f, "\n  {} positions verified for win, draw and loss only", self.outcome_only)?;
        }

        for HeaderDifference { element, header, counted } in &self.header_differences {
            write!(f, "\n  {element}: {header} in the header, {counted} counted")?;
        }
        if let Some(syzygy) = &self.syzygy {
            write!(f, "\n  Syzygy: {} compared, {} different", syzygy.compared, syzygy.different)?;
            if syzygy.unanswered > 0 {
                write!(f, ", {} without an answer", syzygy.unanswered)?;
            }
            write_differences(f, &syzygy.first_differences, "Syzygy")?;
        }

        for remark in &self.remarks {
            write!(f, "\n  {remark}")?;
        }
        Ok(())
    }
}

fn write_differences(
    f: &mut fmt::Formatter<'_>,
    differences: &[Difference],
    other: &str,
) -> fmt::Result {
    for Difference { index, fen, stored, computed } in differences {
        let fen = fen.as_deref().unwrap_or("no position");
        write!(f, "\n    {fen} ({index}): stored {stored}, {other} {computed}")?;
    }
    Ok(())
}

pub(super) fn remarks_on(tested: &TestedTable<'_>, tally: &Tally, sampled: bool) -> Vec<String> {
    let (table, format) = (tested.table(), tested.table().codec().format());
    let mut remarks = Vec::new();
    if tally.unverified > 0 && !tested.absent.is_empty() {
        let names: Vec<&str> = tested.absent.iter().map(|absent| absent.name.as_str()).collect();
        remarks
            .push(format!("futurebases of the header that were not found: {}", names.join(", ")));
    }

    if !format.has_distance() {
        remarks.push(format!(
            "{} entries agree with their successors' outcomes; circles of positions that only support \
             each other would not be seen",
            format.name()
        ));
    }

    if tested.outcomes_only {
        remarks.push("distances to conversion by the original program are not verified".to_owned());
    } else if tested.converts {
        remarks.push("every move out of the table was taken as a conversion".to_owned());
    }

    if tally.undetermined > 0 {
        remarks.push(format!(
            "{} positions depend on outcomes that the successors' tables do not tell",
            tally.undetermined
        ));
    }

    if !table.claims().is_exact() {
        remarks.push(format!(
            "values were checked by the rules of the table; certain in chess, and compared with Syzygy: {}",
            claims_in_words(table.claims())
        ));
    }

    if sampled {
        remarks.push("only a sample was checked, and no statistics".to_owned());
    }
    remarks
}

pub(super) fn report(
    tested: &TestedTable<'_>,
    tally: Tally,
    remarks: Vec<String>,
    sampled: bool,
) -> VerifyReport {
    let table = tested.table();
    let mut header_checked = Vec::new();
    let mut header_differences = Vec::new();
    if !sampled {
        let mut numbers: Vec<(&str, i64)> =
            tally.statistics(table).into_iter().map(|(name, n)| (name, n as i64)).collect();
        if matches!(table.codec().format(), Format::Dtm(_)) {
            numbers.push(("max-dtm", i64::from(tally.max)));
            numbers.push(("min-dtm", i64::from(tally.min)));
        }
        for (name, counted) in numbers {
            let Some(&header) = table.control().statistics.get(name) else { continue };
            header_checked.push(name.to_owned());
            if header != counted {
                let element = name.to_owned();
                header_differences.push(HeaderDifference { element, header, counted });
            }
        }
    }

    let right =
        tally.different == 0 && header_differences.is_empty() && tally.syzygy.different == 0;
    let verdict = match (right, tally.unverified) {
        (false, _) => Verdict::Wrong,
        (true, 0) => Verdict::Right,
        (true, _) => Verdict::Incomplete,
    };
    let mut missing: Vec<String> = tally.missing.iter().map(Material::stem).collect();
    missing.sort();

    VerifyReport {
        table: tested.own.to_string(),
        ok: verdict == Verdict::Right,
        verdict,
        indices: table.space().size(),
        checked: tally.checked,
        positions: tally.legal,
        different: tally.different,
        first_differences: tally.first,
        unverified: tally.unverified,
        missing,
        outcome_only: tally.outcome_only,
        header_checked,
        header_differences,
        syzygy: tested.syzygy.as_ref().map(|_| tally.syzygy),
        remarks,
    }
}
