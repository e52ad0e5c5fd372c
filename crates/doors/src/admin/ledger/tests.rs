//! Who may read what, filters, pages, the tree of one request, and the export.

use axum::body::{Body, to_bytes};
use axum::http::Request;
use axum::middleware::from_fn_with_state;
use sandgate_core::KeyLimits;
use sandgate_gate::LedgerConfig;
use sandgate_store::{LedgerRecord, NewKey};
use tempfile::TempDir;
use tower_service::Service;

use super::*;
use crate::access::{Access, authenticate};

const MASTER: &str = "the-master-key-of-all";

struct Client {
    router: Router,
    store: Store,
    key: String,
    owner: Owner,
    _home: TempDir,
}

async fn client() -> Client {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let new = NewKey { name: "a".into(), limits: KeyLimits::default(), ..NewKey::default() };
    let (key, secret) = store.create_key(new).await.unwrap();
    let access = Access::new(store.clone(), Some(MASTER));
    let ledger = Ledger::new(store.clone(), LedgerConfig::default());
    let router = LedgerDoor { store: store.clone(), ledger }.router();
    let router = router.layer(from_fn_with_state(access, authenticate));
    Client { router, store, key: secret.expose().to_owned(), owner: key.owner, _home: home }
}

fn record(id: &str, owner: &Owner, parent: Option<&str>, kind: &'static str) -> LedgerRecord {
    LedgerRecord {
        id: id.to_owned(),
        request: "req/1 ä".to_owned(),
        parent: parent.map(str::to_owned),
        kind,
        owner: owner.clone(),
        key: None,
        model: Some("m".to_owned()),
        container: None,
        began_ms: 1_700_000_000_000,
        ended_ms: None,
        status: "completed".to_owned(),
        body: [("api".to_owned(), json!("chat")), ("id".to_owned(), json!("not the id"))]
            .into_iter()
            .collect(),
    }
}

impl Client {
    async fn fill(&self) {
        let other = Owner::of_key("other");
        let records = vec![
            record("a1", &self.owner, None, "request"),
            record("a2", &self.owner, Some("a1"), "turn"),
            record("b1", &other, None, "request"),
        ];
        self.store.put_ledger(records).await.unwrap();
    }

    async fn get(&self, key: &str, path: &str) -> (u16, Vec<u8>) {
        let request = Request::builder().uri(path).header("authorization", format!("Bearer {key}"));
        let response = self.router.clone().call(request.body(Body::empty()).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        (status, to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec())
    }

    async fn ok(&self, key: &str, path: &str) -> Value {
        let (status, body) = self.get(key, path).await;
        assert_eq!(status, 200, "{path}: {}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).unwrap()
    }

    async fn ids(&self, key: &str, path: &str) -> Vec<String> {
        let listed = self.ok(key, path).await;
        let id = |record: &Value| record["id"].as_str().unwrap().to_owned();
        listed["data"].as_array().unwrap().iter().map(id).collect()
    }
}

#[tokio::test]
async fn the_operator_reads_everything_and_a_key_what_is_its_owners() {
    let client = client().await;
    client.fill().await;
    assert_eq!(client.ids(MASTER, "/v1/admin/ledger").await, ["b1", "a2", "a1"]);
    assert_eq!(client.ids(&client.key, "/v1/ledger?order=asc").await, ["a1", "a2"]);
    assert_eq!(client.ids(MASTER, "/v1/ledger").await, [] as [&str; 0], "the master key ran nothing");
    for path in ["/v1/admin/ledger", "/v1/admin/ledger/x", "/v1/admin/ledger/export"] {
        assert_eq!(client.get(&client.key, path).await.0, 403, "{path}");
        assert_eq!(client.get("wrong", path).await.0, 401, "{path}");
    }
    assert_eq!(client.get(&client.key, "/v1/ledger?owner=other").await.0, 400);
}

#[tokio::test]
async fn filters_and_pages() {
    let client = client().await;
    client.fill().await;
    let owner = client.owner.as_str();
    for (query, found) in [
        ("kind=request", &["b1", "a1"][..]),
        ("kind=turn&model=m&status=completed", &["a2"]),
        (&format!("owner={owner}"), &["a2", "a1"]),
        ("request_id=req%2F1%20%C3%A4&limit=1", &["b1"]),
        ("after=b1&limit=1", &["a2"]),
        ("since=1700000000&until=2023-11-15", &["b1", "a2", "a1"]),
        ("until=1700000000", &[]),
        ("since=1h", &[]),
        ("container_id=c", &[]),
        ("key_id=k", &[]),
    ] {
        assert_eq!(client.ids(MASTER, &format!("/v1/admin/ledger?{query}")).await, found, "{query}");
    }
    let page = client.ok(MASTER, "/v1/admin/ledger?limit=2").await;
    assert_eq!((&page["has_more"], &page["last_id"]), (&json!(true), &json!("a2")));
    for query in [
        "status=foo",
        "kinds=turn",
        "kind=thing",
        "since=soon",
        "limit=0",
        "limit=1001",
        "order=up",
        "after=none",
    ] {
        let (status, body) = client.get(MASTER, &format!("/v1/admin/ledger?{query}")).await;
        assert_eq!(status, 400, "{query}: {}", String::from_utf8_lossy(&body));
    }
}

#[tokio::test]
async fn a_request_is_shown_with_what_was_done_for_it() {
    let client = client().await;
    client.fill().await;
    let path = "req%2F1%20%C3%A4";
    let shown = client.ok(MASTER, &format!("/v1/admin/ledger/{path}")).await;
    assert_eq!((&shown["data"][0]["id"], &shown["data"][1]["id"]), (&json!("b1"), &json!("a1")));
    let own = client.ok(&client.key, &format!("/v1/ledger/{path}")).await;
    assert_eq!(own["data"].as_array().unwrap().len(), 1);
    let tree = &own["data"][0];
    assert_eq!((&tree["id"], &tree["api"], &tree["has_more"]), (&json!("a1"), &json!("chat"), &json!(false)));
    assert_eq!((&tree["children"][0]["id"], &tree["children"][0]["parent_id"]), (&json!("a2"), &json!("a1")));
    assert_eq!(client.get(MASTER, "/v1/admin/ledger/none").await.0, 404);
    assert_eq!(client.get(&client.key, "/v1/ledger/none").await.0, 404);
}

#[tokio::test]
async fn an_export_holds_every_line_once() {
    let client = client().await;
    let owner = client.owner.clone();
    let many = (0..1203).map(|number| record(&format!("r{number}"), &owner, None, "request")).collect();
    client.store.put_ledger(many).await.unwrap();
    client.fill().await;
    let (status, body) = client.get(MASTER, "/v1/admin/ledger/export?kind=request").await;
    assert_eq!(status, 200);
    let lines = String::from_utf8(body).unwrap();
    let ids: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned())
        .collect();
    let expected: Vec<String> =
        (0..1203).map(|number| format!("r{number}")).chain(["a1".into(), "b1".into()]).collect();
    assert_eq!(ids, expected);
    let (_, none) = client.get(MASTER, "/v1/admin/ledger/export?model=none").await;
    assert!(none.is_empty());
    assert_eq!(client.get(MASTER, "/v1/admin/ledger/export?limit=5").await.0, 400);
}
