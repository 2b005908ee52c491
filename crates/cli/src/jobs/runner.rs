//! Runs jobs on this machine, each in a process of its own, within so many threads and so much
//! memory. What a process leaves are files, so a run that was ended goes on where it was.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use hoffman::Cancel;

use super::{Job, PROGRAM, command_line};
use crate::RunEnd;
use crate::commands::build::MEMORY_LINE;
use crate::output::{note, print};

/// How often a job is begun, if something else than the job itself ended it.
const TRIES: u32 = 4;

/// How long a job waits before it is tried again.
const PAUSE: Duration = Duration::from_millis(500);

/// How often is looked whether a process has ended.
const LOOK: Duration = Duration::from_millis(5);

/// What there is for all processes at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    pub(crate) threads: usize,
    /// Bytes.
    pub(crate) memory: u64,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JobState {
    /// Not to be begun before that, and so often tried.
    Waiting(Instant, u32),
    Running(u32),
    Done,
    /// It failed.
    Failed,
    /// It needs a job that failed.
    Blocked,
}

/// A process.
struct Running {
    job: usize,
    child: Child,
}

impl Running {
    /// Asks it to stop at a safe point.
    fn ask_to_stop(&mut self) {
        #[cfg(unix)]
        if let Some(id) =
            i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            // It may have ended.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
        #[cfg(not(unix))]
        let _ = self.child.kill();
    }
}

/// All jobs, and what runs of them.
struct Runner<'a> {
    program: PathBuf,
    jobs: &'a [Job],
    /// What each takes: more than was planned if it has said so.
    memory: Vec<u64>,
    states: Vec<JobState>,
    running: Vec<Running>,
    free: Capacity,
    cancel: Cancel,
}

/// Runs jobs, each after those that it needs, and prints what they print. Those that do not need a
/// job that failed are run all the same.
pub(crate) fn run(jobs: &[Job], room: Capacity, cancel: Cancel) -> anyhow::Result<RunEnd> {
    if let Some(job) = jobs.iter().find(|job| job.memory > room.memory) {
        let [needed, there] = [job.megabytes(), room.memory >> 20];
        anyhow::bail!("{} needs {needed} MB of memory, and {there} MB are allowed", job.output);
    }
    expect_room(jobs, room)?;
    let mut runner = Runner {
        program: std::env::current_exe().context("cannot find this program")?,
        jobs,
        memory: jobs.iter().map(|job| job.memory).collect(),
        states: vec![JobState::Waiting(Instant::now(), 0); jobs.len()],
        running: Vec::new(),
        free: room,
        cancel,
    };
    let worked = runner.work_off();
    runner.end_all();
    worked?;
    runner.sum_up()
}

/// Refuses jobs that have to run at the same time and do not fit together.
fn expect_room(jobs: &[Job], room: Capacity) -> anyhow::Result<()> {
    for ending in jobs.iter().filter_map(Job::together) {
        let all = || jobs.iter().filter(|job| job.together() == Some(ending));
        let threads: usize = all().map(|job| job.threads).sum();
        let memory: u64 = all().map(|job| job.memory).sum();
        if threads > room.threads || memory > room.memory {
            let processes = all().count();
            let [needed, there] = [memory >> 20, room.memory >> 20];
            anyhow::bail!(
                "the {processes} processes that solve {ending} together need {threads} threads (-j) and {needed} MB \
                 at the same time, and {} threads and {there} MB are allowed",
                room.threads
            );
        }
    }
    Ok(())
}

