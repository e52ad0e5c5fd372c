//! Keys by the API of the operator.

use axum::http::Request;
use axum::middleware::from_fn_with_state;
use tempfile::TempDir;
use tower_service::Service;

use super::*;
use crate::access::{Access, authenticate};
use crate::test_http::{Answer, with_json};

const MASTER: &str = "the-master-key-of-all";

struct Client {
    router: Router,
    _home: TempDir,
}

async fn client(master: Option<&str>) -> Client {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let access = Access::new(store.clone(), master);
    let backends = vec!["embedded".to_owned(), "cloud".to_owned()];
    let router = AdminDoor { store, backends }.router().layer(from_fn_with_state(access, authenticate));
    Client { router, _home: home }
}

impl Client {
    async fn send(&self, key: &str, method: &str, path: &str, body: Value) -> (u16, Value) {
        let request = Request::builder().method(method).uri(format!("/v1/admin/keys{path}"));
        let request = request.header("authorization", format!("Bearer {key}"));
        let response = self.router.clone().call(with_json(request, Some(body))).await.unwrap();
        let answer = Answer::of(response).await;
        (answer.status, answer.json())
    }

    async fn ok(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, body) = self.send(MASTER, method, path, body).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    async fn refused(&self, method: &str, path: &str, body: Value) -> (u16, String) {
        let (status, body) = self.send(MASTER, method, path, body).await;
        (status, body["error"]["message"].as_str().unwrap().to_owned())
    }
}

#[tokio::test]
async fn a_key_is_made_shown_limited_and_revoked() {
    let client = client(Some(MASTER)).await;
    let wish = json!({"name": "ci", "owner": "team", "limits": {"containers": 2}, "expires_in_seconds": 60});
    let made = client.ok("POST", "", wish).await;
    let (id, secret) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    assert_eq!((&made["owner"], &made["limits"]), (&json!("team"), &json!({"containers": 2})));
    assert_eq!(made["expires_at"].as_u64().unwrap() - made["created_at"].as_u64().unwrap(), 60);
    let path = format!("/{id}");
    let shown = client.ok("GET", &path, json!({})).await;
    let listed = client.ok("GET", "", json!({})).await;
    assert_eq!((&listed["data"], &listed["has_more"]), (&json!([shown]), &json!(false)));
    assert!(!listed.to_string().contains(secret) && shown.get("key").is_none());
    let change = json!({"limits": {"containers": null, "executions": 1}});
    assert_eq!(client.ok("PATCH", &path, change).await["limits"], json!({"executions": 1}));
    // The key itself may not.
    for (method, path) in
        [("GET", ""), ("POST", ""), ("GET", path.as_str()), ("PATCH", &path), ("DELETE", &path)]
    {
        let (status, body) = client.send(secret, method, path, json!({"name": "x", "limits": {}})).await;
        assert_eq!(
            (status, &body["error"]["code"]),
            (403, &json!("insufficient_permissions")),
            "{method} {path}"
        );
    }
    let gone = client.ok("DELETE", &path, json!({})).await;
    assert_eq!((&gone["id"], &gone["deleted"]), (&json!(id), &json!(true)));
    assert_eq!(client.send(secret, "GET", "", json!({})).await.0, 401);
    assert!(client.ok("GET", &path, json!({})).await["revoked_at"].is_u64());
}

#[tokio::test]
async fn what_is_wrong_with_a_key_is_named() {
    let client = client(Some(MASTER)).await;
    for (wish, words) in [
        (json!({}), "'name'"),
        (json!({"name": ""}), "1 to 200"),
        (json!({"name": "a\u{7}"}), "control"),
        (json!({"name": 7}), "a string"),
        (json!({"name": "a", "owner": "master"}), "'master'"),
        (json!({"name": "a", "owner": "a b"}), "letters"),
        (json!({"name": "a", "limit": {}}), "'limit'"),
        (json!({"name": "a", "limits": []}), "an object"),
        (json!({"name": "a", "limits": {"container": 1}}), "container"),
        (json!({"name": "a", "limits": {"containers": -1}}), "Invalid 'limits'"),
        (json!({"name": "a", "limits": {"requests_per_minute": 0}}), "at least 1"),
        (json!({"name": "a", "expires_in_seconds": 0}), "1 at least"),
        (json!({"name": "a", "expires_in_seconds": "60"}), "whole number"),
    ] {
        let (status, message) = client.refused("POST", "", wish.clone()).await;
        assert_eq!(status, 400, "{wish}");
        assert!(message.contains(words), "{wish}: {message}");
    }
    assert_eq!(client.ok("GET", "", json!({})).await["data"], json!([]));
    assert_eq!(client.refused("GET", "/key_none", json!({})).await.0, 404);
    assert_eq!(client.refused("DELETE", "/key_none", json!({})).await.0, 404);
    assert_eq!(client.refused("PATCH", "/key_none", json!({"limits": {}})).await.0, 404);
    assert_eq!(client.refused("PATCH", "/key_none", json!({})).await.0, 400);
}

#[tokio::test]
async fn without_a_master_key_nobody_is_the_operator() {
    let client = client(None).await;
    let (status, message) = client.refused("POST", "", json!({"name": "a"})).await;
    assert_eq!(status, 403);
    assert!(message.contains("SANDGATE_MASTER_KEY"), "{message}");
}

#[tokio::test]
async fn a_key_is_bound_to_a_backend_that_is_there() {
    let client = client(Some(MASTER)).await;
    let wish = json!({"name": "a", "limits": {"backend": "nowhere"}});
    let (status, said) = client.refused("POST", "", wish).await;
    assert!(status == 400 && said.contains("there is: embedded, cloud"), "{status} {said}");
    let made = client.ok("POST", "", json!({"name": "a", "limits": {"backend": "cloud"}})).await;
    let path = format!("/{}", made["id"].as_str().unwrap());
    let (status, said) = client.refused("PATCH", &path, json!({"limits": {"backend": ""}})).await;
    assert!(status == 400 && said.contains("no backend ''"), "{status} {said}");
    let left = client.ok("PATCH", &path, json!({"limits": {"backend": null, "containers": 1}})).await;
    assert_eq!(left["limits"], json!({"containers": 1}));
}

#[tokio::test]
async fn a_wrong_method_is_said_in_words() {
    let client = client(Some(MASTER)).await;
    for path in ["", "/key_1"] {
        let (status, body) = client.send(MASTER, "PUT", path, json!({})).await;
        assert_eq!((status, &body["error"]["code"]), (405, &json!("method_not_allowed")), "{path}");
    }
}
