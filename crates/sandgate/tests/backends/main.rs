//! One suite for every backend: the embedded engine, and each provider with something real at the other end. A
//! second server of ours is E2B and OpenSandbox; for Daytona there is a stand-in with real Python.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

mod cases;
mod exceptions;
mod suite;
