//! How tables are stored, and the options of what changes it.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hoffman::{Content, IndexType, Profile};

use super::FolderArgs;
use crate::work::{CompressName, ReadingArgs};

/// How tables are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// The format of the original program: sooner written, many times larger.
    Htb,
    /// The block format: many times smaller, and any position is soon read.
    #[default]
    Hbf,
}

impl FileFormat {
    /// What the name of a file says.
    pub(crate) fn of_name(file: &Path) -> FileFormat {
        let is_of_blocks = file.extension().is_some_and(|suffix| suffix == "hbf");
        if is_of_blocks { FileFormat::Hbf } else { FileFormat::Htb }
    }

    /// The option as it was given.
    pub(crate) fn repeated(self) -> [String; 2] {
        option_of("--format", &self)
    }
}

/// An option and its value as they are written on the command line.
fn option_of(option: &str, value: &impl ValueEnum) -> [String; 2] {
    let value = value.to_possible_value();
    [option.to_owned(), value.map_or_else(String::new, |value| value.get_name().to_owned())]
}

/// What files of complete endings in the block format have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// Both sides to move; a table answers alone.
    Fast,
    /// One side to move, a third of the size; the tables behind captures and promotions are needed
    /// beside it.
    Small,
    /// The same in a seventh less, which takes several times as long to write and to read.
    Smallest,
    /// Both sides to move, leaning on the tables behind captures and promotions, too.
    Paired,
}

/// What files of complete endings in the block format have, on the command line.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct StreamArgs {
    /// What files of the block format (.hbf) have [default: small; of files that stand alone, which
    /// convert and join write: fast].
    #[arg(long, value_enum)]
    pub(crate) profile: Option<ProfileName>,
    /// Store who wins: apart from the distances, which programs that ask for no more need not read
    /// then (too, the default; files of the block format), or alone (only).
    #[arg(
        long,
        value_name = "HOW",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "too"
    )]
    pub(crate) outcomes: Option<OutcomesName>,
}

/// How outcomes are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutcomesName {
    /// Beside the distances.
    Too,
    /// In place of the distances.
    Only,
}

impl StreamArgs {
    /// Whether something was asked for.
    pub(crate) const fn any(self) -> bool {
        self.profile.is_some() || self.outcomes.is_some()
    }

    /// Whether something was asked for that only files of the block format have.
    pub(crate) fn needs_blocks(self) -> bool {
        self.profile.is_some() || self.outcomes == Some(OutcomesName::Too)
    }

    pub(crate) fn content(self) -> Content {
        match self.outcomes {
            None => Content::Distances,
            Some(OutcomesName::Too) => Content::Both,
            Some(OutcomesName::Only) => Content::Outcomes,
        }
    }

    /// The profile, if one was asked for.
    pub(crate) fn profile(self) -> Option<Profile> {
        self.profile.map(Profile::from)
    }

    /// The options as they were given.
    pub(crate) fn repeated(self) -> Vec<String> {
        let profile = self.profile.map(|profile| option_of("--profile", &profile));
        let outcomes = self.outcomes.map(|outcomes| match outcomes {
            OutcomesName::Too => "--outcomes".to_owned(),
            OutcomesName::Only => "--outcomes=only".to_owned(),
        });
        profile.into_iter().flatten().chain(outcomes).collect()
    }
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Profile {
        match name {
            ProfileName::Fast => Profile::Fast,
            ProfileName::Small => Profile::Small,
            ProfileName::Smallest => Profile::Smallest,
            ProfileName::Paired => Profile::Paired,
        }
    }
}

/// What an entry of a table holds.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum EntryFormat {
    /// Distance to mate.
    Dtm,
    /// Distance to conversion.
    Dtc,
    /// Win, draw or loss.
    Basic,
    /// Whether White wins.
    WhiteWins,
    /// Whether White wins or draws.
    WhiteDraws,
}

#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// A file, or an ending whose table is in the folder.
    #[arg(value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// The new file.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// The index type: naive, naive2, simple, compact, combinadic3, combinadic4 or combinadic5
    /// [default: that of the table].
    #[arg(long, value_name = "TYPE", value_parser = index_type)]
    pub(crate) index: Option<IndexType>,
    /// How many board images share an entry: 1, 2, 4 or 8 [default: as in the table].
    #[arg(long, value_name = "N", value_parser = symmetry)]
    pub(crate) symmetry: Option<u8>,
    /// What the entries hold; the table must hold at least as much [default: what the table
    /// holds].
    #[arg(long, value_enum)]
    pub(crate) format: Option<EntryFormat>,
    /// The bits of a distance, if more are wanted than are needed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(crate) bits: Option<u8>,
    /// Give restricted pieces a symmetry above 1 if their squares have it. The original program
    /// cannot read such a table.
    #[arg(long)]
    pub(crate) restricted_symmetry: bool,
    /// How small a .htb file is made [default: normal].
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) compress: Option<CompressName>,
    #[command(flatten)]
    pub(crate) streams: StreamArgs,
    #[command(flatten)]
    pub(crate) folder: FolderArgs,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// Answer in JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

fn index_type(text: &str) -> Result<IndexType, String> {
    if let Some(found) = IndexType::from_name(text) {
        return Ok(found);
    }
    let known = IndexType::ALL.map(IndexType::name).join(", ");
    Err(match text {
        "combinadic" | "combinadic2" | "no-en-passant" | "standard" => {
            format!("this index type is not supported any more; use combinadic5, or one of {known}")
        }
        _ => format!("there is no such index type; use one of {known}"),
    })
}

fn symmetry(text: &str) -> Result<u8, String> {
    match text {
        "1" => Ok(1),
        "2" | "2-way" => Ok(2),
        "4" => Ok(4),
        "8" | "8-way" => Ok(8),
        _ => Err("the symmetry must be 1, 2, 4 or 8".to_owned()),
    }
}
