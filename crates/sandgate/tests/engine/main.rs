//! End to end: the engine, the server and the command line, against real sandboxes.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

mod bad_input;
mod cli;
mod code_interpreter;
mod contexts;
mod copies;
mod files;
mod http;
mod inside;
mod interrupts;
mod kernel;
mod languages;
mod life;
mod limits;
mod processes;
mod sockets;
mod tools;
