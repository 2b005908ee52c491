//! Tables that were verified: what was found is kept in a file, so that it need not be done again.

use std::path::Path;

use hoffman_probe::verify::{Smaller, VerifyReport};
use hoffman_reader::ReadOptions;
use hoffman_run::digest_of;
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
    /// Nothing: the table was verified before, by this program, by as many entries and against the
    /// same tables. What was found then.
    Kept(Value),
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
    let table = Table::open(table, reading)?;
    let smaller = table.smaller(options)?;
    let verification = Verification::of(&sum, &smaller, options)?;
    if let Some(found) = verification.kept(report) {
        return Ok(Verified::Kept(found));
    }

    let found = table.verify_against(&smaller, options, progress)?;
    if found.ok {
        write_json(report, &verification.to_json(&found))?;
    } else if is_file(&*files(), report) {
        files().remove(report).map_err(|error| failed("remove", report, &error))?;
    }
    Ok(Verified::Found(Box::new(found)))
}

/// What is verified, how far, and against what.
struct Verification<'a> {
    table: &'a Sum,
    sample: Option<u64>,
    /// The tables behind captures and promotions: their names, and a digest of their content.
    against: Vec<Value>,
    syzygy: Vec<Value>,
}

impl Verification<'_> {
    fn of<'a>(
        table: &'a Sum,
        smaller: &Smaller,
        options: &VerifyOptions,
    ) -> Result<Verification<'a>, Error> {
        let against = smaller.tables().iter().map(|table| {
            let name = table.path().file_name().unwrap_or_default().to_string_lossy();
            let digest = match table.fingerprint() {
                Some(bytes) => digest_of(&bytes),
                None => Sum::of(table.path())?.sha256().to_owned(),
            };
            Ok(json!({ "file": name, "digest": digest }))
        });
        let syzygy = options.syzygy.iter().map(|folder| folder.to_string_lossy().into());
        Ok(Verification {
            table,
            sample: options.sample,
            against: against.collect::<Result<_, Error>>()?,
            syzygy: syzygy.collect(),
        })
    }

    /// What a report says was found of this very table by no fewer entries and against no less. One
    /// that cannot be read says nothing.
    fn kept(&self, report: &Path) -> Option<Value> {
        let bytes = hoffman_store::read_stream(&*files(), report, LONGEST).ok()?;
        let mut said: Value = serde_json::from_slice(&bytes).ok()?;
        let is_enough = match (said["sample"].as_u64(), self.sample) {
            (Some(before), Some(now)) => before >= now,
            (None, _) => said["sample"].is_null(),
            (Some(_), None) => false,
        };
        let is_same = Sum::from_json(&said["table"])?.is_like(self.table)
            && said["against"].as_array() == Some(&self.against);
        let syzygy = said["syzygy"].as_array()?;
        let is_compared = self.syzygy.iter().all(|folder| syzygy.contains(folder));
        let is_kept = is_enough && is_same && is_compared && said["program"] == PROGRAM;
        let found = said["found"].take();
        (is_kept && found["ok"] == true).then_some(found)
    }

    fn to_json(&self, found: &VerifyReport) -> Value {
        json!({
            "program": PROGRAM,
            "table": self.table.to_json(),
            "sample": self.sample,
            "against": self.against,
            "syzygy": self.syzygy,
            "found": found,
        })
    }
}
