//! Sandboxes under a network policy: what it allows works with the programs that people use, and attempts to get past
//! it are stopped, each for its own reason. See `attempts/README.md`.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod allowed;
mod attempt;
mod attempts;
mod changes;
mod life;
mod names;
mod operator;
mod packages;
mod reality;
mod recorded;
mod secrets;
mod world;
