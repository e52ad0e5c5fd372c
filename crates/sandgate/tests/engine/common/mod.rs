//! What all tests share: one engine per test process, sandboxes that go with their test, programs to run.

mod engine;
mod neighbour;
mod outcome;
mod program;
mod sandbox;
pub(crate) mod system;

pub(crate) use engine::{LONGEST, engine, home, lean_engine, prepared, run, runtime, scratch_home};
pub(crate) use neighbour::beside_neighbour;
pub(crate) use outcome::{Read, next_stdout, until_stderr};
pub(crate) use program::{Server, finish, pid, sandgate, wait_until};
pub(crate) use sandbox::{Place, finished, path, sandbox, sandbox_with};
