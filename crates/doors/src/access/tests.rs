//! Who is let in, and what a request still carries behind the door.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request as HttpRequest;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use sandgate_core::KeyLimits;
use sandgate_store::NewKey;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower_service::Service;

use super::*;
use crate::owner::Who;

struct Gate {
    router: Router,
    store: Store,
    _home: TempDir,
}

/// Says who came, and which headers with secrets came along.
async fn gate(master: Option<&str>) -> Gate {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let says = async |Who(who): Who, headers: HeaderMap| {
        let secrets: Vec<_> = headers
            .keys()
            .filter(|name| name.as_str().ends_with("tion") || name.as_str().ends_with("-key"))
            .collect();
        format!("{} {:?} {secrets:?}", who.owner, who.rank)
    };
    let access = Access::new(store.clone(), master);
    let router = Router::new().route("/who", get(says)).route("/health", get(async || "ok"));
    Gate { router: router.layer(from_fn_with_state(access, authenticate)), store, _home: home }
}

impl Gate {
    async fn ask(&self, path: &str, key: &str, host: &str) -> (u16, String, Option<String>) {
        let mut request = HttpRequest::get(path).header("host", host);
        if !key.is_empty() {
            request = request.header("authorization", format!("Bearer {key}")).header("x-api-key", key);
        }
        let response = self.router.clone().call(request.body(Body::empty()).unwrap()).await.unwrap();
        let retry = response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap(), retry)
    }

    async fn who(&self, key: &str) -> (u16, String) {
        let (status, body, _) = self.ask("/who", key, "localhost").await;
        (status, body)
    }

    async fn key(&self, new: NewKey) -> (String, String) {
        let (record, secret) = self.store.create_key(NewKey { name: "k".to_owned(), ..new }).await.unwrap();
        (record.id, secret.expose().to_owned())
    }
}

fn error(body: &str) -> Value {
    serde_json::from_str::<Value>(body).unwrap()["error"].clone()
}

#[tokio::test]
async fn without_keys_everybody_on_this_machine_is_let_in() {
    let gate = gate(None).await;
    assert_eq!(gate.who("").await, (200, "anonymous Open []".to_owned()));
    let (status, said) = gate.who("sk-any").await;
    assert_eq!(status, 200);
    assert!(said.contains("Open [\"authorization\", \"x-api-key\"]"), "{said}");
    assert_eq!(gate.ask("/who", "", "evil.example").await.0, 421);
    assert_eq!(gate.ask("/health", "", "evil.example").await.0, 421);
}

#[tokio::test]
async fn a_master_key_closes_the_door() {
    let gate = gate(Some("the-master-key-of-all")).await;
    let (status, body) = gate.who("").await;
    assert_eq!((status, error(&body)["code"].clone()), (401, Value::Null));
    assert!(error(&body)["message"].as_str().unwrap().starts_with("You didn't provide an API key."));
    let (status, body) = gate.who("sg-abcdefghijkl").await;
    assert_eq!(status, 401);
    let said = json!({"message": "Incorrect API key provided: sg-ab***.", "type": "invalid_request_error", "param": null, "code": "invalid_api_key"});
    assert_eq!(error(&body), said);
    assert_eq!(gate.who("the-master-key-of-all").await, (200, "master Master []".to_owned()));
    // Any name is fine now, and the health needs no key.
    assert_eq!(gate.ask("/who", "the-master-key-of-all", "gate.example").await.0, 200);
    assert_eq!(gate.ask("/health", "", "gate.example").await.0, 200);
    assert_eq!(gate.ask("/nowhere", "", "gate.example").await.0, 401);
}

#[tokio::test]
async fn a_key_that_nobody_used_yet_closes_the_door_within_a_moment() {
    let gate = gate(None).await;
    assert_eq!(gate.who("any").await.0, 200);
    gate.key(NewKey::default()).await;
    tokio::time::sleep(2 * super::OPEN_FOR).await;
    assert_eq!(gate.who("any").await.0, 401);
}

#[tokio::test]
async fn the_first_key_closes_the_door_for_good() {
    let gate = gate(None).await;
    assert_eq!(gate.who("any").await.0, 200);
    let (id, key) = gate.key(NewKey::default()).await;
    assert_eq!(gate.who(&key).await, (200, format!("{id} Key(\"{id}\") []")));
    assert_eq!(gate.who("any").await.0, 401);
    assert_eq!(gate.who("").await.0, 401);
    gate.store.revoke_key(&id).await.unwrap();
    let (status, body) = gate.who(&key).await;
    assert_eq!(status, 401);
    assert!(error(&body)["message"].as_str().unwrap().starts_with("Incorrect API key provided: sg-"));
    assert!(!body.contains(&key));
    assert_eq!(gate.who("any").await.0, 401);
    assert_eq!(gate.who("").await.0, 401);
}

#[tokio::test]
async fn an_expired_key_is_told_so() {
    let gate = gate(None).await;
    let (_, key) = gate.key(NewKey { expires_in_seconds: Some(0), ..NewKey::default() }).await;
    let (status, body) = gate.who(&key).await;
    assert_eq!((status, error(&body)["code"].clone()), (401, json!("invalid_api_key")));
    assert!(error(&body)["message"].as_str().unwrap().contains("has expired"), "{body}");
}

#[tokio::test]
async fn too_many_requests_are_told_when_to_come_back() {
    let gate = gate(None).await;
    let limits = KeyLimits { requests_per_minute: Some(2), ..KeyLimits::default() };
    let (_, key) = gate.key(NewKey { limits, ..NewKey::default() }).await;
    let (_, other) = gate.key(NewKey::default()).await;
    assert_eq!((gate.who(&key).await.0, gate.who(&key).await.0), (200, 200));
    let (status, body, retry) = gate.ask("/who", &key, "localhost").await;
    assert_eq!((status, error(&body)["code"].clone()), (429, json!("rate_limit_exceeded")));
    assert_eq!(error(&body)["type"], "rate_limit_error");
    assert!(error(&body)["message"].as_str().unwrap().contains("2 requests per minute"), "{body}");
    assert!((1..=30).contains(&retry.unwrap().parse::<u64>().unwrap()));
    assert_eq!(gate.who(&other).await.0, 200);
}

#[tokio::test]
async fn nothing_that_can_be_printed_tells_a_key() {
    let gate = gate(Some("the-master-key-of-all")).await;
    let access = Access::new(gate.store, Some("the-master-key-of-all"));
    assert!(!format!("{access:?}").contains("the-master"));
    let refused = format!("{:?}", NotLetIn::wrong("sg-abcdefghijklmnop"));
    assert!(!refused.contains("cdefg"), "{refused}");
}
