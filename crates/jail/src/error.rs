//! A step of building or entering a sandbox that failed: which, on what, and the kernel's reason.

use std::io;

pub type Result<T, E = StepError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
#[error("{step} failed{}: {source}", on.as_ref().map(|on| format!(" on {on}")).unwrap_or_default())]
pub struct StepError {
    pub step: &'static str,
    pub on: Option<String>,
    pub source: io::Error,
}

impl StepError {
    /// The step's error from `errno`, to be made right after the failing call.
    #[must_use]
    pub fn last(step: &'static str) -> Self {
        Self { step, on: None, source: io::Error::last_os_error() }
    }

    #[must_use]
    pub fn new(step: &'static str, source: io::Error) -> Self {
        Self { step, on: None, source }
    }

    #[must_use]
    pub fn on(mut self, what: impl Into<String>) -> Self {
        self.on = Some(what.into());
        self
    }

    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        self.source.raw_os_error()
    }
}
