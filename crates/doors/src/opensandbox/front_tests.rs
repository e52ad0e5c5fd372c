//! Whose a path is.

use serde_json::json;

use super::super::test_client::{KEY, client, least};
use super::*;

#[test]
fn only_paths_of_its_own_are_taken() {
    let chosen = |path: &str| {
        let (path, is_versioned) = plain(path);
        way(path, is_versioned)
    };
    for path in ["/v1/sandboxes", "/sandboxes", "/v1/sandboxes/x/pause", "/v1/metrics/events", "/version"] {
        assert_eq!(chosen(path), Way::Lifecycle, "{path}");
    }
    for path in ["/v1/sandboxes/x/proxy/44772/ping", "/sandboxes/x/proxy/8080"] {
        assert_eq!(chosen(path), Way::Proxy, "{path}");
    }
    for path in [
        "/v1/containers",
        "/metrics/events",
        "/metrics",
        "/v1",
        "/v1sandboxes",
        "/health",
        "/",
        "/sandboxesx",
    ] {
        assert_eq!(chosen(path), Way::Others, "{path}");
    }
}

#[tokio::test]
async fn both_forms_of_a_path_are_the_same_and_others_go_on() {
    let client = client().await;
    let made = client.post("/sandboxes", least()).await;
    assert_eq!(made.status, 202, "{made:?}");
    let id = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(client.get(&format!("/v1/sandboxes/{id}")).await.json()["id"], id);
    assert_eq!(client.get("/v1/models").await.text(), "another door");
    assert_eq!(client.get("/version").await.json(), json!({"version": "1.1.1"}));
    let event = json!({"eventType": "sandbox.create", "success": true});
    assert_eq!(client.post("/v1/metrics/events", event).await.status, 204);
    // Each leads back the way it was asked.
    let end = |answer: serde_json::Value| answer["endpoint"].as_str().unwrap().to_owned();
    let bare = end(client.get(&format!("/sandboxes/{id}/endpoints/80")).await.json());
    assert_eq!(bare, format!("localhost:4000/sandboxes/{id}/proxy/80"));
    let versioned = end(client.get(&format!("/v1/sandboxes/{id}/endpoints/80")).await.json());
    assert_eq!(versioned, format!("localhost:4000/v1/sandboxes/{id}/proxy/80"));
}

#[tokio::test]
async fn every_answer_has_the_id_of_its_request() {
    let client = client().await;
    let ask = async |path: &str, id: Option<&str>| {
        let mut request =
            axum::http::Request::get(path).header("host", "localhost").header("open-sandbox-api-key", KEY);
        if let Some(id) = id {
            request = request.header("x-request-id", id);
        }
        let answer = client.send(request.body(axum::body::Body::empty()).unwrap()).await;
        answer.headers["x-request-id"].to_str().unwrap().to_owned()
    };
    assert_eq!(ask("/v1/sandboxes", Some("mine-1")).await, "mine-1");
    assert_eq!(ask("/v1/sandboxes/none", Some("mine-2")).await, "mine-2");
    assert_eq!(ask("/v1/sandboxes/none/proxy/44772/ping", Some("mine-3")).await, "mine-3");
    assert!(!ask("/v1/sandboxes", None).await.is_empty());
}
