//! The ledger: one record for each request, each turn of a model, each execution, each approval, and
//! each connection of a sandbox. A record
//! is there from the moment its work begins, so that a crash leaves it to be found.

use rusqlite::{Row, Transaction, params};
use sandgate_core::Owner;
use serde_json::{Map, Value};

use crate::pages::signed;
use crate::{Result, Store};

/// The status of work under way.
pub const RUNNING: &str = "running";
/// The status of work that an end of the server cut short.
pub const LOST: &str = "lost";

#[derive(Clone, Debug, PartialEq)]
pub struct LedgerRecord {
    pub id: String,
    /// The client knows it as `x-request-id`. Clients may choose it, so it may repeat.
    pub request: String,
    /// The id of the request's own record; None: it is that, or belongs to none.
    pub parent: Option<String>,
    /// `request`, `turn`, `execution`, `approval` or `connection`.
    pub kind: &'static str,
    pub owner: Owner,
    /// The id of the key.
    pub key: Option<String>,
    pub model: Option<String>,
    pub container: Option<String>,
    /// Milliseconds since 1970.
    pub began_ms: u64,
    pub ended_ms: Option<u64>,
    pub status: String,
    /// What else is known.
    pub body: Map<String, Value>,
}

/// The kinds of records there are.
pub const KINDS: [&str; 5] = ["request", "turn", "execution", "approval", "connection"];

pub(crate) const COLUMNS: &str =
    "id, request, parent, kind, owner, key, model, container, began_ms, ended_ms, status, body";

impl Store {
    /// Adds the records in one transaction; one whose id is there already takes the place of its earlier
    /// state.
    pub async fn put_ledger(&self, records: Vec<LedgerRecord>) -> Result<()> {
        self.write(move |transaction| records.iter().try_for_each(|record| put(transaction, record))).await
    }

    /// Says of work that was under way when the last server ended that it was cut short. When it ended is
    /// not known.
    pub async fn close_ledger(&self, note: &str) -> Result<usize> {
        let note = note.to_owned();
        self.write(move |transaction| {
            let text = "UPDATE ledger SET status = ?1, body = json_set(body, '$.note', ?2)
                        WHERE status = 'running'";
            Ok(transaction.execute(text, params![LOST, note])?)
        })
        .await
    }

    /// Forgets some of what began before this time and is not under way; how much it was. None is left when
    /// it is less than `most`.
    pub async fn prune_ledger(&self, before_ms: u64, most: usize) -> Result<usize> {
        self.write(move |transaction| {
            let text = "DELETE FROM ledger WHERE seq IN (SELECT seq FROM ledger
                        WHERE began_ms < ?1 AND status <> 'running' ORDER BY began_ms LIMIT ?2)";
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            Ok(transaction.prepare_cached(text)?.execute(params![signed(before_ms), most])?)
        })
        .await
    }
}

fn put(transaction: &Transaction<'_>, record: &LedgerRecord) -> Result<()> {
    let text = "INSERT INTO ledger (id, request, parent, kind, owner, key, model, container, began_ms,
                                    ended_ms, status, body)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
                ON CONFLICT (id) DO UPDATE
                SET model = ?7, container = ?8, ended_ms = ?10, status = ?11, body = ?12";
    transaction.prepare_cached(text)?.execute(params![
        record.id,
        record.request,
        record.parent,
        record.kind,
        record.owner.as_str(),
        record.key,
        record.model,
        record.container,
        signed(record.began_ms),
        record.ended_ms.map(signed),
        record.status,
        serde_json::to_string(&record.body)?,
    ])?;
    Ok(())
}

/// Of a row of [`COLUMNS`].
pub(crate) fn read_record(row: &Row<'_>) -> Result<LedgerRecord> {
    let kind: String = row.get(3)?;
    Ok(LedgerRecord {
        id: row.get(0)?,
        request: row.get(1)?,
        parent: row.get(2)?,
        kind: KINDS.into_iter().find(|known| *known == kind).unwrap_or("unknown"),
        owner: Owner::from_stored(row.get(4)?),
        key: row.get(5)?,
        model: row.get(6)?,
        container: row.get(7)?,
        began_ms: row.get(8)?,
        ended_ms: row.get(9)?,
        status: row.get(10)?,
        body: serde_json::from_str(row.get_ref(11)?.as_str().map_err(rusqlite::Error::from)?)?,
    })
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
pub(crate) mod tests;
