//! What the scripted model remembers: scripts, requests, violations, and the ids it gave out, each per key.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::script::Turn;

/// A request the model received.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub query: Option<String>,
    pub headers: BTreeMap<String, String>,
    /// The body as JSON, or null if it is none.
    pub body: Value,
    /// The body byte for byte, as far as it is UTF-8.
    pub text: String,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// The client closed the connection before the turn was over.
    pub hung_up: bool,
}

/// Something a strict upstream would have refused.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Violation {
    pub key: String,
    pub path: String,
    pub message: String,
}

#[derive(Debug, Default)]
struct PerKey {
    turns: VecDeque<Turn>,
    requests: Vec<Request>,
    given: HashSet<String>,
}

#[derive(Debug, Default)]
struct Memory {
    keys: HashMap<String, PerKey>,
    violations: Vec<Violation>,
}

/// The shared memory of one scripted model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record(Arc<Mutex<Memory>>);

impl Record {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn script(&self, key: &str, turns: Vec<Turn>) {
        self.memory().keys.entry(key.to_owned()).or_default().turns = turns.into();
    }

    /// The next turn for this path, used up. `open` paths take turns that name no path.
    pub(crate) fn next_turn(&self, key: &str, path: &str, open: bool) -> Option<Turn> {
        let mut memory = self.memory();
        let turns = &mut memory.keys.get_mut(key)?.turns;
        let fits = |turn: &Turn| turn.path.as_deref().map_or(open, |wanted| wanted == path);
        let place = turns.iter().position(fits)?;
        turns.remove(place)
    }

    pub(crate) fn turns_left(&self, key: &str) -> usize {
        self.memory().keys.get(key).map_or(0, |per_key| per_key.turns.len())
    }

    /// Keeps the request; the watch that is returned tells how it ended.
    pub(crate) fn received(&self, key: &str, request: Request) -> Watch {
        let mut memory = self.memory();
        let requests = &mut memory.keys.entry(key.to_owned()).or_default().requests;
        requests.push(request);
        Watch { record: self.clone(), key: key.to_owned(), number: requests.len() - 1, over: false }
    }

    pub(crate) fn requests(&self, key: &str) -> Vec<Request> {
        self.memory().keys.get(key).map(|per_key| per_key.requests.clone()).unwrap_or_default()
    }

    pub(crate) fn violated(&self, key: &str, path: &str, message: &str) {
        let violation = Violation { key: key.to_owned(), path: path.to_owned(), message: message.to_owned() };
        self.memory().violations.push(violation);
    }

    /// All violations, or those of one key.
    pub(crate) fn violations(&self, key: Option<&str>) -> Vec<Violation> {
        let memory = self.memory();
        let wanted = |violation: &&Violation| key.is_none_or(|key| violation.key == key);
        memory.violations.iter().filter(wanted).cloned().collect()
    }

    /// Keeps each id and call id of an answer.
    pub(crate) fn gave(&self, key: &str, ids: impl IntoIterator<Item = String>) {
        self.memory().keys.entry(key.to_owned()).or_default().given.extend(ids);
    }

    pub(crate) fn given(&self, key: &str) -> HashSet<String> {
        self.memory().keys.get(key).map(|per_key| per_key.given.clone()).unwrap_or_default()
    }
}

/// Notes that the client hung up, unless it is told before it is dropped that the turn is over.
#[derive(Debug)]
pub(crate) struct Watch {
    record: Record,
    key: String,
    number: usize,
    over: bool,
}

impl Watch {
    pub(crate) fn over(&mut self) {
        self.over = true;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let mut memory = self.record.memory();
        let request = memory.keys.get_mut(&self.key).and_then(|key| key.requests.get_mut(self.number));
        if let Some(request) = request {
            request.hung_up = true;
        }
    }
}
