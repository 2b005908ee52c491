//! The jobs as arrays for Slurm, for places that have no other engine: level by level, each after
//! the level before it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{Job, PROGRAM, command_line, plain};

/// The most jobs of an array that every Slurm takes.
const LONGEST_ARRAY: usize = 1000;

/// How a job of an array ends, whichever it is. What another machine wrote may not be seen at once,
/// and a process that a signal has ended is begun again, as --run does.
const TAIL: &str = r#"for try in 1 2 3 4 5; do
  code=0
  "${HOFFMAN:-hoffman}" "$@" > "$log" 2>&1 || code=$?
  [ "$code" -gt 128 ] && continue
  [ "$code" -eq 3 ] || break
  sleep 30
done
[ "$code" -eq 0 ] || echo "$table was not made: hoffman $*: exit code $code, its log is $log" >&2
exit "$code"
"#;

/// A shell script that submits everything.
pub(crate) fn slurm(jobs: &[Job]) -> anyhow::Result<String> {
    let folders: BTreeSet<String> = jobs.iter().map(Job::log_folder).collect();
    let folders = folders.iter().map(|folder| plain(folder)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut text =
        String::from("#!/bin/sh\n# Submits jobs for tables to Slurm: sh SCRIPT\nset -eu\n");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "mkdir -p {}", folders.join(" "));
    let mut before = String::new();
    for (number, level) in levels(jobs).iter().enumerate() {
        let mut ids = String::new();
        for (at, members) in arrays(jobs, level).iter().enumerate() {
            let name = format!("level{number}_{at}");
            text.push_str(&array(jobs, members, &name, &before)?);
            let _ = write!(ids, ":${{{name}%%;*}}");
        }
        before = format!(" --dependency=afterok{ids} --kill-on-invalid-dep=yes");
    }
    text.push_str("echo \"all is submitted; squeue shows it\"\n");
    Ok(text)
}

/// The numbers of the jobs, those first that need no other, then those that need only these.
fn levels(jobs: &[Job]) -> Vec<Vec<usize>> {
    let mut depths: Vec<usize> = Vec::new();
    let mut levels: Vec<Vec<usize>> = Vec::new();
    for (at, job) in jobs.iter().enumerate() {
        // What a job needs stands before it.
        let depth = job.needs.iter().map(|&needed| depths[needed] + 1).max().unwrap_or(0);
        depths.push(depth);
        levels.resize(levels.len().max(depth + 1), Vec::new());
        levels[depth].push(at);
    }
    levels
}

/// The jobs of a level in groups that take about as much: all jobs of an array get the same.
fn arrays(jobs: &[Job], level: &[usize]) -> Vec<Vec<usize>> {
    let mut alike: BTreeMap<(usize, u64), Vec<usize>> = BTreeMap::new();
    for &at in level {
        let job = &jobs[at];
        alike.entry((job.threads, job.megabytes().next_power_of_two())).or_default().push(at);
    }
    alike.values().flat_map(|group| group.chunks(LONGEST_ARRAY)).map(<[usize]>::to_vec).collect()
}

/// The command that submits an array.
fn array(jobs: &[Job], members: &[usize], name: &str, after: &str) -> anyhow::Result<String> {
    let most = |of: fn(&Job) -> u64| members.iter().map(|&at| of(&jobs[at])).max().unwrap_or(0);
    let mut cases = String::new();
    for (number, &at) in members.iter().enumerate() {
        let job = &jobs[at];
        let words = job.command();
        let arguments = command_line(words.strip_prefix(&[PROGRAM.to_owned()]).unwrap_or(&words))?;
        let (table, log) = (plain(&job.output)?, job.log());
        let _ = writeln!(cases, "({number}) table={table} log={log}; set -- {arguments} ;;");
    }
    Ok(format!(
        "{name}=$(sbatch --parsable{after} --job-name=hoffman --array=0-{last} --cpus-per-task={threads} \
         --mem={memory}M --time={minutes} --output=/dev/null --error={errors} <<'END'\n\
         #!/bin/sh\ncase $SLURM_ARRAY_TASK_ID in\n{cases}esac\n{TAIL}END\n)\n",
        last = members.len() - 1,
        threads = most(|job| job.threads as u64),
        memory = most(Job::megabytes),
        minutes = most(Job::minutes),
        errors = members
            .first()
            .map_or_else(String::new, |&at| jobs[at].log_folder() + "/slurm-%A_%a.err"),
    ))
}
