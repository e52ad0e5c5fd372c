//! What is said of a network that is not there.

use axum::body::Body;
use axum::http::Request as HttpRequest;
use serde_json::json;

use super::super::test_client::{Answer, Client, client};
use super::*;

async fn ask(client: &Client, id: &str, method: &str, path: &str, body: Value) -> Answer {
    let (name, token) = client.token(id, super::super::EGRESS_PORT).await;
    let request = HttpRequest::builder()
        .method(method)
        .uri(format!("/v1/sandboxes/{id}/proxy/18080{path}"))
        .header("host", "localhost")
        .header(name, token);
    client.send(request.body(Body::from(body.to_string())).unwrap()).await
}

#[tokio::test]
async fn everything_is_denied_and_that_is_told() {
    let client = client().await;
    let allows = json!({"defaultAction": "deny", "egress": [
        {"action": "allow", "target": "example.org"}, {"action": "deny", "target": "bad.example"}]});
    let id = client.make(&json!({"networkPolicy": allows})).await;
    let told = ask(&client, &id, "GET", "/policy", Value::Null).await.json();
    let denied = json!([{"action": "deny", "target": "bad.example"}]);
    assert_eq!(told["policy"], json!({"defaultAction": "deny", "egress": denied}));
    assert_eq!(told["mode"], "deny_all");
    assert!(told["reason"].as_str().unwrap().contains("no network"));
    let shown = client.get(&format!("/v1/sandboxes/{id}")).await.json();
    assert!(shown["status"]["message"].as_str().unwrap().contains("no network"));

    let plain = client.make(&json!({"networkPolicy": {"defaultAction": "deny", "egress": []}})).await;
    let told = ask(&client, &plain, "GET", "/policy", Value::Null).await.json();
    assert!(told.get("reason").is_none(), "{told}");
    assert_eq!(ask(&client, &plain, "GET", "/healthz", Value::Null).await.status, 200);
}

#[tokio::test]
async fn rules_that_deny_are_kept_and_others_refused() {
    let client = client().await;
    let id = client.make(&json!({})).await;
    let deny = |target: &str| json!({"action": "deny", "target": target});
    let merged = ask(&client, &id, "PATCH", "/policy", json!([deny("a.example"), deny("b.example")])).await;
    assert_eq!(merged.status, 200, "{merged:?}");
    assert_eq!(merged.json()["policy"]["egress"], json!([deny("a.example"), deny("b.example")]));
    let left = ask(&client, &id, "DELETE", "/policy", json!(["a.example", "none.example"])).await;
    assert_eq!(left.json()["policy"]["egress"], json!([deny("b.example")]));
    let allow = json!([{"action": "allow", "target": "a.example"}]);
    assert_eq!(ask(&client, &id, "PATCH", "/policy", allow).await.status, 400);
    assert_eq!(ask(&client, &id, "PUT", "/policy", json!({"defaultAction": "allow"})).await.status, 400);
    assert_eq!(ask(&client, &id, "PUT", "/policy", json!({"defaultAction": "deny"})).await.status, 200);
    for wrong in [json!({}), json!([{"action": "deny"}]), json!([1])] {
        assert_eq!(ask(&client, &id, "PATCH", "/policy", wrong.clone()).await.status, 400, "{wrong}");
    }
    assert_eq!(ask(&client, &id, "POST", "/credential-vault", json!({})).await.status, 501);
}
