//! Receipts: from what a table was made, by checksums, so that a machine need not trust another.

use std::io;
use std::path::{Path, PathBuf};

use hoffman_run::file_digest;
use hoffman_store::{files, folder_of, is_file};
use serde_json::{Value, json};

use crate::error::Error;
use crate::process::write_whole;

/// Where what was found of a table by verifying it belongs: `verified/NAME.json` beside the table.
pub fn verification_of(table: &Path) -> PathBuf {
    beside(table, "verified")
}

/// Who makes tables: tables of others are made again.
pub(crate) const PROGRAM: &str = concat!("hoffman ", env!("CARGO_PKG_VERSION"));

/// The most bytes of a receipt.
pub(crate) const LONGEST: u64 = 4 << 20;

/// Where the receipt of a table is looked for: `receipts/NAME.json` beside the table.
pub fn receipt_of(table: &Path) -> PathBuf {
    beside(table, "receipts")
}

/// A file in JSON of a table, in a folder beside it.
fn beside(table: &Path, folder: &str) -> PathBuf {
    let mut name = table.file_name().unwrap_or_default().to_owned();
    name.push(".json");
    table.with_file_name(folder).join(name)
}

/// A file with its checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sum {
    file: PathBuf,
    /// In hexadecimal digits.
    sha256: String,
    bytes: u64,
}

impl Sum {
    /// Reads a file.
    pub(crate) fn of(file: &Path) -> Result<Sum, Error> {
        let (sha256, bytes) =
            file_digest(&*files(), file).map_err(|error| failed("read", file, &error))?;
        Ok(Sum { file: file.to_owned(), sha256, bytes })
    }

    /// That of a file that a table is made from; it must be what its own receipt says, if there is
    /// one.
    pub(crate) fn of_input(file: &Path) -> Result<Sum, Error> {
        let sum = Sum::of(file)?;
        let Some(receipt) = Receipt::read(&receipt_of(file))? else { return Ok(sum) };
        match receipt.disagrees(&sum) {
            None => Ok(sum),
            Some(why) => Err(Error::Receipt(format!(
                "{why}: make it again, or remove the receipt if the file is right"
            ))),
        }
    }

    /// The file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// In hexadecimal digits.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({ "file": self.file.to_string_lossy(), "sha256": self.sha256, "bytes": self.bytes })
    }

    pub(crate) fn from_json(value: &Value) -> Option<Sum> {
        Some(Sum {
            file: value["file"].as_str()?.into(),
            sha256: value["sha256"].as_str()?.to_owned(),
            bytes: value["bytes"].as_u64()?,
        })
    }

    /// Whether both are of a file of that name with that content, wherever it is.
    pub(crate) fn is_like(&self, other: &Sum) -> bool {
        self.file.file_name() == other.file.file_name()
            && (&self.sha256, self.bytes) == (&other.sha256, other.bytes)
    }
}

/// What is known of the making of a table.
pub(crate) struct Receipt {
    program: String,
    command: String,
    output: Sum,
    inputs: Vec<Sum>,
    /// The receipt itself.
    path: PathBuf,
}

impl Receipt {
    /// That of a table that is finished.
    pub(crate) fn of(
        table: &Path,
        inputs: Vec<Sum>,
        command: &str,
        path: &Path,
    ) -> Result<Receipt, Error> {
        let (program, command) = (PROGRAM.to_owned(), command.to_owned());
        Ok(Receipt { program, command, output: Sum::of(table)?, inputs, path: path.to_owned() })
    }

    /// Reads one, if it is there.
    pub(crate) fn read(path: &Path) -> Result<Option<Receipt>, Error> {
        if !is_file(&*files(), path) {
            return Ok(None);
        }
        let bytes = hoffman_store::read_stream(&*files(), path, LONGEST)
            .map_err(|error| failed("read", path, &error))?;
        let value: Option<Value> = serde_json::from_slice(&bytes).ok();
        match value.and_then(|value| Receipt::from_json(&value, path)) {
            Some(receipt) => Ok(Some(receipt)),
            None => Err(Error::Receipt(format!("{}: is no receipt of a table", path.display()))),
        }
    }

    /// Writes it, complete or not at all.
    pub(crate) fn write(&self) -> Result<(), Error> {
        let inputs: Vec<Value> = self.inputs.iter().map(Sum::to_json).collect();
        let value = json!({
            "program": self.program,
            "command": self.command,
            "output": self.output.to_json(),
            "inputs": inputs,
        });
        write_json(&self.path, &value)
    }

    fn from_json(value: &Value, path: &Path) -> Option<Receipt> {
        let inputs = value["inputs"].as_array()?.iter().map(Sum::from_json);
        Some(Receipt {
            program: value["program"].as_str()?.to_owned(),
            command: value["command"].as_str()?.to_owned(),
            output: Sum::from_json(&value["output"])?,
            inputs: inputs.collect::<Option<_>>()?,
            path: path.to_owned(),
        })
    }

    /// In what the table is not what it says.
    fn disagrees(&self, table: &Sum) -> Option<String> {
        let name = table.file.display();
        if self.output.sha256 != table.sha256 {
            return Some(format!(
                "{name}: is not the file of its receipt {} (SHA-256 {} instead of {})",
                self.path.display(),
                table.sha256,
                self.output.sha256
            ));
        }
        let is_ours = self.program == PROGRAM;
        (!is_ours).then(|| format!("{name}: was made by {}, and this is {PROGRAM}", self.program))
    }

    /// Why a table would be made otherwise now, from these files.
    pub(crate) fn outdates(&self, table: &Path, inputs: &[Sum]) -> Result<Option<String>, Error> {
        if let Some(why) = self.disagrees(&Sum::of(table)?) {
            return Ok(Some(why));
        }
        let name = table.display();
        let changed = inputs.iter().find(|input| !self.inputs.iter().any(|own| own.is_like(input)));
        if let Some(input) = changed {
            return Ok(Some(format!("{name}: was made from another {}", input.file.display())));
        }
        let is_more = self.inputs.len() != inputs.len();
        Ok(is_more.then(|| format!("{name}: was made from more files than it needs now")))
    }
}

/// Writes a file of a table in JSON, and the folder that it belongs into; complete or not at all.
pub(crate) fn write_json(path: &Path, value: &Value) -> Result<(), Error> {
    files()
        .create_folder(folder_of(path))
        .and_then(|()| write_whole(path, format!("{value:#}\n").as_bytes()))
        .map_err(|error| failed("write", path, &error))
}

pub(crate) fn failed(action: &str, path: &Path, error: &io::Error) -> Error {
    Error::Receipt(format!("cannot {action} {}: {error}", path.display()))
}
