//! `hoffman convert`: a table rewritten with another index type, symmetry or entry format.

use anyhow::Context as _;
use hoffman_board::Format;
use hoffman_board::value::FlagType;
use hoffman_run::{Workplace, available_memory};
use hoffman_table::convert::{ConvertOptions, Converted, convert};
use hoffman_table::foreign::ForeignOptions;
use serde_json::json;

use crate::Outcome;
use crate::args::{ConvertArgs, EntryFormat};
use crate::commands::tables;
use crate::output::{note, print_line};
use crate::progress::Bar;

/// Converts a table.
pub(crate) fn run(args: &ConvertArgs) -> anyhow::Result<Outcome> {
    let folder = args.folder.existing()?;
    let path = tables::find(&args.table, folder.as_deref())?;
    let reading = args.reading.reading(ForeignOptions::default())?;
    let table = tables::open(&path, reading.source, &reading.foreign)?;
    if table.foreign().is_some() {
        anyhow::bail!("{}: only tables of ours can be converted", path.display());
    }
    let usual = ConvertOptions::default();
    let bar = Bar::new("entries");
    bar.name(args.output.display().to_string());
    let _lock = Workplace::default().lock(&args.output, &bar)?;
    let progress = |done, total| bar.set(done, total);
    let options = ConvertOptions {
        index: args.index,
        symmetry: args.symmetry,
        format: format(args, table.codec().format())?,
        restricted_symmetry: args.restricted_symmetry,
        memory: reading
            .whole
            .or_else(|| available_memory().map(|free| free / 2))
            .unwrap_or(usual.memory),
        compression: args.compress.into(),
        progress: Some(&progress),
    };
    let converted = convert(&table, &args.output, &options)?;
    drop(bar);
    for notice in &converted.notices {
        note(&format!("{}: {notice}", args.output.display()));
    }
    let bytes = std::fs::metadata(&args.output)
        .with_context(|| format!("cannot read {}", args.output.display()))?
        .len();
    print_line(&report(args, &converted, bytes))?;
    Ok(Outcome::Done)
}

/// The format that is asked for; none if it is to stay.
fn format(args: &ConvertArgs, old: Format) -> anyhow::Result<Option<Format>> {
    let kind = args.format.map(|format| match format {
        EntryFormat::Dtm => Format::Dtm(args.bits),
        EntryFormat::Dtc => Format::Dtc(args.bits),
        EntryFormat::Basic => Format::Basic,
        EntryFormat::WhiteWins => Format::Flag(FlagType::WhiteWins),
        EntryFormat::WhiteDraws => Format::Flag(FlagType::WhiteDraws),
    });
    let kind = match (kind, args.bits, old) {
        (None, Some(_), Format::Dtm(_)) => Some(Format::Dtm(args.bits)),
        (None, Some(_), Format::Dtc(_)) => Some(Format::Dtc(args.bits)),
        (None, Some(_), other) => Some(other),
        (kind, ..) => kind,
    };
    match kind {
        Some(kind) if args.bits.is_some() && !kind.has_distance() => {
            anyhow::bail!("--bits is for distances, which the format {} does not have", name(kind))
        }
        kind => Ok(kind),
    }
}

/// A format as the command line names it.
const fn name(format: Format) -> &'static str {
    match format {
        Format::Flag(FlagType::WhiteWins) => "white-wins",
        Format::Flag(FlagType::WhiteDraws) => "white-draws",
        other => other.name(),
    }
}

fn report(args: &ConvertArgs, converted: &Converted, bytes: u64) -> String {
    let bits = match converted.format {
        Format::Dtm(bits) | Format::Dtc(bits) => bits.unwrap_or(0),
        Format::Basic => 2,
        Format::Flag(_) => 1,
    };
    let file = args.output.display().to_string();
    let (index, symmetry) = (converted.index_type.name(), converted.symmetry);
    if args.json {
        let json = json!({
            "file": file,
            "index": index,
            "symmetry": symmetry,
            "format": name(converted.format),
            "bits": bits,
            "indices": converted.indices,
            "positions": converted.positions,
            "bytes": bytes,
        });
        return json.to_string();
    }
    format!(
        "{file}: {index}, symmetry {symmetry}, {} of {bits} bit{}, {} indices, {bytes} bytes",
        name(converted.format),
        if bits == 1 { "" } else { "s" },
        converted.indices
    )
}
