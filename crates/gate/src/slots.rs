//! The items of one turn while they are being made, found again by whatever an event says of them.

use serde_json::{Map, Value};

use crate::code_call::CodeCall;
use crate::message::MessageState;

/// An item of the turn.
#[derive(Debug)]
pub(crate) enum Slot {
    /// Shown to the client as it comes.
    Shown {
        index: usize,
        id: String,
        item: Value,
        message: MessageState,
    },
    Code(Box<CodeCall>),
    /// A code call past a limit.
    Ignored,
    /// A call whose name is not known yet: it may be ours, and then the client must not see it.
    Unnamed,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) upstream_index: Option<u64>,
    pub(crate) upstream_id: String,
    pub(crate) slot: Slot,
    pub(crate) is_done: bool,
}

#[derive(Debug, Default)]
pub(crate) struct TurnState {
    pub(crate) entries: Vec<Entry>,
    pub(crate) called_code: bool,
    pub(crate) waits_for_client: bool,
}

impl TurnState {
    /// The item an event speaks of: by its number, or by its id where a server leaves the number out.
    pub(crate) fn find(&mut self, event: &Map<String, Value>, id: &str) -> Option<&mut Entry> {
        let index = event.get("output_index").and_then(Value::as_u64);
        self.entries.iter_mut().rev().find(|entry| match (index, entry.upstream_index) {
            (Some(asked), Some(own)) => asked == own,
            _ => !id.is_empty() && entry.upstream_id == id,
        })
    }
}
