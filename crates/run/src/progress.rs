//! What a run tells its caller while it works.

/// Receives events of a run, from any thread.
pub trait Progress: Sync {
    /// The whole run will solve this many slices.
    fn begin(&self, slices: u64) {
        let _ = slices;
    }
    /// Work on a table begins.
    fn table(&self, name: &str) {
        let _ = name;
    }
    /// A slice is solved.
    fn slice(&self) {}
    /// A table is finished and, if it was to be written, written.
    fn finished(&self, name: &str) {
        let _ = name;
    }
    /// A remark for the user.
    fn notice(&self, text: &str) {
        let _ = text;
    }
}

/// Tells nobody.
pub struct Silent;

impl Progress for Silent {}
