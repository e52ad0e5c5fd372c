//! The gate as clients meet it: the real program with real sandboxes, in front of a scripted model that
//! refuses what breaks the official schema.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

mod rules;
mod traces;
