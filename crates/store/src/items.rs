//! Items: what went into and came out of responses. Responses and conversations link to them; one that
//! nothing links to is removed.

use rusqlite::{Row, Transaction, params};
use sandgate_core::Owner;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::pages::first;
use crate::{Result, Store};

#[derive(Clone, Debug, PartialEq)]
pub struct ItemRecord {
    pub id: String,
    /// As the client sees it, the outputs of code whole.
    pub body: Value,
    /// How the model saw it, where that differs: a code call is a function call and its output.
    pub model: Option<Vec<Value>>,
}

impl Store {
    /// An item by its id. A client may have sent the id again with another content: what a response put
    /// out under it goes before what was put in, and then the newest is taken.
    pub async fn item(&self, owner: &Owner, item_id: &str) -> Result<ItemRecord> {
        let (owner, id) = (owner.clone(), item_id.to_owned());
        self.read(move |transaction| {
            // The row is chosen before its content is read: the contents may be large, and many.
            let text = "SELECT id, body, model FROM items WHERE seq = (
                            SELECT i.seq FROM items i WHERE i.owner = ?1 AND i.id = ?2
                            ORDER BY EXISTS (SELECT 1 FROM response_items l WHERE l.item = i.seq AND l.kind = 1)
                            DESC, i.seq DESC LIMIT 1)";
            first(transaction, text, [owner.as_str(), &id], read_item)
        })
        .await
    }

    /// Keeps items of a response that is itself not kept, so that a client can still refer to them.
    pub async fn keep_items(&self, owner: &Owner, items: &[ItemRecord]) -> Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        let (owner, items) = (owner.clone(), pack(items)?);
        self.write(move |transaction| {
            for item in &items {
                put(transaction, owner.as_str(), item)?;
            }
            Ok(())
        })
        .await
    }
}

/// An item as it is stored, made before the store's thread gets it: large ones take a while.
pub(crate) struct Packed {
    pub(crate) id: String,
    body: String,
    model: Option<String>,
    digest: [u8; 32],
}

pub(crate) fn pack(items: &[ItemRecord]) -> Result<Vec<Packed>> {
    items.iter().map(pack_one).collect()
}

fn pack_one(item: &ItemRecord) -> Result<Packed> {
    let body = serde_json::to_string(&item.body)?;
    let model = item.model.as_ref().map(serde_json::to_string).transpose()?;
    let mut digest = Sha256::new();
    digest.update(&body);
    // JSON never has this byte, so no two pairs of texts read the same.
    digest.update([0]);
    digest.update(model.as_deref().unwrap_or_default());
    Ok(Packed { id: item.id.clone(), body, model, digest: digest.finalize().into() })
}

/// Columns: id, body, model.
pub(crate) fn read_item(row: &Row<'_>) -> Result<ItemRecord> {
    let model = row.get_ref(2)?.as_str_or_null().map_err(rusqlite::Error::from)?;
    Ok(ItemRecord {
        id: row.get(0)?,
        body: serde_json::from_str(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?)?,
        model: model.map(serde_json::from_str).transpose()?,
    })
}

/// The row of this item, which is an old one if the owner has the very same already.
pub(crate) fn put(transaction: &Transaction<'_>, owner: &str, item: &Packed) -> Result<i64> {
    let text = "INSERT INTO items (owner, id, digest, body, model) VALUES (?1, ?2, ?3, ?4, ?5)
                ON CONFLICT (owner, id, digest) DO NOTHING";
    let added = transaction.prepare_cached(text)?.execute(params![
        owner,
        item.id,
        item.digest,
        item.body,
        item.model
    ])?;
    if added == 1 {
        return Ok(transaction.last_insert_rowid());
    }
    let text = "SELECT seq FROM items WHERE owner = ?1 AND id = ?2 AND digest = ?3";
    first(transaction, text, params![owner, item.id, item.digest], |row| Ok(row.get(0)?))
}

/// Removes those of `items` that neither a response nor a conversation holds.
pub(crate) fn remove_unlinked(transaction: &Transaction<'_>, items: &[i64]) -> Result<()> {
    let mut statement = transaction.prepare_cached(
        "DELETE FROM items WHERE seq = ?1
         AND NOT EXISTS (SELECT 1 FROM response_items WHERE item = ?1)
         AND NOT EXISTS (SELECT 1 FROM conversation_items WHERE item = ?1)",
    )?;
    for item in items {
        statement.execute([item])?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "items_tests.rs"]
mod tests;
