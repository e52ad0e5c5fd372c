//! Deciding by the API of the operator.

use axum::http::Request;
use axum::middleware::from_fn_with_state;
use sandgate_core::{ContainerId, Owner};
use sandgate_gate::{Policy, Question, Stance, Verdict};
use sandgate_store::{NewKey, Store};
use tempfile::TempDir;
use tower_service::Service;

use super::*;
use crate::access::{Access, authenticate};
use crate::test_http::{Answer, with_json};

const MASTER: &str = "the-master-key-of-all";

struct World {
    router: Router,
    approvals: Approvals,
    store: Store,
    _home: TempDir,
}

impl World {
    async fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path()).await.unwrap();
        let access = Access::new(store.clone(), Some(MASTER));
        let policy = Policy { default: Stance::Ask, ..Policy::default() };
        let approvals = Approvals::new(policy, store.clone());
        let door = ApprovalsDoor { approvals: approvals.clone() };
        let router = door.router().layer(from_fn_with_state(access, authenticate));
        Self { router, approvals, store, _home: home }
    }

    async fn send(&self, key: &str, method: &str, path: &str, body: Value) -> (u16, Value) {
        let request = Request::builder().method(method).uri(format!("/v1/admin/approvals{path}"));
        let request = request.header("authorization", format!("Bearer {key}"));
        let response = self.router.clone().call(with_json(request, Some(body))).await.unwrap();
        let answer = Answer::of(response).await;
        (answer.status, answer.json())
    }

    async fn refused(&self, method: &str, path: &str, body: Value) -> (u16, String) {
        let (status, body) = self.send(MASTER, method, path, body).await;
        (status, body["error"]["message"].as_str().unwrap().to_owned())
    }

    fn ask(&self) -> tokio::task::JoinHandle<Verdict> {
        let approvals = self.approvals.clone();
        tokio::spawn(async move {
            let (owner, container) = (Owner::master(), ContainerId::random());
            let question = Question {
                code: "import os",
                language: "python",
                model: Some("m"),
                key: None,
                owner: &owner,
                container: &container,
                container_name: None,
                door: "execute",
                request_id: "req_1",
            };
            approvals.decide(&question).await
        })
    }
}

#[tokio::test]
async fn what_is_held_is_listed_and_decided_once() {
    let world = World::start().await;
    let (_, empty) = world.send(MASTER, "GET", "", json!({})).await;
    assert_eq!(empty, json!({"object": "list", "data": [], "version": 0}));
    for (decision, is_allowed) in [("approve", true), ("deny", false)] {
        let asked = world.ask();
        let (status, listed) = world.send(MASTER, "GET", "?wait=50", json!({})).await;
        assert_eq!((status, &listed["data"][0]["code"]), (200, &json!("import os")), "{listed}");
        let path = format!("/{}", listed["data"][0]["id"].as_str().unwrap());
        let body = json!({"decision": decision, "reason": "seen"});
        let (status, said) = world.send(MASTER, "POST", &path, body.clone()).await;
        assert_eq!((status, &said["decision"]), (200, &json!(decision)), "{said}");
        assert_eq!(matches!(asked.await.unwrap(), Verdict::Allowed(_)), is_allowed);
        let (status, message) = world.refused("POST", &path, body).await;
        assert!(status == 409 && message.contains("already"), "{status} {message}");
    }
    let (_, listed) = world.send(MASTER, "GET", "?wait=50&version=0", json!({})).await;
    assert_eq!((&listed["data"], &listed["version"]), (&json!([]), &json!(4)));
}

#[tokio::test]
async fn what_is_wrong_is_named_and_decides_nothing() {
    let world = World::start().await;
    let asked = world.ask();
    let (_, listed) = world.send(MASTER, "GET", "?wait=50", json!({})).await;
    let path = format!("/{}", listed["data"][0]["id"].as_str().unwrap());
    for (body, words) in [
        (json!({}), "'decision'"),
        (json!({"decision": "yes"}), "'yes'"),
        (json!({"decision": true}), "a string"),
        (json!({"decision": "approve", "reason": 7}), "a string"),
        (json!({"decision": "approve", "because": "x"}), "'because'"),
        (json!([]), ""),
    ] {
        let (status, message) = world.refused("POST", &path, body.clone()).await;
        assert!(status == 400 && message.contains(words), "{body}: {status} {message}");
    }
    for query in ["?wait=51", "?wait=x", "?wait=-1", "?version=x"] {
        assert_eq!(world.refused("GET", query, json!({})).await.0, 400, "{query}");
    }
    let approve = json!({"decision": "approve"});
    assert_eq!(world.refused("POST", "/appr_none", approve.clone()).await.0, 404);
    // A key may not, however well it is meant.
    let new = NewKey { name: "a".to_owned(), ..NewKey::default() };
    let (_, key) = world.store.create_key(new).await.unwrap();
    assert_eq!(world.send(key.expose(), "GET", "", json!({})).await.0, 403);
    assert_eq!(world.send(key.expose(), "POST", &path, approve).await.0, 403);
    assert_eq!(world.send("", "GET", "", json!({})).await.0, 401);
    assert!(!asked.is_finished());
    asked.abort();
}
