//! Records of work, from their beginning to their end.

use sandgate_core::Owner;
use serde_json::json;

use super::{INTERRUPTED, LedgerFilter, LedgerRecord, RUNNING};
use crate::{Page, Store};

fn record(id: &str, kind: &str, began_ms: u64) -> LedgerRecord {
    LedgerRecord {
        id: id.into(),
        request: "req_1".into(),
        kind: kind.into(),
        owner: Owner::anonymous(),
        began_ms,
        ended_ms: None,
        status: RUNNING.into(),
        body: json!({"n": began_ms}),
    }
}

fn page() -> Page {
    Page { limit: 10, descending: false, after: None, before: None }
}

async fn ids(store: &Store, filter: LedgerFilter) -> Vec<String> {
    store.ledger(&filter, &page()).await.unwrap().data.into_iter().map(|record| record.id).collect()
}

#[tokio::test]
async fn records_are_found_by_what_they_say() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    store.put_ledger(&record("a", "request", 10)).await.unwrap();
    store.put_ledger(&record("b", "turn", 20)).await.unwrap();
    let other = LedgerRecord { owner: Owner::of_key("k"), request: "req_2".into(), ..record("c", "turn", 30) };
    store.put_ledger(&other).await.unwrap();
    assert_eq!(ids(&store, LedgerFilter::default()).await, ["a", "b", "c"]);
    assert_eq!(ids(&store, LedgerFilter { request: Some("req_1".into()), ..Default::default() }).await, ["a", "b"]);
    assert_eq!(ids(&store, LedgerFilter { kind: Some("turn".into()), ..Default::default() }).await, ["b", "c"]);
    assert_eq!(ids(&store, LedgerFilter { owner: Some(Owner::of_key("k")), ..Default::default() }).await, ["c"]);
    let between = LedgerFilter { from_ms: Some(20), to_ms: Some(30), ..Default::default() };
    assert_eq!(ids(&store, between).await, ["b"]);
}

#[tokio::test]
async fn an_end_takes_the_place_of_the_beginning_and_a_crash_is_said() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let begun = record("a", "request", 10);
    store.put_ledger(&begun).await.unwrap();
    store.put_ledger(&record("b", "turn", 20)).await.unwrap();
    let ended = LedgerRecord { ended_ms: Some(15), status: "completed".into(), body: json!({"x": 1}), ..begun };
    store.put_ledger(&ended).await.unwrap();
    drop(store);
    let store = Store::open(home.path()).await.unwrap();
    assert_eq!(store.close_ledger(99).await.unwrap(), 1);
    let all = store.ledger(&LedgerFilter::default(), &page()).await.unwrap().data;
    assert_eq!(all[0], ended);
    assert_eq!((all[1].status.as_str(), all[1].ended_ms), (INTERRUPTED, Some(99)));
    assert_eq!(store.prune_ledger(20).await.unwrap(), 1);
    assert_eq!(ids(&store, LedgerFilter::default()).await, ["b"]);
}
