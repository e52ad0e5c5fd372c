//! The Python runtime that tests and benchmarks share, prepared by the product's own code.

use anyhow::Result;
use sandgate_engine::runtime::{Progress, PythonRuntime, prepare};

use crate::ground::Ground;
use crate::say::say;

/// Says each stage on a line of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines;

impl Progress for Lines {
    fn stage(&self, text: &str) {
        say(text);
    }
    fn step(&self, _done: u64, _total: u64, _text: &str) {}
    fn finish(&self, text: &str) {
        say(text);
    }
}

/// There at once after the first time.
pub(crate) fn shared(ground: &Ground) -> Result<PythonRuntime> {
    Ok(prepare(&ground.test_home().join("runtimes"), &Lines)?)
}
