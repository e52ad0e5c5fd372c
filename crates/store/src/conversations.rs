//! Conversations: named lists of items that responses add to.

use rusqlite::{Row, Transaction, named_params, params};
use sandgate_core::Owner;
use serde_json::Value;

use crate::items::{Packed, pack, put, read_item, remove_unlinked};
use crate::pages::{List, all, first, signed};
use crate::{ItemRecord, Listed, Page, Result, Store, StoreError};

#[derive(Clone, Debug, PartialEq)]
pub struct ConversationRecord {
    pub id: String,
    pub owner: Owner,
    /// Seconds since 1970.
    pub created_at: u64,
    pub metadata: Value,
}

const ITEMS: List = List {
    columns: "i.id, i.body, i.model",
    from: "conversation_items l JOIN items i ON i.seq = l.item",
    filter: "l.conversation = :conversation",
    id: "i.id",
    order: "l.position",
};

impl Store {
    pub async fn create_conversation(&self, record: &ConversationRecord, items: &[ItemRecord]) -> Result<()> {
        let metadata = serde_json::to_string(&record.metadata)?;
        let (record, items) = (record.clone(), pack(items)?);
        self.write(move |transaction| {
            let text = "INSERT INTO conversations (id, owner, created_at, metadata)
                        VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO NOTHING";
            let (owner, created_at) = (record.owner.as_str(), signed(record.created_at));
            let added =
                transaction.prepare_cached(text)?.execute(params![record.id, owner, created_at, metadata])?;
            if added == 0 {
                return Err(StoreError::Exists);
            }
            append(transaction, owner, transaction.last_insert_rowid(), &items)
        })
        .await
    }

    pub async fn conversation(&self, owner: &Owner, id: &str) -> Result<ConversationRecord> {
        let (owner, id) = (owner.clone(), id.to_owned());
        self.read(move |transaction| select(transaction, &owner, &id)).await
    }

    /// The conversation as it is then.
    pub async fn set_metadata(&self, owner: &Owner, id: &str, metadata: Value) -> Result<ConversationRecord> {
        let (owner, id) = (owner.clone(), id.to_owned());
        let metadata = serde_json::to_string(&metadata)?;
        self.write(move |transaction| {
            let text = "UPDATE conversations SET metadata = ?3 WHERE owner = ?1 AND id = ?2";
            transaction.prepare_cached(text)?.execute([owner.as_str(), &id, &metadata])?;
            select(transaction, &owner, &id)
        })
        .await
    }

    /// Items that a response holds stay with it; the others go.
    pub async fn delete_conversation(&self, owner: &Owner, id: &str) -> Result<()> {
        let (owner, id) = (owner.clone(), id.to_owned());
        self.write(move |transaction| {
            let conversation = find(transaction, &owner, &id)?;
            let text = "SELECT item FROM conversation_items WHERE conversation = ?1";
            let items = all(transaction, text, [conversation], |row| Ok(row.get(0)?))?;
            let text = "DELETE FROM conversations WHERE seq = ?1";
            transaction.prepare_cached(text)?.execute([conversation])?;
            remove_unlinked(transaction, &items)
        })
        .await
    }

    /// At the end, in their order. An item whose id is in the conversation already keeps its place and
    /// takes the new content, so that the same call may be made twice.
    pub async fn add_items(&self, owner: &Owner, conversation: &str, items: &[ItemRecord]) -> Result<()> {
        let (owner, id, items) = (owner.clone(), conversation.to_owned(), pack(items)?);
        self.write(move |transaction| {
            let conversation = find(transaction, &owner, &id)?;
            append(transaction, owner.as_str(), conversation, &items)
        })
        .await
    }

    pub async fn items(&self, owner: &Owner, conversation: &str, page: &Page) -> Result<Listed<ItemRecord>> {
        let (owner, id, page) = (owner.clone(), conversation.to_owned(), page.clone());
        self.read(move |transaction| {
            let conversation = find(transaction, &owner, &id)?;
            ITEMS.page(transaction, named_params! { ":conversation": conversation }, &page, read_item)
        })
        .await
    }

