//! What all tests of the gate share: one server in front of one scripted model, and a client.

mod client;
mod completion;
mod far;
mod hook;
mod keyed;
mod look;
#[path = "../../engine/common/program.rs"]
#[expect(dead_code, reason = "the engine's tests need more of it")]
mod program;
#[path = "../../engine/common/system.rs"]
#[expect(dead_code, reason = "the engine's tests need more of it")]
pub(crate) mod system;
mod world;

use std::time::Duration;

pub(crate) use client::{Answer, Client, code_tool, request};
pub(crate) use completion::{accumulated, chat_request};
pub(crate) use far::{ACCOUNT, account, left_at};
pub(crate) use hook::{Hook, Reply};
pub(crate) use keyed::{Keyed, MASTER, UPSTREAM};
pub(crate) use look::{OUTPUTS, container_of, failure_of, items, kinds, logs, no_internal_call, told, turn};
pub(crate) use program::{finish, sandgate, wait_until};
pub(crate) use world::{World, another_model, world};

/// Longer than anything takes, even on a busy machine.
pub(crate) const LONGEST: Duration = Duration::from_secs(120);
