//! Who asked for what, and what was done for it: linked records under one request id, written when work
//! begins and again when it ends. Code and its output are in them only where that is switched on.

use std::time::{SystemTime, UNIX_EPOCH};

use sandgate_core::{Owner, random_hex};
use sandgate_store::{LedgerRecord, RUNNING, Store};
use serde_json::{Map, Value};
use tokio::runtime::Handle;

use crate::error::Result;

#[derive(Clone, Debug)]
pub struct Ledger {
    store: Store,
    /// Whether records hold code and output.
    pub(crate) with_code: bool,
}

impl Ledger {
    #[must_use]
    pub fn new(store: Store, with_code: bool) -> Self {
        Self { store, with_code }
    }

    /// Begins a record. It is written before the work it tells of: if it cannot be, nothing is done.
    pub(crate) async fn begin(&self, kind: &str, request: &str, owner: &Owner, body: Value) -> Result<Entry> {
        let record = LedgerRecord {
            id: format!("led_{}", random_hex(16)),
            request: request.to_owned(),
            kind: kind.to_owned(),
            owner: owner.clone(),
            began_ms: now_ms(),
            ended_ms: None,
            status: RUNNING.to_owned(),
            body,
        };
        self.store.put_ledger(&record).await?;
        Ok(Entry { record: Some(record), store: self.store.clone() })
    }
}

/// Work under way. Dropped without an end, because whoever waited for it has left, it is recorded as
/// cancelled.
#[derive(Debug)]
pub(crate) struct Entry {
    record: Option<LedgerRecord>,
    store: Store,
}

impl Entry {
    /// Adds what became known on the way.
    pub(crate) fn note(&mut self, name: &str, value: impl Into<Value>) {
        if let Some(LedgerRecord { body: Value::Object(body), .. }) = &mut self.record {
            body.insert(name.to_owned(), value.into());
        }
    }

    /// The end, with what is known by then.
    pub(crate) async fn end(mut self, status: &str, more: Map<String, Value>) {
        if let Some(record) = self.take(status, more)
            && let Err(error) = self.store.put_ledger(&record).await
        {
            tracing::error!(id = record.id, %error, "the end of a record could not be written to the ledger");
        }
    }

    fn take(&mut self, status: &str, more: Map<String, Value>) -> Option<LedgerRecord> {
        let mut record = self.record.take()?;
        record.ended_ms = Some(now_ms());
        record.status = status.to_owned();
        if let Value::Object(body) = &mut record.body {
            body.extend(more);
        }
        Some(record)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let Some(record) = self.take("cancelled", Map::new()) else { return };
        // Without a runtime the server is ending; the next start says that it was cut short.
        let Ok(runtime) = Handle::try_current() else { return };
        let store = self.store.clone();
        runtime.spawn(async move {
            if let Err(error) = store.put_ledger(&record).await {
                tracing::error!(id = record.id, %error, "the end of a record could not be written to the ledger");
            }
        });
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
