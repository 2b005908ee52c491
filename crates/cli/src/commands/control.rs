//! `hoffman control`: the control files of complete endings and of all that they depend on.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use hoffman::control::Ending;
use hoffman::process::write_whole;

use crate::RunEnd;
use crate::args::ControlArgs;
use crate::output::{note, print_line};

/// Writes the files that are missing. Every name is checked before the first file is written.
pub(crate) fn run(args: &ControlArgs) -> anyhow::Result<RunEnd> {
    let mut endings = Vec::new();
    let mut seen = HashSet::new();
    for name in &args.names {
        for ending in name.parse::<Ending>()?.with_dependencies()? {
            if seen.insert(ending.to_string()) {
                endings.push(ending);
            }
        }
    }

    let asked: HashSet<&str> =
        args.names.iter().map(|name| name.strip_suffix(".xml").unwrap_or(name)).collect();
    if let Some(dir) = &args.dir {
        fs::create_dir_all(dir)
            .with_context(|| format!("cannot create the folder {}", dir.display()))?;
    }

    let (mut written, mut kept) = (Vec::new(), Vec::new());
    for ending in endings {
        let stem = ending.to_string();
        let name = format!("{stem}.xml");
        let path = args.dir.as_deref().unwrap_or(Path::new("")).join(&name);
        let shown = path.display().to_string();
        if path.symlink_metadata().is_ok() {
            if asked.contains(stem.as_str()) {
                note(&format!("{shown} exists, skipping"));
            }
            kept.push(shown);
            continue;
        }
        write_whole(&path, ending.control_text()?.as_bytes())
            .with_context(|| format!("cannot write {shown}"))?;
        if !args.json {
            print_line(&format!("Writing {shown}"))?;
        }
        written.push(shown);
    }

    if args.json {
        print_line(&serde_json::json!({ "written": written, "kept": kept }).to_string())?;
    }
    Ok(RunEnd::Done)
}
