//! How a process ended, as a message.

use sandgate_core::ProcessEnd;

use super::super::messages::process::EndEvent;
use crate::lent::Ended;

pub(super) fn event(end: &ProcessEnd) -> EndEvent {
    let Ended { code, exited, status, error } = end.into();
    EndEvent { exit_code: code, exited, status, error }
}

#[cfg(test)]
#[path = "end_tests.rs"]
mod tests;
