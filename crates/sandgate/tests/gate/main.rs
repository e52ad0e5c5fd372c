//! The gate as clients meet it: the real program with real sandboxes, in front of a scripted model that
//! refuses what breaks the official schema.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

mod approval_hook;
mod approvals;
mod backends;
mod background;
mod bad_code;
mod bad_input;
mod bad_upstream;
mod chat_door;
mod chat_errors;
mod chat_upstream;
mod config;
mod crash;
mod expiry;
mod files;
mod hang_up;
mod headers;
mod key_command;
mod key_limits;
mod keys;
mod ledger;
mod limits;
mod litellm;
mod metrics;
mod negative_control;
mod network;
mod owners;
mod passed_on;
mod paths;
mod rules;
mod sessions;
mod stopping;
mod telemetry;
mod thoughts;
mod traces;
mod turns;
