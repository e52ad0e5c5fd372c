//! Doubles for the tests of crates above this one; no part of the program.

mod backend;
mod files;
mod local;
mod ports;

pub use backend::ScriptedBackend;
pub use files::MemoryFiles;
pub use local::{LocalBackend, LocalSandbox};
pub use ports::ScriptedPorts;
