//! One file for each thing the command line can do, and how each of them starts the engine.

pub(crate) mod approvals;
mod backends;
pub(crate) mod config;
pub(crate) mod doctor;
mod engine;
pub(crate) mod env;
pub(crate) mod key;
pub(crate) mod ledger;
pub(crate) mod repl;
pub(crate) mod run;
pub(crate) mod runtime;
pub(crate) mod serve;

pub(crate) use backends::{fleet, start_backends};
pub(crate) use engine::{Purpose, helper, limits_by, start_engine};
