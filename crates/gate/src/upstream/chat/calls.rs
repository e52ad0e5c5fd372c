//! Tool calls that come in fragments. Servers differ: whole calls or letters, with or without index and
//! id, the name once or with every piece. Items come out one after the other, as the Responses API has
//! them.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::UpstreamError;
use crate::upstream::compose::{Composer, new_call_id};
use crate::upstream::items::CallItem;

/// The longest id that may be sent back to us.
const ID_LIMIT: usize = 64;

#[derive(Default)]
pub(super) struct Calls {
    list: Vec<Call>,
    /// Ids that name a call of the request already, or of this answer.
    taken: HashSet<String>,
}

struct Call {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
    /// How much of the arguments has been written.
    written: usize,
    state: State,
}

enum State {
    Waiting,
    Open(CallItem),
    Closed,
}

impl Call {
    fn is_complete(&self) -> bool {
        // The cheap look first: this is asked for every piece that comes.
        self.arguments.trim_end().ends_with('}')
            && serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok()
    }

    fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }
}

struct Fragment<'a> {
    index: Option<u64>,
    id: Option<&'a str>,
    name: Option<&'a str>,
    arguments: Cow<'a, str>,
}

impl<'a> Fragment<'a> {
    fn new(tool_call: &'a Value) -> Self {
        let function = &tool_call["function"];
        let text = |value: &'a Value| value.as_str().filter(|text| !text.is_empty());
        let arguments = match &function["arguments"] {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            Value::Null => Cow::Borrowed(""),
            // Some servers send the arguments themselves in place of their text.
            other => Cow::Owned(other.to_string()),
        };
        Self {
            index: tool_call["index"].as_u64(),
            id: text(&tool_call["id"]),
            name: text(&function["name"]),
            arguments,
        }
    }
}

impl Calls {
    pub(super) fn new(taken: HashSet<String>) -> Self {
        Self { list: Vec::new(), taken }
    }

    pub(super) fn add(&mut self, composer: &mut Composer, tool_call: &Value) -> Result<(), UpstreamError> {
        let fragment = Fragment::new(tool_call);
        let at = self.which(&fragment);
        let call = &mut self.list[at];
        if call.is_closed() {
            if fragment.arguments.trim().is_empty() {
                return Ok(());
            }
            return Err(UpstreamError::Broken("a piece of a tool call came after its end".to_owned()));
        }
        if call.name.is_empty() {
            call.name.push_str(fragment.name.unwrap_or_default());
        }
        call.arguments.push_str(&fragment.arguments);
        self.write(composer);
        Ok(())
    }

    /// Closes what is complete, and says whether that was all.
    pub(super) fn settle(&mut self, composer: &mut Composer) -> bool {
        while let Some(at) = self.list.iter().position(|call| !call.is_closed()) {
            if self.list[at].name.is_empty() || !self.list[at].is_complete() {
                return false;
            }
            self.close(composer, at, "completed");
        }
        true
    }

    /// Closes all. `cut_off`: the model was stopped, so that what is not complete never will be.
    pub(super) fn finish(&mut self, composer: &mut Composer, cut_off: bool) -> Result<(), UpstreamError> {
        for at in 0..self.list.len() {
            let call = &mut self.list[at];
            if call.is_closed() {
                continue;
            }
            if call.name.is_empty() {
                return Err(UpstreamError::Broken("a tool call has no name".to_owned()));
            }
            let incomplete = cut_off && !call.is_complete();
            if !incomplete && call.arguments.trim().is_empty() {
                call.arguments.push_str("{}");
            }
            self.close(composer, at, if incomplete { "incomplete" } else { "completed" });
        }
        Ok(())
    }

    /// The call a fragment belongs to; a new one where it begins one.
    fn which(&mut self, fragment: &Fragment<'_>) -> usize {
        let is_its = |call: &Call| match (fragment.index, fragment.id) {
            (Some(index), _) => call.index == Some(index),
            (None, Some(id)) if fragment.name.is_some() => call.id.as_deref() == Some(id),
            // Neither index nor name: it goes on with the last one.
            (None, _) => true,
        };
        if let Some(at) = self.list.iter().rposition(is_its) {
            let call = &self.list[at];
            let same_id = fragment.id.is_some() && fragment.id == call.id.as_deref();
            let says_more = fragment.id.is_some() || !fragment.arguments.trim().is_empty();
            let another_name = fragment.index.is_none()
                && fragment.name.is_some_and(|name| !call.name.is_empty() && name != call.name);
            // A name again, after arguments that are complete: another call under the same index.
            let begins = another_name || (fragment.name.is_some() && says_more && call.is_complete());
            if same_id || !begins {
                return at;
            }
        }
        self.list.push(Call {
            index: fragment.index,
            id: fragment.id.map(ToOwned::to_owned),
            name: String::new(),
            arguments: String::new(),
            written: 0,
            state: State::Waiting,
        });
        self.list.len() - 1
    }

    /// Writes as much as can be: the first call that is not closed, and those after it once it is complete.
    fn write(&mut self, composer: &mut Composer) {
        while let Some(at) = self.list.iter().position(|call| !call.is_closed()) {
            if self.list[at].name.is_empty() {
                return;
            }
            self.write_call(composer, at);
            let is_last = at + 1 == self.list.len();
            if is_last || !self.list[at].is_complete() {
                return;
            }
            self.close(composer, at, "completed");
        }
    }

    fn write_call(&mut self, composer: &mut Composer, at: usize) {
        if matches!(self.list[at].state, State::Waiting) {
            let id = self.id_for(at);
            let call = &mut self.list[at];
            call.state = State::Open(CallItem::open(composer, id, call.name.clone()));
        }
        let call = &mut self.list[at];
        if let State::Open(item) = &mut call.state {
            item.arguments(composer, &call.arguments[call.written..]);
            call.written = call.arguments.len();
        }
    }

    fn close(&mut self, composer: &mut Composer, at: usize, status: &'static str) {
        self.write_call(composer, at);
        if let State::Open(item) = std::mem::replace(&mut self.list[at].state, State::Closed) {
            item.close(composer, status);
        }
    }

    /// The server's own id, unless it is one that would be mistaken for another call's.
    fn id_for(&mut self, at: usize) -> String {
        let own = self.list[at].id.clone().filter(|id| id.len() <= ID_LIMIT && !self.taken.contains(id));
        let id = own.unwrap_or_else(new_call_id);
        self.taken.insert(id.clone());
        id
    }
}
