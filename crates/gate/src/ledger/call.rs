//! The record of one request: what was asked, by whom, and what it came to. Everything done for the request
//! holds a part of it; when the last of them is gone, the request is over and its end is written.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sandgate_core::{Owner, Principal, Rank};
use sandgate_store::{LedgerRecord, RUNNING};
use serde_json::{Map, Value, json};

use super::entry::{CANCELLED, fresh_id};
use super::tokens::Tokens;
use super::{Ledger, exact_millis, now_ms};

/// Names of models are the client's words; longer ones are cut.
const LONGEST_NAME: usize = 256;
/// So many containers of one request are named.
const MOST_CONTAINERS: usize = 100;

/// Cheap to clone. The default one records nothing.
#[derive(Clone, Debug, Default)]
pub struct Call(Option<Arc<Inner>>);

/// What is known when a request comes.
#[derive(Clone, Debug)]
pub struct NewCall<'a> {
    pub who: &'a Principal,
    /// The `x-request-id`.
    pub request_id: &'a str,
    /// The API: `responses`, `chat`, `execute`, … or `passed`.
    pub api: &'static str,
    pub path: &'a str,
}

/// What the records of one request share.
#[derive(Debug)]
pub(super) struct Recorded {
    /// The id of the request's own record.
    pub(super) id: String,
    pub(super) request: String,
    pub(super) owner: Owner,
    pub(super) key: Option<String>,
}

#[derive(Debug)]
struct Inner {
    ledger: Ledger,
    recorded: Recorded,
    holds_code: bool,
    began: Instant,
    began_ms: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    body: Map<String, Value>,
    model: Option<String>,
    status: Option<&'static str>,
    containers: BTreeSet<String>,
    tokens: Tokens,
    turns: u64,
    executions: u64,
    denials: u64,
    outside: Outside,
    is_discarded: bool,
}

#[derive(Debug, Default)]
struct Outside {
    model: Duration,
    sandbox: Duration,
    approval: Duration,
}

impl Call {
    /// Nothing is written yet.
    #[must_use]
    pub fn new(ledger: &Ledger, new: &NewCall<'_>) -> Self {
        if ledger.writer().is_none() {
            return Self(None);
        }
        let key = match &new.who.rank {
            Rank::Key(id) => Some(id.clone()),
            Rank::Master => Some("master".to_owned()),
            Rank::Open | Rank::Nobody => None,
        };
        let recorded = Recorded {
            id: fresh_id(),
            request: new.request_id.to_owned(),
            owner: new.who.owner.clone(),
            key,
        };
        let mut body = Map::new();
        body.insert("api".to_owned(), new.api.into());
        body.insert("path".to_owned(), clipped(new.path).into());
        Self(Some(Arc::new(Inner {
            ledger: ledger.clone(),
            recorded,
            holds_code: ledger.holds_code(&new.who.limits),
            began: Instant::now(),
            began_ms: now_ms(),
            state: Mutex::new(State { body, ..State::default() }),
        })))
    }

    pub(super) fn recorded(&self) -> Option<&Recorded> {
        self.0.as_deref().map(|inner| &inner.recorded)
    }

    pub(super) fn ledger(&self) -> &Ledger {
        static NONE: Ledger = Ledger(None);
        self.0.as_deref().map_or(&NONE, |inner| &inner.ledger)
    }

    /// Whether what is done for it is recorded with code and output.
    pub(super) fn holds_code(&self) -> bool {
        self.0.as_deref().is_some_and(|inner| inner.holds_code)
    }

    fn with(&self, change: impl FnOnce(&mut State)) {
        if let Some(inner) = self.0.as_deref() {
            change(&mut inner.lock());
        }
    }

    /// That it is under way is written soon, and before that anything is done for it.
    pub fn begin(&self) {
        if let Some(inner) = self.0.as_deref()
            && let Some(writer) = inner.ledger.writer_of_begun()
        {
            let record = inner.record(RUNNING, None);
            writer.write(record);
        }
    }

