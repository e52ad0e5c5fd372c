//! Records are found by what they say, page by page, and never by another owner.

use super::{LedgerFilter, LedgerPlace};
use crate::ledger::tests::record;
use crate::testing::{after, ann, bob, store};
use crate::{LedgerRecord, Page, Store, StoreError};

async fn filled() -> (tempfile::TempDir, Store) {
    let (home, store) = store().await;
    let child = |id: &str, kind, began| LedgerRecord { parent: Some("a".into()), ..record(id, kind, began) };
    let of_bob = LedgerRecord {
        owner: bob(),
        key: Some("key_b".into()),
        model: Some("m".into()),
        container: Some("cntr_b".into()),
        status: "failed".into(),
        ..record("d", "request", 40)
    };
    let records =
        vec![record("a", "request", 10), child("b", "turn", 20), child("c", "execution", 30), of_bob];
    store.put_ledger(records).await.unwrap();
    (home, store)
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

async fn ids(store: &Store, filter: &LedgerFilter) -> Vec<String> {
    let found = store.ledger(filter, &after(100, None)).await.unwrap();
    found.data.into_iter().map(|record| record.id).collect()
}

#[tokio::test]
async fn each_filter_counts_and_all_of_them_together() {
    let (_home, store) = filled().await;
    let usual = LedgerFilter::default;
    for (filter, found) in [
        (usual(), &["a", "b", "c", "d"][..]),
        (LedgerFilter { request: some("req_1"), ..usual() }, &["a", "b", "c", "d"]),
        (LedgerFilter { request: some("req_2"), ..usual() }, &[]),
        (LedgerFilter { request_part: some("eq_"), ..usual() }, &["a", "b", "c", "d"]),
        (LedgerFilter { request_part: some("eq_%"), ..usual() }, &[]),
        (LedgerFilter { owner: Some(ann()), ..usual() }, &["a", "b", "c"]),
        (LedgerFilter { key: some("key_b"), ..usual() }, &["d"]),
        (LedgerFilter { kind: some("request"), ..usual() }, &["a", "d"]),
        (LedgerFilter { status: some("running"), ..usual() }, &["a", "b", "c"]),
        (LedgerFilter { model: some("m"), ..usual() }, &["d"]),
        (LedgerFilter { container: some("cntr_b"), ..usual() }, &["d"]),
        (LedgerFilter { since_ms: Some(20), until_ms: Some(40), ..usual() }, &["b", "c"]),
        (LedgerFilter { kind: some("request"), owner: Some(bob()), ..usual() }, &["d"]),
        (LedgerFilter { kind: some("turn"), owner: Some(bob()), ..usual() }, &[]),
        (LedgerFilter { model: some("m' OR 1=1 --"), ..usual() }, &[]),
    ] {
        assert_eq!(ids(&store, &filter).await, found, "{filter:?}");
    }
}

#[tokio::test]
async fn pages_follow_each_other() {
    let (_home, store) = filled().await;
    let filter = LedgerFilter { owner: Some(ann()), ..LedgerFilter::default() };
    let first = store.ledger(&filter, &after(2, None)).await.unwrap();
    assert_eq!((first.data.len(), first.has_more), (2, true));
    let rest = store.ledger(&filter, &after(2, Some("b"))).await.unwrap();
    assert_eq!((rest.data[0].id.as_str(), rest.data.len(), rest.has_more), ("c", 1, false));
    let newest = Page { descending: true, ..after(1, None) };
    assert_eq!(store.ledger(&filter, &newest).await.unwrap().data[0].id, "c");
    // The place to go on from is another owner's.
    let elsewhere = store.ledger(&filter, &after(2, Some("d"))).await;
    assert!(matches!(elsewhere, Err(StoreError::NotFound)), "{elsewhere:?}");
}

#[tokio::test]
async fn a_walk_goes_on_where_records_were_removed() {
    let (_home, store) = filled().await;
    let filter = LedgerFilter::default();
    let (first, place) = store.ledger_after(&filter, LedgerPlace::default(), 3).await.unwrap();
    assert_eq!(first.len(), 3);
    store.close_ledger("").await.unwrap();
    assert_eq!(store.prune_ledger(35, 100).await.unwrap(), 3);
    let (second, place_2) = store.ledger_after(&filter, place, 3).await.unwrap();
    assert_eq!((second[0].id.as_str(), second.len()), ("d", 1));
    let (none, end) = store.ledger_after(&filter, place_2, 3).await.unwrap();
    assert_eq!((none.len(), end), (0, place_2));
}

#[tokio::test]
async fn a_request_comes_with_what_was_done_for_it_and_with_nothing_else() {
    let (_home, store) = filled().await;
    // The same id again, by the same owner.
    let again = LedgerRecord { id: "e".into(), ..record("e", "request", 50) };
    let its = LedgerRecord { parent: Some("e".into()), ..record("f", "turn", 60) };
    store.put_ledger(vec![again, its]).await.unwrap();
    let shape = |trees: &[super::LedgerTree]| -> Vec<(String, Vec<String>, bool)> {
        let ids = |tree: &super::LedgerTree| tree.children.iter().map(|child| child.id.clone()).collect();
        trees.iter().map(|tree| (tree.request.id.clone(), ids(tree), tree.has_more)).collect()
    };
    let entry = |id: &str, children: &[&str], more| {
        (id.to_owned(), children.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>(), more)
    };
    let ann = ann();
    let trees = store.ledger_trees("req_1", Some(&ann), 10, 10).await.unwrap();
    assert_eq!(shape(&trees), [entry("e", &["f"], false), entry("a", &["b", "c"], false)]);
    let trees = store.ledger_trees("req_1", None, 2, 1).await.unwrap();
    assert_eq!(shape(&trees), [entry("e", &["f"], false), entry("d", &[], false)]);
    let trees = store.ledger_trees("req_1", Some(&ann), 10, 1).await.unwrap();
    assert_eq!(shape(&trees)[1], entry("a", &["b"], true));
    assert_eq!(store.ledger_trees("req_9", None, 10, 10).await.unwrap(), []);
}

#[tokio::test]
async fn a_walk_goes_on_from_a_record_that_is_no_longer_what_was_looked_for() {
    let (_home, store) = filled().await;
    let filter = LedgerFilter { status: some("running"), ..LedgerFilter::default() };
    let first = store.ledger(&filter, &after(1, None)).await.unwrap();
    assert_eq!(first.data[0].id, "a");
    store
        .put_ledger(vec![LedgerRecord { status: "completed".into(), ..first.data[0].clone() }])
        .await
        .unwrap();
    let next = store.ledger(&filter, &after(1, Some("a"))).await.unwrap();
    assert_eq!(next.data[0].id, "b");
}

#[tokio::test]
async fn an_answer_is_cut_short_before_it_is_too_large() {
    let (_home, store) = store().await;
    let large = |id: &str, parent: Option<&str>| {
        let mut record = LedgerRecord { parent: parent.map(Into::into), ..record(id, "execution", 10) };
        record.body.insert("code".into(), "x".repeat(super::MOST_BYTES / 2).into());
        record
    };
    store.put_ledger(vec![record("r", "request", 1)]).await.unwrap();
    store
        .put_ledger(vec![large("a", Some("r")), large("b", Some("r")), large("c", Some("r"))])
        .await
        .unwrap();
    let filter = LedgerFilter { kind: some("execution"), ..LedgerFilter::default() };
    let page = store.ledger(&filter, &after(100, None)).await.unwrap();
    assert_eq!((page.data.len(), page.has_more), (1, true));
    let mut seen = 0;
    let mut place = LedgerPlace::default();
    loop {
        let (records, next) = store.ledger_after(&filter, place, 100).await.unwrap();
        assert!(records.len() < 3);
        seen += records.len();
        if next == place {
            break;
        }
        place = next;
    }
    assert_eq!(seen, 3);
    let trees = store.ledger_trees("req_1", None, 10, 10).await.unwrap();
    assert_eq!((trees[0].children.len(), trees[0].has_more), (1, true));
}

#[tokio::test]
async fn a_request_is_found_by_its_id_without_a_look_at_others() {
    let (_home, store) = store().await;
    for (filter, index) in [
        ("request = 'a' AND owner = 'b'", "ledger_by_request_of_owner (request=? AND owner=?)"),
        ("request = 'a'", "ledger_by_request (request=?)"),
    ] {
        let text = format!(
            "EXPLAIN QUERY PLAN SELECT id FROM ledger WHERE {filter} AND parent IS NULL ORDER BY seq DESC LIMIT 9"
        );
        let plan = store
            .search(move |connection| super::all(connection, &text, [], |row| Ok(row.get::<_, String>(3)?)))
            .await
            .unwrap();
        assert_eq!(plan, [format!("SEARCH ledger USING INDEX {index}")]);
    }
}

#[tokio::test]
async fn a_search_that_nobody_waits_for_ends_and_gives_its_place_back_then() {
    let (_home, store) = store().await;
    let room = store.searches.available_permits();
    let searching = store.clone();
    let search = tokio::spawn(async move {
        let endless =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
        searching.search(move |c| super::all(c, endless, [], |row| Ok(row.get::<_, i64>(0)?))).await
    });
    while store.searches.available_permits() == room {
        tokio::task::yield_now().await;
    }
    search.abort();
    assert!(search.await.unwrap_err().is_cancelled());
    while store.searches.available_permits() < room {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}
