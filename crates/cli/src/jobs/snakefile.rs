//! The jobs as rules for Snakemake 9.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::{Job, command_line, expect_apart, plain};

/// What stands before the rules.
const HEAD: &str = r#"# Tables and what makes them: snakemake -j N
import os

HOFFMAN = config.get("hoffman", "hoffman")


def memory(foreseen, log, attempt):
    """Megabytes: more with every attempt, and what the last one has said that it needs."""
    needed = foreseen * attempt
    if attempt > 1 and os.path.exists(log):
        with open(log, errors="replace") as lines:
            for line in lines:
                if line.startswith("needs-memory-bytes: "):
                    needed = max(needed, -(-int(line.split()[1]) // 1048576))
    return needed


rule all:
    input:
"#;

/// A Snakefile: a rule for every table.
pub(crate) fn snakefile(jobs: &[Job]) -> anyhow::Result<String> {
    expect_apart(jobs, "Snakemake")?;
    let mut text = HEAD.to_owned();
    let mut names = HashSet::new();
    for job in jobs {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "        \"{}\",", plain(&job.output)?);
    }
    for job in jobs {
        let mut name = name_of(job);
        while !names.insert(name.clone()) {
            name.push('_');
        }
        text.push_str(&rule(&name, job)?);
    }
    Ok(text)
}

/// The name of a rule, as Python knows names.
fn name_of(job: &Job) -> String {
    let part = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("{}_{}", job.verb(), job.stem().chars().map(part).collect::<String>())
}

fn rule(name: &str, job: &Job) -> anyhow::Result<String> {
    let inputs: Vec<String> = job
        .inputs
        .iter()
        .map(|input| Ok(format!("        \"{}\",\n", plain(input)?)))
        .collect::<anyhow::Result<_>>()?;
    let inputs =
        if inputs.is_empty() { String::new() } else { format!("    input:\n{}", inputs.concat()) };

    let command = command(job)?;
    Ok(format!(
        r#"

rule {name}:
{inputs}    output:
        "{output}",
    log:
        "{log}",
    benchmark:
        "{benchmark}"
    params:
        folder=lambda wildcards, input, output: os.path.dirname({table}[0]) or ".",
    threads: {threads}
    retries: 2
    resources:
        mem_mb=lambda wildcards, attempt: memory({memory}, "{log}", attempt),
        runtime=lambda wildcards, attempt: {minutes} * attempt,
        disk_mb={disk},
    shell:
        "{{HOFFMAN}} {command} > {{log}} 2>&1"
"#,
        output = job.output,
        table = if job.is_making() { "output" } else { "input" },
        log = job.log(),
        benchmark = job.beside_log("tsv"),
        threads = job.threads,
        memory = job.megabytes(),
        minutes = job.minutes(),
        disk = job.disk.div_ceil(1 << 20),
    ))
}

/// The command of a rule. What the engine fills in is no word that a shell could misread: memory,
/// threads, and files, which lie elsewhere where it fetches them from a storage.
fn command(job: &Job) -> anyhow::Result<String> {
    let folder = job.folder();
    let receipts = format!("{folder}/receipts/");
    let words = job.arguments("MEMORY", "THREADS");
    let mut before = "";
    let mut filled = Vec::new();
    for word in &words {
        filled.push(match before {
            "--memory" => "{resources.mem_mb}M".to_owned(),
            "--threads" => "{threads}".to_owned(),
            "--dir" if word == folder => "{params.folder}".to_owned(),
            "--receipt" if word.starts_with(&receipts) => {
                word.replacen(folder, "{params.folder}", 1)
            }
            _ => match job.inputs.iter().position(|input| input == word) {
                Some(at) => format!("{{input[{at}]}}"),
                None if *word == job.output => "{output}".to_owned(),
                None => command_line(std::slice::from_ref(word))?,
            },
        });
        before = word;
    }
    Ok(filled.join(" "))
}