    /// The model, as the client calls it.
    pub fn asks_for(&self, model: Option<&str>) {
        self.with(|state| state.model = model.map(|model| clipped(model).to_owned()));
    }

    pub fn note(&self, name: &str, value: impl Into<Value>) {
        self.with(|state| {
            state.body.insert(name.to_owned(), value.into());
        });
    }

    /// How it ended, unless that was said before.
    pub fn ended(&self, status: &'static str) {
        self.with(|state| {
            state.status.get_or_insert(status);
        });
    }

    /// It failed, and this is what the client was told.
    pub fn failed(&self, code: &str) {
        self.with(|state| {
            if state.status.is_none() {
                state.status = Some("failed");
                state.body.insert("error".to_owned(), clipped(code).into());
            }
        });
    }

    /// It goes to the upstream as it is, and is recorded where that is.
    pub fn passes(&self, bytes: usize) {
        let is_recorded = self.ledger().records_passed();
        self.with(|state| {
            state.is_discarded = !is_recorded;
            state.body.insert("passed".to_owned(), true.into());
            state.body.insert("request_bytes".to_owned(), bytes.into());
        });
    }

    /// It is nothing that is recorded, unless it is passed on.
    pub fn discard(&self) {
        self.with(|state| state.is_discarded = true);
    }

    /// The status that the client got.
    pub fn answered(&self, status: u16) {
        self.with(|state| {
            state.body.insert("http_status".to_owned(), status.into());
        });
    }

    pub(crate) fn used_container(&self, id: &str) {
        self.with(|state| {
            if state.containers.len() < MOST_CONTAINERS {
                state.containers.insert(id.to_owned());
            }
        });
    }

    pub(super) fn add_turn(&self, waited: Duration, tokens: &Tokens) {
        self.with(|state| {
            state.turns += 1;
            state.tokens.add(tokens);
            state.outside.model += waited;
        });
    }

    pub(super) fn add_execution(&self, took: Duration) {
        self.with(|state| {
            state.executions += 1;
            state.outside.sandbox += took;
        });
    }

    pub(super) fn add_approval(&self, waited: Duration, is_denied: bool) {
        self.with(|state| {
            state.denials += u64::from(is_denied);
            state.outside.approval += waited;
        });
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, status: &str, ended_ms: Option<u64>) -> LedgerRecord {
        let state = self.lock();
        LedgerRecord {
            id: self.recorded.id.clone(),
            request: self.recorded.request.clone(),
            parent: None,
            kind: "request",
            owner: self.recorded.owner.clone(),
            key: self.recorded.key.clone(),
            model: state.model.clone(),
            container: state.containers.first().cloned(),
            began_ms: self.began_ms,
            ended_ms,
            status: status.to_owned(),
            body: state.body.clone(),
        }
    }

    /// What only the end can tell.
    fn sum_up(&self) -> &'static str {
        let took = self.began.elapsed();
        let mut state = self.lock();
        let State { outside, tokens, turns, executions, denials, containers, status, body, .. } = &mut *state;
        let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
        put("duration_ms", exact_millis(took).into());
        if *turns > 0 {
            put("turns", (*turns).into());
            put("tokens", tokens.to_value());
            put("model_ms", exact_millis(outside.model).into());
        }
        if *executions > 0 {
            put("executions", (*executions).into());
            put("sandbox_ms", exact_millis(outside.sandbox).into());
        }
        if !outside.approval.is_zero() {
            put("approval_ms", exact_millis(outside.approval).into());
        }
        if *denials > 0 {
            put("denied", (*denials).into());
        }
        if !containers.is_empty() {
            put("containers", json!(containers));
        }
        status.unwrap_or(CANCELLED)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.lock().is_discarded {
            return;
        }
        let status = self.sum_up();
        let record = self.record(status, Some(now_ms()));
        if let Some(writer) = self.ledger.writer_of_begun() {
            writer.write(record);
        }
    }
}

pub(super) fn clipped(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_NAME)]
}
