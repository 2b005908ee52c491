//! Progress bars with the time left, on terminals only.

use std::time::Duration;

use hoffman_run::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::note;

/// A bar on standard error; invisible where that is no terminal. It disappears when dropped.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar that counts what `unit` names.
    pub(crate) fn new(unit: &str) -> Bar {
        let bar = ProgressBar::new(0);
        let template = format!("{{wide_msg}} [{{bar:30}}] {{pos}}/{{len}} {unit}, {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style.progress_chars("=> "));
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Bar(bar)
    }

    /// Names what is being worked on.
    pub(crate) fn name(&self, name: String) {
        self.0.set_message(name);
    }

    /// Hides the bar while `f` writes to the terminal.
    pub(crate) fn suspend<R>(&self, f: impl FnOnce() -> R) -> R {
        self.0.suspend(f)
    }

    /// That many of so many are done.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.0.set_length(total);
        self.0.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn begin(&self, slices: u64) {
        self.set(0, slices);
        self.0.reset_eta();
    }

    fn table(&self, name: &str) {
        self.name(name.to_owned());
    }

    fn slice(&self) {
        self.0.inc(1);
    }

    fn notice(&self, text: &str) {
        self.0.suspend(|| note(text));
    }
}
