//! Responses, the items that went in and came out, and the chain from one to the one before it.

use std::collections::HashSet;

use rusqlite::{Row, Transaction, named_params, params};
use sandgate_core::Owner;
use serde_json::Value;

use crate::items::{Packed, pack, put, read_item, remove_unlinked};
use crate::pages::{List, all, first, signed};
use crate::{ItemRecord, Listed, Page, Result, Store, StoreError};

#[derive(Clone, Debug, PartialEq)]
pub struct ResponseRecord {
    pub id: String,
    pub owner: Owner,
    /// Seconds since 1970.
    pub created_at: u64,
    pub status: String,
    pub background: bool,
    /// The response object, the outputs of code always whole.
    pub body: Value,
    pub previous: Option<String>,
    pub conversation: Option<String>,
    /// A `previous_response_id` that only the upstream knows.
    pub upstream_previous: Option<String>,
}

const INPUT: i64 = 0;
const OUTPUT: i64 = 1;

const INPUT_ITEMS: List = List {
    columns: "i.id, i.body, i.model",
    from: "response_items l JOIN items i ON i.seq = l.item",
    filter: "l.response = :response AND l.kind = 0",
    id: "i.id",
    order: "l.position",
};

impl Store {
    /// Adds the response, or takes the place of its earlier state. Its events stay.
    /// [`StoreError::Exists`]: another owner has this id.
    pub async fn save_response(
        &self,
        record: &ResponseRecord,
        inputs: &[ItemRecord],
        outputs: &[ItemRecord],
    ) -> Result<()> {
        let body = serde_json::to_string(&record.body)?;
        let record = ResponseRecord { body: Value::Null, ..record.clone() };
        let (inputs, outputs) = (pack(inputs)?, pack(outputs)?);
        self.write(move |transaction| {
            let response = put_response(transaction, &record, &body)?;
            let before = items_of(transaction, response)?;
            transaction
                .prepare_cached("DELETE FROM response_items WHERE response = ?1")?
                .execute([response])?;
            link(transaction, record.owner.as_str(), response, INPUT, &inputs)?;
            link(transaction, record.owner.as_str(), response, OUTPUT, &outputs)?;
            remove_unlinked(transaction, &before)
        })
        .await
    }

    /// A new state of a response that is there; its items stay.
    pub async fn update_response(&self, record: &ResponseRecord) -> Result<()> {
        let body = serde_json::to_string(&record.body)?;
        let record = ResponseRecord { body: Value::Null, ..record.clone() };
        self.write(move |transaction| {
            find(transaction, &record.owner, &record.id)?;
            put_response(transaction, &record, &body).map(|_| ())
        })
        .await
    }

    pub async fn response(&self, owner: &Owner, id: &str) -> Result<ResponseRecord> {
        let (owner, id) = (owner.clone(), id.to_owned());
        self.read(move |transaction| {
            let text = format!("{SELECT} WHERE owner = ?1 AND id = ?2");
            first(transaction, &text, [owner.as_str(), &id], read_response)
        })
        .await
    }

    /// With it go its events, and the items that no other response and no conversation holds.
    pub async fn delete_response(&self, owner: &Owner, id: &str) -> Result<()> {
        let (owner, id) = (owner.clone(), id.to_owned());
        self.write(move |transaction| {
            let response = find(transaction, &owner, &id)?;
            let items = items_of(transaction, response)?;
            transaction.prepare_cached("DELETE FROM responses WHERE seq = ?1")?.execute([response])?;
            remove_unlinked(transaction, &items)
        })
        .await
    }

    /// In the order they were sent; `descending` turns it round.
    pub async fn input_items(
        &self,
        owner: &Owner,
        response_id: &str,
        page: &Page,
    ) -> Result<Listed<ItemRecord>> {
        let (owner, id, page) = (owner.clone(), response_id.to_owned(), page.clone());
        self.read(move |transaction| {
            let response = find(transaction, &owner, &id)?;
            INPUT_ITEMS.page(transaction, named_params! { ":response": response }, &page, read_item)
        })
        .await
    }

