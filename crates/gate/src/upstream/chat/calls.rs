//! Tool calls as the items of a response: one after the other, as the Responses API has them, however
//! their fragments come.

use std::collections::HashSet;

use serde_json::Value;

use super::UpstreamError;
use super::fragments::GatheredCalls;
use crate::upstream::compose::{Composer, new_call_id};
use crate::upstream::items::CallItem;

/// The longest id that may be sent back to us.
pub(crate) const ID_LIMIT: usize = 64;

#[derive(Default)]
pub(super) struct Calls {
    gathered: GatheredCalls,
    /// Of each call, how far it is written.
    states: Vec<State>,
    /// Ids that name a call of the request already, or of this answer.
    taken: HashSet<String>,
    /// Names of tools that take a text: what comes back as a function's call is a call of theirs.
    custom: HashSet<String>,
}

enum State {
    Waiting,
    /// With how much of the arguments has been written.
    Open(CallItem, usize),
    Closed,
}

impl State {
    fn is_closed(&self) -> bool {
        matches!(self, Self::Closed)
    }
}

impl Calls {
    pub(super) fn new(taken: HashSet<String>, custom: HashSet<String>) -> Self {
        Self { taken, custom, ..Self::default() }
    }

    pub(super) fn add(&mut self, composer: &mut Composer, tool_call: &Value) -> Result<(), UpstreamError> {
        let added = self.gathered.add(tool_call);
        if added.call == self.states.len() {
            self.states.push(State::Waiting);
        }
        if self.states[added.call].is_closed() {
            if added.text.trim().is_empty() {
                return Ok(());
            }
            return Err(UpstreamError::Broken("a piece of a tool call came after its end".to_owned()));
        }
        self.write(composer);
        Ok(())
    }

    /// Closes what is complete, and says whether that was all.
    pub(super) fn settle(&mut self, composer: &mut Composer) -> bool {
        while let Some(at) = self.first_open() {
            let call = &self.gathered.list[at];
            if call.name.is_empty() || !call.is_complete() {
                return false;
            }
            self.close(composer, at, "completed");
        }
        true
    }

    /// Closes all. `cut_off`: the model was stopped, so that what is not complete never will be.
    pub(super) fn finish(&mut self, composer: &mut Composer, cut_off: bool) -> Result<(), UpstreamError> {
        while let Some(at) = self.first_open() {
            let call = &mut self.gathered.list[at];
            if call.name.is_empty() {
                return Err(UpstreamError::Broken("a tool call has no name".to_owned()));
            }
            let incomplete = cut_off && !call.is_complete();
            if !incomplete && call.text.trim().is_empty() {
                call.text.push_str("{}");
            }
            self.close(composer, at, if incomplete { "incomplete" } else { "completed" });
        }
        Ok(())
    }

    fn first_open(&self) -> Option<usize> {
        self.states.iter().position(|state| !state.is_closed())
    }

    /// Writes as much as can be: the first call that is not closed, and those after it once it is complete.
    fn write(&mut self, composer: &mut Composer) {
        while let Some(at) = self.first_open() {
            if self.gathered.list[at].name.is_empty() {
                return;
            }
            self.write_call(composer, at);
            let is_last = at + 1 == self.states.len();
            if is_last || !self.gathered.list[at].is_complete() {
                return;
            }
            self.close(composer, at, "completed");
        }
    }

    fn write_call(&mut self, composer: &mut Composer, at: usize) {
        if matches!(self.states[at], State::Waiting) {
            let id = self.id_for(at);
            let name = self.gathered.list[at].name.clone();
            let item = if self.custom.contains(&name) {
                CallItem::open_custom(composer, id, name)
            } else {
                CallItem::open(composer, id, name)
            };
            self.states[at] = State::Open(item, 0);
        }
        let call = &self.gathered.list[at];
        if let State::Open(item, written) = &mut self.states[at] {
            item.arguments(composer, &call.text[*written..]);
            *written = call.text.len();
        }
    }

    fn close(&mut self, composer: &mut Composer, at: usize, status: &'static str) {
        self.write_call(composer, at);
        if let State::Open(item, _) = std::mem::replace(&mut self.states[at], State::Closed) {
            item.close(composer, status);
        }
    }

    /// The server's own id, unless it is one that would be mistaken for another call's.
    fn id_for(&mut self, at: usize) -> String {
        unused_id(self.gathered.list[at].id.as_deref(), &mut self.taken)
    }
}

/// The id of a call: the server's own, unless there is none or it names another call already.
pub(crate) fn unused_id(own: Option<&str>, taken: &mut HashSet<String>) -> String {
    let own = own.filter(|id| id.len() <= ID_LIMIT && !taken.contains(*id));
    let id = own.map_or_else(new_call_id, ToOwned::to_owned);
    taken.insert(id.clone());
    id
}
