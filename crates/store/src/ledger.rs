//! The ledger: one record for each request, each turn of a model, each execution. A record is there
//! from the moment its work begins, so that a crash leaves it to be found.

use rusqlite::{Row, named_params, params};
use sandgate_core::Owner;
use serde_json::Value;

use crate::pages::{List, signed};
use crate::{Listed, Page, Result, Store};

/// The status of work under way.
pub const RUNNING: &str = "running";
/// The status of work that an end of the server cut short.
pub const INTERRUPTED: &str = "interrupted";

#[derive(Clone, Debug, PartialEq)]
pub struct LedgerRecord {
    pub id: String,
    /// The request it belongs to; the client knows it as `x-request-id`.
    pub request: String,
    /// `request`, `turn`, `execution` or `approval`.
    pub kind: String,
    pub owner: Owner,
    /// Milliseconds since 1970.
    pub began_ms: u64,
    pub ended_ms: Option<u64>,
    pub status: String,
    pub body: Value,
}

/// What is looked for; None: everything.
#[derive(Clone, Debug, Default)]
pub struct LedgerFilter {
    pub owner: Option<Owner>,
    pub request: Option<String>,
    pub kind: Option<String>,
    pub status: Option<String>,
    pub from_ms: Option<u64>,
    pub to_ms: Option<u64>,
}

const RECORDS: List = List {
    columns: "id, request, kind, owner, began_ms, ended_ms, status, body",
    from: "ledger",
    filter: "(:owner IS NULL OR owner = :owner) AND (:request IS NULL OR request = :request)
             AND (:kind IS NULL OR kind = :kind) AND (:status IS NULL OR status = :status)
             AND (:from IS NULL OR began_ms >= :from) AND (:to IS NULL OR began_ms < :to)",
    id: "id",
    order: "seq",
};

impl Store {
    /// Adds the record, or takes the place of its earlier state.
    pub async fn put_ledger(&self, record: &LedgerRecord) -> Result<()> {
        let body = serde_json::to_string(&record.body)?;
        let record = LedgerRecord { body: Value::Null, ..record.clone() };
        self.write(move |transaction| {
            let text = "INSERT INTO ledger (id, request, kind, owner, began_ms, ended_ms, status, body)
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                        ON CONFLICT (id) DO UPDATE SET ended_ms = ?6, status = ?7, body = ?8";
            transaction.prepare_cached(text)?.execute(params![
                record.id,
                record.request,
                record.kind,
                record.owner.as_str(),
                signed(record.began_ms),
                record.ended_ms.map(signed),
                record.status,
                body
            ])?;
            Ok(())
        })
        .await
    }

    pub async fn ledger(&self, filter: &LedgerFilter, page: &Page) -> Result<Listed<LedgerRecord>> {
        let (filter, page) = (filter.clone(), page.clone());
        self.read(move |transaction| {
            let named = named_params! {
                ":owner": filter.owner.as_ref().map(Owner::as_str),
                ":request": filter.request,
                ":kind": filter.kind,
                ":status": filter.status,
                ":from": filter.from_ms.map(signed),
                ":to": filter.to_ms.map(signed),
            };
            RECORDS.page(transaction, named, &page, read_record)
        })
        .await
    }

    /// Says of work that was under way when the last server ended that it was cut short.
    pub async fn close_ledger(&self, now_ms: u64) -> Result<usize> {
        self.write(move |transaction| {
            let text = "UPDATE ledger SET status = ?1, ended_ms = ?2 WHERE status = ?3";
            Ok(transaction.execute(text, params![INTERRUPTED, signed(now_ms), RUNNING])?)
        })
        .await
    }

    /// Forgets what began before this time.
    pub async fn prune_ledger(&self, before_ms: u64) -> Result<usize> {
        self.write(move |transaction| {
            Ok(transaction.execute("DELETE FROM ledger WHERE began_ms < ?1", [signed(before_ms)])?)
        })
        .await
    }
}

fn read_record(row: &Row<'_>) -> Result<LedgerRecord> {
    Ok(LedgerRecord {
        id: row.get(0)?,
        request: row.get(1)?,
        kind: row.get(2)?,
        owner: Owner::from_stored(row.get(3)?),
        began_ms: row.get(4)?,
        ended_ms: row.get(5)?,
        status: row.get(6)?,
        body: serde_json::from_str(row.get_ref(7)?.as_str().map_err(rusqlite::Error::from)?)?,
    })
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