    /// Inputs and outputs of the whole chain that ends with this response, the oldest first, and the
    /// `upstream_previous` of the oldest. A link that was deleted ends the chain there.
    pub async fn history(
        &self,
        owner: &Owner,
        response_id: &str,
    ) -> Result<(Vec<ItemRecord>, Option<String>)> {
        let (owner, id) = (owner.clone(), response_id.to_owned());
        self.read(move |transaction| {
            let (chain, upstream) = chain(transaction, &owner, id)?;
            let text = "SELECT i.id, i.body, i.model FROM response_items l JOIN items i ON i.seq = l.item
                        WHERE l.response = ?1 ORDER BY l.kind, l.position";
            let mut items = Vec::new();
            for response in chain.iter().rev() {
                items.extend(all(transaction, text, [response], read_item)?);
            }
            Ok((items, upstream))
        })
        .await
    }

    /// Background responses of all owners that an end of the server cut short, the oldest first.
    pub async fn unfinished_background(&self) -> Result<Vec<ResponseRecord>> {
        self.read(|transaction| {
            let text =
                format!("{SELECT} WHERE background = 1 AND status IN ('queued', 'in_progress') ORDER BY seq");
            all(transaction, &text, [], read_response)
        })
        .await
    }
}

const SELECT: &str = "SELECT id, owner, created_at, status, background, body, previous, conversation,
                      upstream_previous FROM responses";

fn read_response(row: &Row<'_>) -> Result<ResponseRecord> {
    Ok(ResponseRecord {
        id: row.get(0)?,
        owner: Owner::from_stored(row.get(1)?),
        created_at: row.get(2)?,
        status: row.get(3)?,
        background: row.get(4)?,
        body: serde_json::from_str(row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?)?,
        previous: row.get(6)?,
        conversation: row.get(7)?,
        upstream_previous: row.get(8)?,
    })
}

fn put_response(transaction: &Transaction<'_>, record: &ResponseRecord, body: &str) -> Result<i64> {
    let text = "INSERT INTO responses (id, owner, created_at, status, background, body, previous,
                                       conversation, upstream_previous)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                ON CONFLICT (id) DO UPDATE SET created_at = ?3, status = ?4, background = ?5, body = ?6,
                    previous = ?7, conversation = ?8, upstream_previous = ?9
                WHERE owner = ?2";
    let saved = transaction.prepare_cached(text)?.execute(params![
        record.id,
        record.owner.as_str(),
        signed(record.created_at),
        record.status,
        record.background,
        body,
        record.previous,
        record.conversation,
        record.upstream_previous
    ])?;
    if saved == 0 {
        return Err(StoreError::Exists);
    }
    find(transaction, &record.owner, &record.id)
}

fn find(transaction: &Transaction<'_>, owner: &Owner, id: &str) -> Result<i64> {
    let text = "SELECT seq FROM responses WHERE owner = ?1 AND id = ?2";
    first(transaction, text, [owner.as_str(), id], |row| Ok(row.get(0)?))
}

fn items_of(transaction: &Transaction<'_>, response: i64) -> Result<Vec<i64>> {
    let text = "SELECT item FROM response_items WHERE response = ?1";
    all(transaction, text, [response], |row| Ok(row.get(0)?))
}

fn link(
    transaction: &Transaction<'_>,
    owner: &str,
    response: i64,
    kind: i64,
    items: &[Packed],
) -> Result<()> {
    let text = "INSERT INTO response_items (response, kind, position, item) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = transaction.prepare_cached(text)?;
    for (position, item) in items.iter().enumerate() {
        statement.execute(params![response, kind, position, put(transaction, owner, item)?])?;
    }
    Ok(())
}

/// The rows from the named response back to the oldest that is left, and what came before that upstream.
fn chain(transaction: &Transaction<'_>, owner: &Owner, id: String) -> Result<(Vec<i64>, Option<String>)> {
    let text = "SELECT seq, previous, upstream_previous FROM responses WHERE owner = ?1 AND id = ?2";
    let mut seqs: Vec<i64> = Vec::new();
    let mut seen = HashSet::new();
    let mut upstream = None;
    let mut next = Some(id);
    while let Some(id) = next.take() {
        let link = first(transaction, text, [owner.as_str(), &id], |row| {
            Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?))
        });
        match link {
            // A response that was saved again may name one that came after it: no chain is a ring.
            Ok((seq, _, _)) if !seen.insert(seq) => break,
            Ok((seq, previous, upstream_previous)) => {
                seqs.push(seq);
                (next, upstream) = (previous, upstream_previous);
            }
            Err(StoreError::NotFound) if !seqs.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    Ok((seqs, upstream))
}

#[cfg(test)]
#[path = "responses_tests.rs"]
mod tests;