impl Runner<'_> {
    fn work_off(&mut self) -> anyhow::Result<()> {
        while !self.cancel.is_cancelled() {
            self.begin_what_fits()?;
            let is_waiting = |state: &JobState| matches!(state, JobState::Waiting(..));
            if self.running.is_empty() && !self.states.iter().any(is_waiting) {
                return Ok(());
            }
            std::thread::sleep(LOOK);
            self.collect()?;
        }
        Ok(())
    }

    /// Begins what can be begun, in the order of the graph.
    fn begin_what_fits(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        for at in 0..self.jobs.len() {
            let JobState::Waiting(since, tries) = self.states[at] else { continue };
            let needs = |state: fn(JobState) -> bool| {
                self.jobs[at].needs.iter().any(|&needed| state(self.states[needed]))
            };
            if needs(|state| matches!(state, JobState::Failed | JobState::Blocked)) {
                self.states[at] = JobState::Blocked;
                continue;
            }
            let is_ready = since <= now && !needs(|state| state != JobState::Done);
            if is_ready && self.fits(at) {
                let child = self.begin(at)?;
                self.free.threads -= self.threads(at);
                self.free.memory -= self.memory[at];
                self.states[at] = JobState::Running(tries + 1);
                self.running.push(Running { job: at, child });
            }
        }
        Ok(())
    }

    /// Whether there is room for a job, and for those that have to run at the same time and do not
    /// run.
    fn fits(&self, at: usize) -> bool {
        let (mut threads, mut memory) = (self.threads(at), self.memory[at]);
        for other in self.together(at).filter(|&other| other != at) {
            if matches!(self.states[other], JobState::Waiting(..)) {
                threads += self.threads(other);
                memory += self.memory[other];
            }
        }
        threads <= self.free.threads && memory <= self.free.memory
    }

    /// The numbers of the jobs that have to run at the same time as one, itself among them; none if
    /// it runs by itself.
    fn together(&self, at: usize) -> impl Iterator<Item = usize> {
        let ending = self.jobs[at].together();
        let is_alike = move |job: &Job| ending.is_some() && job.together() == ending;
        (0..self.jobs.len()).filter(move |&other| is_alike(&self.jobs[other]))
    }

    fn threads(&self, at: usize) -> usize {
        self.jobs[at].threads
    }

    /// The arguments of a job.
    fn arguments(&self, at: usize) -> Vec<String> {
        let memory = format!("{}M", self.memory[at] >> 20);
        self.jobs[at].arguments(&memory, &self.threads(at).to_string())
    }

    fn begin(&self, at: usize) -> anyhow::Result<Child> {
        let job = &self.jobs[at];
        let log = job.log();
        let said = || format!("cannot write {log}");
        fs::create_dir_all(job.log_folder()).with_context(said)?;
        let mut command = Command::new(&self.program);
        command.args(self.arguments(at)).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(File::create(&log).with_context(said)?);
        // A Ctrl-C is for this process, which hands it on.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().with_context(|| format!("cannot run {}", self.program.display()))
    }

    /// Takes down which processes have ended.
    fn collect(&mut self) -> anyhow::Result<()> {
        let mut at = 0;
        while at < self.running.len() {
            let Some(status) = self.running[at].child.try_wait()? else {
                at += 1;
                continue;
            };
            let Running { job, mut child } = self.running.swap_remove(at);
            self.free.threads += self.threads(job);
            self.free.memory += self.memory[job];
            let mut said = String::new();
            if let Some(mut out) = child.stdout.take() {
                out.read_to_string(&mut said)?;
            }
            print(&said)?;
            self.states[job] = self.judge(job, status);
            if self.states[job] == JobState::Failed {
                self.end_partners(job);
            }
        }
        Ok(())
    }

    /// What becomes of a job whose process has ended.
    fn judge(&mut self, at: usize, status: ExitStatus) -> JobState {
        let JobState::Running(tries) = self.states[at] else { return JobState::Failed };
        let later = JobState::Waiting(Instant::now() + PAUSE, tries);
        if status.code() != Some(0)
            && self.together(at).any(|other| self.states[other] == JobState::Failed)
        {
            // Nobody would tell it anything.
            return JobState::Failed;
        }
        match status.code() {
            Some(0) => return JobState::Done,
            // It was killed, or something that it needs was locked.
            None | Some(3) if tries < TRIES => return later,
            Some(4) if tries < TRIES => {
                let needed = self.needed_memory(at);
                let most =
                    self.free.memory + self.running.iter().map(|r| self.memory[r.job]).sum::<u64>();
                if let Some(needed) =
                    needed.filter(|&needed| needed > self.memory[at] && needed <= most)
                {
                    self.memory[at] = needed;
                    return later;
                }
            }
            _ => {}
        }
        let how =
            status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"));
        note(&format!("{}: {how}{}", self.name(at), self.last_words(at)));
        JobState::Failed
    }

    /// The node, the command and the log, as errors name them.
    fn name(&self, at: usize) -> String {
        let job = &self.jobs[at];
        let arguments = self.arguments(at);
        let arguments = command_line(&arguments).unwrap_or_else(|_| arguments.join(" "));
        format!("{} was not made by '{PROGRAM} {arguments}', see {}", job.output, job.log())
    }

    fn log(&self, at: usize) -> String {
        // It may be gone, or be no text.
        let bytes = hoffman::process::read_whole(self.jobs[at].log()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The memory that a process said it needs.
    fn needed_memory(&self, at: usize) -> Option<u64> {
        let log = self.log(at);
        log.lines().find_map(|line| line.strip_prefix(MEMORY_LINE))?.trim().parse().ok()
    }

    /// The last thing that a process said in the name of the program.
    fn last_words(&self, at: usize) -> String {
        let log = self.log(at);
        let said = log.lines().filter_map(|line| line.strip_prefix("hoffman: ")).next_back();
        said.map_or_else(String::new, |said| format!(": {said}"))
    }

    /// Asks those to stop that would wait for a job that has failed for good.
    fn end_partners(&mut self, failed: usize) {
        let partners: Vec<usize> = self.together(failed).collect();
        for running in self.running.iter_mut().filter(|running| partners.contains(&running.job)) {
            running.ask_to_stop();
        }
        for partner in partners {
            if matches!(self.states[partner], JobState::Waiting(..)) {
                self.states[partner] = JobState::Failed;
            }
        }
    }

    /// Asks what still runs to stop at a safe point, and waits for it.
    fn end_all(&mut self) {
        self.running.iter_mut().for_each(Running::ask_to_stop);
        for running in &mut self.running {
            let _ = running.child.wait();
        }
    }

    fn sum_up(&self) -> anyhow::Result<RunEnd> {
        if self.cancel.is_cancelled() {
            anyhow::bail!(
                "interrupted; the same command goes on with the tables that are finished"
            );
        }
        let count = |state: JobState| self.states.iter().filter(|&&other| other == state).count();
        let (failed, blocked) = (count(JobState::Failed), count(JobState::Blocked));
        if failed > 0 {
            note(&format!("{failed} jobs failed, and {blocked} that need them were not begun"));
        }
        Ok(RunEnd::of(failed == 0))
    }
}
