//! The jobs as rules for GNU make.

use std::fmt::Write as _;

use super::{Job, PROGRAM, command_line, expect_apart, plain};

/// What stands before the rules. A table that was found to be current gets a new time, so that it
/// is not looked at again.
const HEAD: &str = "\
# Tables and what makes them: make -j N

HOFFMAN = hoffman

failed = { code=$(1); echo \"$@ was not made: exit code $$code, its log is $(2)\" >&2; exit $$code; }

.PHONY: all
all:";

/// A Makefile.
pub(crate) fn makefile(jobs: &[Job]) -> anyhow::Result<String> {
    expect_apart(jobs, "make")?;
    let (mut all, mut rules) = (HEAD.to_owned(), String::new());
    for job in jobs {
        let output = plain(&job.output)?;
        let _ = write!(all, " \\\n\t{output}");
        let _ = write!(rules, "\n{output}:");
        for input in &job.inputs {
            let _ = write!(rules, " {}", plain(input)?);
        }
        let words = job.command();
        let arguments = command_line(words.strip_prefix(&[PROGRAM.to_owned()]).unwrap_or(&words))?;
        let (folder, log) = (job.log_folder(), job.log());
        // Writing to a string cannot fail.
        let _ = write!(
            rules,
            "\n\t@mkdir -p {folder}\n\t$(HOFFMAN) {arguments} > {log} 2>&1 || $(call failed,$$?,{log})\n\t@touch $@\n"
        );
    }
    Ok(format!("{all}\n{rules}"))
}
