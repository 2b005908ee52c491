//! Tables that were verified: what was found is kept in a file, so that it need not be done again.

use std::path::Path;

use hoffman_probe::verify::VerifyReport;
use hoffman_reader::ReadOptions;
use hoffman_store::{files, is_file};
use serde_json::{Value, json};

use crate::error::Error;
use crate::event::Event;
use crate::options::VerifyOptions;
use crate::receipt::{LONGEST, PROGRAM, Sum, failed, write_json};
use crate::table::Table;

/// What [`verify_once`] did.
#[derive(Debug)]
pub enum Verified {
    /// Nothing: the table was verified before, by this program and by as many entries.
    Kept,
    /// This was found.
    Found(Box<VerifyReport>),
}

/// Verifies a table, unless the file `report` says that this was done; writes that file if nothing
/// differs, and removes it if something does. The table must be what its receipt says, if there is
/// one.
///
/// # Errors
/// The table is not there ([`Error::is_temporary`]) or is not that of its receipt; those of
/// [`Table::verify`].
pub fn verify_once(
    table: &Path,
    report: &Path,
    (reading, options): (ReadOptions, &VerifyOptions),
    progress: &mut (dyn FnMut(Event) + Send),
) -> Result<Verified, Error> {
    if !is_file(&*files(), table) {
        return Err(Error::NotThere(table.to_owned()));
    }
    let sum = Sum::of_input(table)?;
    if is_known(report, &sum, options.sample) {
        return Ok(Verified::Kept);
    }

    let found = Table::open(table, reading)?.verify(options, progress)?;
    if found.ok {
        write(report, &sum, options.sample, &found)?;
    } else if is_file(&*files(), report) {
        files().remove(report).map_err(|error| failed("remove", report, &error))?;
    }
    Ok(Verified::Found(Box::new(found)))
}

/// Whether a report says that this very table was verified, and by no fewer entries. One that
/// cannot be read says nothing.
fn is_known(report: &Path, table: &Sum, sample: Option<u64>) -> bool {
    let bytes = hoffman_store::read_stream(&*files(), report, LONGEST);
    let said: Option<Value> = bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let Some(said) = said else { return false };
    let is_enough = match (said["sample"].as_u64(), sample) {
        (Some(before), Some(now)) => before >= now,
        (None, _) => said["sample"].is_null(),
        (Some(_), None) => false,
    };
    let is_same = Sum::from_json(&said["table"]).is_some_and(|before| before.is_like(table));
    is_enough && is_same && said["program"] == PROGRAM && said["found"]["ok"] == true
}

fn write(
    report: &Path,
    table: &Sum,
    sample: Option<u64>,
    found: &VerifyReport,
) -> Result<(), Error> {
    let said = json!({
        "program": PROGRAM,
        "table": table.to_json(),
        "sample": sample,
        "found": found,
    });
    write_json(report, &said)
}
