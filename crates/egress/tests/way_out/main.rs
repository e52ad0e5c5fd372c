//! The egress with real servers around it: what gets out, and what does not.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod bounds;
mod ends;
mod guessed;
mod names_inside;
mod own;
mod packages;
mod proxy;
mod registries;
mod secrets;
mod speed;
mod support;
mod tls;
mod upgrades;
