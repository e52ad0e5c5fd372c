//! The items of one turn while they are being made, found again by whatever an event says of them.

use std::collections::HashMap;

use sandgate_core::human_bytes;
use serde_json::{Map, Value};

use crate::code_call::CodeCall;
use crate::message::MessageState;
use crate::turn::text;
use crate::upstream::UpstreamError;

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
    /// The type of the item.
    pub(crate) kind: String,
    pub(crate) slot: Slot,
    pub(crate) is_done: bool,
}

impl Entry {
    /// Whether the upstream knows it by this id. Some give none, and then nothing is the same as nothing.
    pub(crate) fn is_named(&self, id: &str) -> bool {
        !id.is_empty() && self.upstream_id == id
    }
}

#[derive(Debug, Default)]
pub(crate) struct TurnState {
    pub(crate) entries: Vec<Entry>,
    pub(crate) called_code: bool,
    pub(crate) waits_for_client: bool,
    bytes: usize,
}

/// Above the numbers that servers give.
const FIRST_UNANNOUNCED: u64 = 1 << 32;
/// Of one turn; far more than a model writes.
const MOST_ITEMS: usize = 2000;
const MOST_BYTES: usize = 256 << 20;

impl TurnState {
    /// Whether another item may begin.
    pub(crate) fn check_room(&self) -> Result<(), UpstreamError> {
        if self.entries.len() < MOST_ITEMS {
            return Ok(());
        }
        Err(UpstreamError::Broken(format!("it has more than {MOST_ITEMS} items")))
    }

    /// Counts what an event brings.
    pub(crate) fn take_bytes(&mut self, event: &Map<String, Value>) -> Result<(), UpstreamError> {
        self.bytes += event.get("delta").and_then(Value::as_str).map_or(0, str::len) + 64;
        if self.bytes <= MOST_BYTES {
            return Ok(());
        }
        let most = human_bytes(MOST_BYTES as u64);
        Err(UpstreamError::Broken(format!("it is longer than {most}")))
    }

    /// Items of the finished turn that no event spoke of, with their numbers. An item that was announced
    /// is known by its id or its call's; where a server changes those too, there are still no more items of
    /// a kind than it announced.
    pub(crate) fn unannounced(&self, output: Option<&Vec<Value>>) -> Vec<(u64, Value)> {
        let mut left: HashMap<&str, usize> = HashMap::new();
        for entry in &self.entries {
            *left.entry(entry.kind.as_str()).or_default() += 1;
        }
        let mut unknown = Vec::new();
        for (index, item) in output.into_iter().flatten().enumerate() {
            let left = left.entry(text(item, "type")).or_default();
            if *left > 0 {
                *left -= 1;
            } else if !self.entries.iter().any(|entry| entry.is_named(text(item, "id"))) {
                // A number that no announced item has.
                unknown.push((FIRST_UNANNOUNCED + index as u64, item.clone()));
            }
        }
        unknown
    }

    /// The item an event speaks of: by its number, or by its id where a server leaves the number out.
    pub(crate) fn find(&mut self, event: &Map<String, Value>, id: &str) -> Option<&mut Entry> {
        let index = event.get("output_index").and_then(Value::as_u64);
        self.entries.iter_mut().rev().find(|entry| match (index, entry.upstream_index) {
            (Some(asked), Some(own)) => asked == own,
            _ => entry.is_named(id),
        })
    }
}
