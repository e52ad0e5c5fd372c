//! Records of work, from their beginning to their end.

use serde_json::json;

use super::{LOST, LedgerRecord, RUNNING};
use crate::testing::{after, ann, store};
use crate::{LedgerFilter, Store};

pub(crate) fn record(id: &str, kind: &'static str, began_ms: u64) -> LedgerRecord {
    LedgerRecord {
        id: id.into(),
        request: "req_1".into(),
        parent: None,
        kind,
        owner: ann(),
        key: None,
        model: None,
        container: None,
        began_ms,
        ended_ms: None,
        status: RUNNING.into(),
        body: [("n".to_owned(), json!(began_ms))].into_iter().collect(),
    }
}

async fn everything(store: &Store) -> Vec<LedgerRecord> {
    store.ledger(&LedgerFilter::default(), &after(100, None)).await.unwrap().data
}

#[tokio::test]
async fn an_end_takes_the_place_of_the_beginning() {
    let (_home, store) = store().await;
    let begun = record("a", "request", 10);
    store.put_ledger(vec![begun.clone(), record("b", "turn", 20)]).await.unwrap();
    let ended = LedgerRecord {
        ended_ms: Some(15),
        status: "completed".into(),
        container: Some("cntr_1".into()),
        model: Some("m".into()),
        body: [("x".to_owned(), json!(1))].into_iter().collect(),
        ..begun
    };
    store.put_ledger(vec![ended.clone()]).await.unwrap();
    assert_eq!(everything(&store).await, [ended, record("b", "turn", 20)]);
}

#[tokio::test]
async fn what_a_crash_cut_short_is_said_to_be_lost() {
    let (home, store) = store().await;
    let done = LedgerRecord { status: "completed".into(), ..record("a", "request", 10) };
    store.put_ledger(vec![done.clone(), record("b", "execution", 20)]).await.unwrap();
    drop(store);
    let store = Store::open(home.path()).await.unwrap();
    assert_eq!(store.close_ledger("the server ended").await.unwrap(), 1);
    assert_eq!(store.close_ledger("the server ended").await.unwrap(), 0);
    let all = everything(&store).await;
    assert_eq!(all[0], done);
    assert_eq!((all[1].status.as_str(), all[1].ended_ms), (LOST, None));
    assert_eq!((&all[1].body["note"], &all[1].body["n"]), (&json!("the server ended"), &json!(20)));
}

#[tokio::test]
async fn what_is_old_and_over_goes_a_little_at_a_time() {
    let (_home, store) = store().await;
    let old = |number: u64| LedgerRecord {
        status: "completed".into(),
        ..record(&format!("old-{number}"), "turn", number)
    };
    let mut records: Vec<_> = (0..5).map(old).collect();
    records.extend([record("running", "turn", 1), record("young", "turn", 100)]);
    store.put_ledger(records).await.unwrap();
    assert_eq!(store.prune_ledger(100, 3).await.unwrap(), 3);
    assert_eq!(store.prune_ledger(100, 3).await.unwrap(), 2);
    assert_eq!(store.prune_ledger(100, 3).await.unwrap(), 0);
    let left: Vec<String> = everything(&store).await.into_iter().map(|record| record.id).collect();
    assert_eq!(left, ["running", "young"]);
}
