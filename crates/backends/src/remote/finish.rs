//! How a run ended, and in which words that is told.

use std::time::Duration;

use sandgate_core::{Ending, LimitKind, human_bytes};

use super::look::Looked;
use crate::ProviderError;

pub(super) const SIGKILL: i32 = 9;

#[derive(Debug)]
pub(super) struct Finished {
    pub(super) ending: Ending,
    pub(super) text: String,
    pub(super) count: u64,
    /// What the interpreter called it.
    pub(super) told: Option<u64>,
    pub(super) interpreter_lost: bool,
    pub(super) sandbox_lost: bool,
    /// On the way to the sandbox.
    pub(super) error: Option<ProviderError>,
    /// Its files, where somebody has looked at them already.
    pub(super) looked: Option<Looked>,
}

impl Finished {
    pub(super) fn new(ending: Ending, text: impl Into<String>) -> Self {
        Self {
            ending,
            text: text.into(),
            count: 0,
            told: None,
            interpreter_lost: false,
            sandbox_lost: false,
            error: None,
            looked: None,
        }
    }

    pub(super) fn failed(why: &str) -> Self {
        let mut failed =
            Self::new(Ending::Signalled { signal: SIGKILL }, format!("the sandbox failed: {why}"));
        failed.interpreter_lost = true;
        failed
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    Asked,
    Killed,
    TimedOut,
    Flooding,
}

impl Stopped {
    pub(super) fn told(self, timeout: Duration, output_limit: u64, how: &str) -> Finished {
        match self {
            Self::TimedOut => {
                let seconds = timeout.as_secs_f64();
                let text = format!("the time limit of {seconds} seconds was reached; the code {how}");
                Finished::new(Ending::TimedOut, text)
            }
            Self::Killed => Finished::new(Ending::Interrupted, "the code was ended on request"),
            Self::Flooding => {
                let limit = human_bytes(output_limit);
                let text =
                    format!("the code went on printing far past the output limit of {limit} and {how}");
                Finished::new(Ending::LimitHit { limit: LimitKind::Output }, text)
            }
            Self::Asked => Finished::new(Ending::Interrupted, format!("the code {how}")),
        }
    }
}
