//! The statistics elements that the program adds to a table's header.
//!
//! Names, order and layout are those of the original, so that scripts that read headers keep
//! working.

use std::fmt::Write as _;
use std::time::Duration;

/// One pass over a table, as `generation-statistics` lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassStatistics {
    /// `initialization`, `futurebase backprop`, `futuremove check` or `intratable`.
    pub pass_type: String,
    /// Wall time.
    pub real_time: Duration,
    /// Processor time, where it was taken for every pass.
    pub user_time: Option<Duration>,
    /// The stored distance that the pass settled; intratable passes of formats with distances only.
    pub dtm: Option<i32>,
    /// How many positions it settled; intratable passes only.
    pub positions_finalized: Option<u64>,
    /// How many updates it sent to predecessors; intratable passes only.
    pub moves_generated: Option<u64>,
}

/// `generation-statistics`: who made the table, when, and at what cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GenerationStatistics {
    /// The name of the machine.
    pub host: String,
    /// The program and its version.
    pub program: String,
    /// The command line.
    pub args: String,
    /// When work began, as `Sat Nov 21 21:48:03 2026 UTC`.
    pub start_time: String,
    /// When the last pass ended.
    pub completion_time: String,
    /// Processor time outside the system.
    pub user_time: Duration,
    /// Processor time inside the system.
    pub system_time: Duration,
    /// Wall time.
    pub real_time: Duration,
    /// Page faults that needed the disk.
    pub page_faults: u64,
    /// Page faults that did not.
    pub page_reclaims: u64,
    /// The passes in order.
    pub passes: Vec<PassStatistics>,
}

/// A duration as headers write it: `0.045s`, `3m05.120s`, `1h02m03.004s`, `1d02h00m00.000s`;
/// milliseconds are cut, not rounded.
pub fn format_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (days, hours) = (seconds / 86400, seconds / 3600 % 24);
    let (minutes, rest, millis) = (seconds / 60 % 60, seconds % 60, duration.subsec_millis());
    if days > 0 {
        format!("{days}d{hours:02}h{minutes:02}m{rest:02}.{millis:03}s")
    } else if hours > 0 {
        format!("{hours}h{minutes:02}m{rest:02}.{millis:03}s")
    } else if minutes > 0 {
        format!("{minutes}m{rest:02}.{millis:03}s")
    } else {
        format!("{rest}.{millis:03}s")
    }
}

/// The text of `tablebase-statistics`, as it stands before a closing tag on its own line.
pub(crate) fn render_tablebase(numbers: &[(String, i64)]) -> String {
    let mut text = String::from("   <tablebase-statistics>\n");
    for (name, number) in numbers {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "      <{name}>{number}</{name}>");
    }
    text.push_str("      </tablebase-statistics>\n");
    text
}

/// The text of `generation-statistics`, up to the indented closing tag of the root.
pub(crate) fn render_generation(statistics: &GenerationStatistics) -> String {
    let mut text = String::from("   <generation-statistics>\n");
    let elements = [
        ("host", statistics.host.clone()),
        ("program", statistics.program.clone()),
        ("args", statistics.args.clone()),
        ("start-time", statistics.start_time.clone()),
        ("completion-time", statistics.completion_time.clone()),
        ("user-time", format_duration(statistics.user_time)),
        ("system-time", format_duration(statistics.system_time)),
        ("real-time", format_duration(statistics.real_time)),
        ("page-faults", statistics.page_faults.to_string()),
        ("page-reclaims", statistics.page_reclaims.to_string()),
    ];

    for (name, content) in elements {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "      <{name}>{}</{name}>", escape(&content));
    }

    for pass in &statistics.passes {
        let mut attributes =
            vec![("type", escape(&pass.pass_type)), ("real-time", format_duration(pass.real_time))];
        attributes.extend(pass.user_time.map(|time| ("user-time", format_duration(time))));
        attributes.extend(pass.dtm.map(|n| ("dtm", n.to_string())));
        attributes.extend(pass.positions_finalized.map(|n| ("positions-finalized", n.to_string())));
        attributes.extend(pass.moves_generated.map(|n| ("moves-generated", n.to_string())));
        text.push_str("      <pass");
        for (name, value) in attributes {
            // Writing to a string cannot fail.
            let _ = write!(text, " {name}=\"{value}\"");
        }
        text.push_str("/>\n");
    }

    text.push_str("   </generation-statistics>\n   ");
    text
}

/// Text for an element or a quoted attribute: markup is escaped, characters that XML 1.0 cannot
/// hold become question marks.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' => escaped.push(ch),
            '\u{0}'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => escaped.push('?'),
            _ => escaped.push(ch),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_cut() {
        for (millis, text) in [
            (45, "0.045s"),
            (12_345, "12.345s"),
            (185_120, "3m05.120s"),
            (3_723_004, "1h02m03.004s"),
            (93_600_000, "1d02h00m00.000s"),
        ] {
            assert_eq!(format_duration(Duration::from_millis(millis)), text);
        }
        assert_eq!(format_duration(Duration::from_micros(1_999)), "0.001s");
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("</tablebase> & \"x\u{1}\""), "&lt;/tablebase&gt; &amp; &quot;x?&quot;");
    }
}
