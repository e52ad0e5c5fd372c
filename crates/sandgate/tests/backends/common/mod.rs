//! What all tests share: the backends, and a sandbox that goes with its test.

mod daytona;
#[path = "../../engine/common/engine.rs"]
#[expect(dead_code, reason = "the engine's tests need more of it")]
mod engine;
#[path = "../../engine/common/outcome.rs"]
#[expect(dead_code, reason = "the engine's tests need more of it")]
mod outcome;
mod place;
#[path = "../../engine/common/program.rs"]
#[expect(dead_code, reason = "the engine's tests need more of it")]
mod program;
mod server;
mod target;

pub(crate) use engine::{LONGEST, engine, home, run, runtime, scratch_home};
pub(crate) use outcome::{Read, next_stdout};
pub(crate) use place::{finished, path};
pub(crate) use target::{Kind, Target, target};
