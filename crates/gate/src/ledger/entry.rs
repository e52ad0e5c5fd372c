//! One record from its beginning to its end. Dropped without an end, because whoever waited for the work has
//! left, it says that the work was cancelled.

use std::time::Instant;

use sandgate_core::random_hex;
use sandgate_store::{LedgerRecord, RUNNING};
use serde_json::{Map, Value};

use super::{Call, Ledger, exact_millis, now_ms};

/// The status of work that nobody waits for any more.
pub(super) const CANCELLED: &str = "cancelled";

#[derive(Debug)]
pub(super) struct Entry {
    ledger: Ledger,
    /// None once it is ended, and where nothing is written.
    record: Option<Box<LedgerRecord>>,
    began: Instant,
}

impl Entry {
    /// Nothing is written yet.
    pub(super) fn new(call: &Call, kind: &'static str) -> Self {
        let record = call.recorded().map(|recorded| {
            Box::new(LedgerRecord {
                id: fresh_id(),
                request: recorded.request.clone(),
                parent: Some(recorded.id.clone()),
                kind,
                owner: recorded.owner.clone(),
                key: recorded.key.clone(),
                model: None,
                container: None,
                began_ms: now_ms(),
                ended_ms: None,
                status: RUNNING.to_owned(),
                body: Map::new(),
            })
        });
        Self { ledger: call.ledger().clone(), record, began: Instant::now() }
    }

    pub(super) fn is_recorded(&self) -> bool {
        self.record.is_some()
    }

    pub(super) fn began(&self) -> Instant {
        self.began
    }

    pub(super) fn set_model(&mut self, model: Option<String>) {
        if let Some(record) = &mut self.record {
            record.model = model;
        }
    }

    pub(super) fn set_container(&mut self, container: &str) {
        if let Some(record) = &mut self.record {
            record.container = Some(container.to_owned());
        }
    }

    pub(super) fn note(&mut self, name: &str, value: impl Into<Value>) {
        if let Some(record) = &mut self.record {
            record.body.insert(name.to_owned(), value.into());
        }
    }

    /// That it began is written soon.
    pub(super) fn begin(&self) {
        if let (Some(record), Some(writer)) = (&self.record, self.ledger.writer_of_begun()) {
            writer.write((**record).clone());
        }
    }

    /// That it began is on disk before this returns.
    pub(super) async fn begin_now(&self) -> Result<(), sandgate_store::StoreError> {
        match (&self.record, self.ledger.writer_of_begun()) {
            (Some(record), Some(writer)) => writer.write_now((**record).clone()).await,
            _ => Ok(()),
        }
    }

    /// How it ended is written soon. What ended stays ended.
    pub(super) fn end(&mut self, status: &str) {
        let Some(mut record) = self.record.take() else { return };
        record.ended_ms = Some(now_ms());
        status.clone_into(&mut record.status);
        let took = exact_millis(self.began.elapsed());
        record.body.entry("duration_ms").or_insert_with(|| took.into());
        if let Some(writer) = self.ledger.writer_of_begun() {
            writer.write(*record);
        }
    }

    /// There was nothing to record after all.
    pub(super) fn discard(&mut self) {
        self.record = None;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.end(CANCELLED);
    }
}

pub(super) fn fresh_id() -> String {
    format!("led_{}", random_hex(16))
}
