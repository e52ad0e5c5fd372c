//! Small things that the tests of this crate share.

use sandgate_core::Owner;
use serde_json::json;
use tempfile::TempDir;

use crate::{ItemRecord, Page, ResponseRecord, Store};

pub(crate) async fn store() -> (TempDir, Store) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    (home, store)
}

pub(crate) fn ann() -> Owner {
    Owner::of_key("ann")
}

pub(crate) fn bob() -> Owner {
    Owner::of_key("bob")
}

pub(crate) fn item(id: &str) -> ItemRecord {
    item_saying(id, "hello")
}

pub(crate) fn item_saying(id: &str, text: &str) -> ItemRecord {
    ItemRecord { id: id.to_owned(), body: json!({"type": "message", "id": id, "text": text}), model: None }
}

pub(crate) fn response(id: &str, owner: &Owner) -> ResponseRecord {
    ResponseRecord {
        id: id.to_owned(),
        owner: owner.clone(),
        created_at: 1_700_000_000,
        status: "completed".to_owned(),
        background: false,
        body: json!({"id": id, "object": "response"}),
        previous: None,
        conversation: None,
        upstream_previous: None,
    }
}

pub(crate) fn after(limit: usize, after: Option<&str>) -> Page {
    Page { limit, descending: false, after: after.map(str::to_owned), before: None }
}

pub(crate) fn ids(items: &[ItemRecord]) -> Vec<&str> {
    items.iter().map(|item| item.id.as_str()).collect()
}

pub(crate) async fn count(store: &Store, table: &'static str) -> usize {
    let text = format!("SELECT count(*) FROM {table}");
    store.read(move |transaction| Ok(transaction.query_row(&text, [], |row| row.get(0))?)).await.unwrap()
}
