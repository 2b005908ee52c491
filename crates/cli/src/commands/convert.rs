//! `hoffman convert`: a table rewritten with another index type, symmetry or entry format.

use std::path::Path;

use hoffman::{Content, ConvertOptions, Converted, FlagType, Format, ReadOptions};
use serde_json::json;

use crate::RunEnd;
use crate::args::{ConvertArgs, EntryFormat, FileFormat};
use crate::commands::tables;
use crate::output::{Misuse, note, print_line};
use crate::progress::Bar;

/// Converts a table.
pub(crate) fn run(args: &ConvertArgs) -> anyhow::Result<RunEnd> {
    if args.streams.needs_blocks() && FileFormat::of_name(&args.output) != FileFormat::Hbf {
        let text = "--profile and --outcomes=too are for the block format, whose files end in .hbf";
        return Err(Misuse(text.to_owned()).into());
    }
    if args.compress.is_some() && FileFormat::of_name(&args.output) == FileFormat::Hbf {
        let text = "--compress is for the files of the original program, which end in .htb";
        return Err(Misuse(text.to_owned()).into());
    }
    if args.output == Path::new("-") {
        return Err(
            Misuse("a table is written to a file, not to standard output".to_owned()).into()
        );
    }
    if args.streams.content() == Content::Outcomes {
        expect_outcomes(args)?;
    }
    let folder = args.folder.existing()?;
    let reading = args.reading.bound(ReadOptions::new())?;
    let table = tables::open(&args.table, folder.as_deref(), &reading)?;
    let options = ConvertOptions {
        index: args.index,
        symmetry: args.symmetry,
        format: format(args, table.format())?,
        restricted_symmetry: args.restricted_symmetry,
        compression: args.compress.unwrap_or_default().into(),
        profile: args.streams.profile().unwrap_or_default(),
        content: args.streams.content(),
    };
    let bar = Bar::new("entries");
    bar.name(args.output.display().to_string());
    let converted = table.convert(&args.output, &options, &mut |event| bar.tell(event))?;
    drop(bar);
    for notice in &converted.notices {
        note(&format!("{}: {notice}", args.output.display()));
    }
    print_line(&report(args, &converted))?;
    Ok(RunEnd::Done)
}

/// Refuses options that contradict outcomes alone.
fn expect_outcomes(args: &ConvertArgs) -> anyhow::Result<()> {
    let text = if !matches!(args.format, None | Some(EntryFormat::Basic)) {
        "--outcomes=only is the format basic, and --format names another one"
    } else if args.bits.is_some() {
        "--outcomes=only is the format basic, and --bits is for distances"
    } else {
        return Ok(());
    };
    Err(Misuse(text.to_owned()).into())
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

fn report(args: &ConvertArgs, converted: &Converted) -> String {
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
            "bytes": converted.bytes,
        });
        return json.to_string();
    }
    format!(
        "{file}: {index}, symmetry {symmetry}, {} of {bits} bit{}, {} indices, {} bytes",
        name(converted.format),
        if bits == 1 { "" } else { "s" },
        converted.indices,
        converted.bytes
    )
}