    /// The oldest first.
    pub async fn all_items(&self, owner: &Owner, conversation: &str) -> Result<Vec<ItemRecord>> {
        let (owner, id) = (owner.clone(), conversation.to_owned());
        self.read(move |transaction| {
            let text = "SELECT i.id, i.body, i.model FROM conversation_items l JOIN items i ON i.seq = l.item
                        WHERE l.conversation = ?1 ORDER BY l.position";
            all(transaction, text, [find(transaction, &owner, &id)?], read_item)
        })
        .await
    }

    pub async fn conversation_item(&self, owner: &Owner, conversation: &str, id: &str) -> Result<ItemRecord> {
        let (owner, conversation, id) = (owner.clone(), conversation.to_owned(), id.to_owned());
        self.read(move |transaction| {
            let conversation = find(transaction, &owner, &conversation)?;
            let (position, _) = place(transaction, owner.as_str(), conversation, &id)?;
            let text = "SELECT i.id, i.body, i.model FROM conversation_items l JOIN items i ON i.seq = l.item
                        WHERE l.conversation = ?1 AND l.position = ?2";
            first(transaction, text, [conversation, position], read_item)
        })
        .await
    }

    /// Takes it out of the conversation; a response that holds it keeps it.
    pub async fn delete_item(&self, owner: &Owner, conversation: &str, id: &str) -> Result<()> {
        let (owner, conversation, id) = (owner.clone(), conversation.to_owned(), id.to_owned());
        self.write(move |transaction| {
            let conversation = find(transaction, &owner, &conversation)?;
            let (position, item) = place(transaction, owner.as_str(), conversation, &id)?;
            let text = "DELETE FROM conversation_items WHERE conversation = ?1 AND position = ?2";
            transaction.prepare_cached(text)?.execute([conversation, position])?;
            remove_unlinked(transaction, &[item])
        })
        .await
    }
}

fn select(transaction: &Transaction<'_>, owner: &Owner, id: &str) -> Result<ConversationRecord> {
    let text = "SELECT id, owner, created_at, metadata FROM conversations WHERE owner = ?1 AND id = ?2";
    first(transaction, text, [owner.as_str(), id], read_conversation)
}

fn read_conversation(row: &Row<'_>) -> Result<ConversationRecord> {
    Ok(ConversationRecord {
        id: row.get(0)?,
        owner: Owner::from_stored(row.get(1)?),
        created_at: row.get(2)?,
        metadata: serde_json::from_str(row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?)?,
    })
}

fn find(transaction: &Transaction<'_>, owner: &Owner, id: &str) -> Result<i64> {
    let text = "SELECT seq FROM conversations WHERE owner = ?1 AND id = ?2";
    first(transaction, text, [owner.as_str(), id], |row| Ok(row.get(0)?))
}

/// Position and row of the item that has this id in the conversation.
fn place(transaction: &Transaction<'_>, owner: &str, conversation: i64, id: &str) -> Result<(i64, i64)> {
    let text = "SELECT l.position, i.seq FROM items i JOIN conversation_items l ON l.item = i.seq
                WHERE i.owner = ?1 AND i.id = ?2 AND l.conversation = ?3";
    first(transaction, text, params![owner, id, conversation], |row| Ok((row.get(0)?, row.get(1)?)))
}

fn append(transaction: &Transaction<'_>, owner: &str, conversation: i64, items: &[Packed]) -> Result<()> {
    let text = "SELECT coalesce(max(position), -1) + 1 FROM conversation_items WHERE conversation = ?1";
    let mut end: i64 = first(transaction, text, [conversation], |row| Ok(row.get(0)?))?;
    let mut set = transaction.prepare_cached(
        "INSERT INTO conversation_items (conversation, position, item) VALUES (?1, ?2, ?3)
         ON CONFLICT (conversation, position) DO UPDATE SET item = excluded.item",
    )?;
    for item in items {
        let earlier = match place(transaction, owner, conversation, &item.id) {
            Ok(found) => Some(found),
            Err(StoreError::NotFound) => None,
            Err(error) => return Err(error),
        };
        let position = earlier.map_or(end, |(position, _)| position);
        set.execute([conversation, position, put(transaction, owner, item)?])?;
        match earlier {
            Some((_, before)) => remove_unlinked(transaction, &[before])?,
            None => end += 1,
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "conversations_tests.rs"]
mod tests;
