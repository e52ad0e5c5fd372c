//! How the preparation of a runtime tells whoever watches what it is doing; the command line draws it.

/// Receives the news of a preparation. Calls come from the preparing thread and from short-lived helper threads
/// of it, in a sensible order.
pub trait Progress: Send + Sync {
    /// A new stage begins; it may or may not report steps.
    fn stage(&self, text: &str);
    /// `done` of `total` parts of the current stage are done; `text` names the part at hand.
    fn step(&self, done: u64, total: u64, text: &str);
    /// Everything is done; not called on failure, where the error says what happened.
    fn finish(&self, text: &str);
}

/// Tells nobody anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _text: &str) {}
    fn step(&self, _done: u64, _total: u64, _text: &str) {}
    fn finish(&self, _text: &str) {}
}
