//! The life of a sandbox, as the SDKs see it on the wire.

use std::time::Duration;

use sandgate_core::now_ms;
use serde_json::{Value, json};

use super::super::test_client::{KEY, client, client_with, least};
use super::super::{DOOR, OpenSandboxSettings};
use crate::lent::iso;

/// No null anywhere: the SDKs stumble over them.
fn assert_no_null(value: &Value) {
    match value {
        Value::Null => panic!("a null"),
        Value::Array(items) => items.iter().for_each(assert_no_null),
        Value::Object(fields) => fields.values().for_each(assert_no_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn a_name_that_is_not_text_is_nobodys() {
    let client = client().await;
    let none = client.get("/v1/sandboxes/%ff%fe").await;
    assert_eq!((none.status, none.field("code").as_str()), (404, "DOCKER::SANDBOX_NOT_FOUND"));
    let none = client.get("/v1/sandboxes/%ff/endpoints/80").await;
    assert_eq!((none.status, none.field("code").as_str()), (400, "DOCKER::INVALID_PORT"));
}

#[tokio::test]
async fn a_sandbox_is_made_found_and_ended() {
    let client = client().await;
    let answer = client.post("/v1/sandboxes", least()).await;
    assert_eq!(answer.status, 202);
    let made = answer.json();
    assert_no_null(&made);
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!(id.len(), 36);
    assert_eq!(answer.headers["location"], format!("/v1/sandboxes/{id}").as_str());
    assert_eq!(made["status"]["state"], "Running");
    assert_eq!(made["entrypoint"], json!(["tail", "-f", "/dev/null"]));
    assert!(made.get("image").is_none() && made.get("metadata").is_none());
    let found = client.get(&format!("/v1/sandboxes/{id}")).await;
    assert_eq!((found.status, &found.json()["image"]), (200, &json!({"uri": "python"})));
    assert_no_null(&found.json());
    assert_eq!(client.ask("bob", "GET", &format!("/v1/sandboxes/{id}"), None).await.status, 404);
    assert_eq!(client.ask("bob", "DELETE", &format!("/v1/sandboxes/{id}"), None).await.status, 404);
    let ended = client.ask(KEY, "DELETE", &format!("/v1/sandboxes/{id}"), None).await;
    assert_eq!((ended.status, ended.body.len()), (204, 0));
    let gone = client.get(&format!("/v1/sandboxes/{id}")).await;
    assert_eq!((gone.status, gone.field("code").as_str()), (404, "DOCKER::SANDBOX_NOT_FOUND"));
}

#[tokio::test]
async fn one_without_an_end_says_none() {
    let client = client().await;
    let id = client.make(&json!({"timeout": null})).await;
    let shown = client.get(&format!("/v1/sandboxes/{id}")).await.json();
    assert!(shown.get("expiresAt").is_none());
    let renewed = client
        .post(&format!("/v1/sandboxes/{id}/renew-expiration"), json!({"expiresAt": iso(now_ms() + 600_000)}))
        .await;
    assert_eq!((renewed.status, renewed.field("code").as_str()), (409, "DOCKER::INVALID_EXPIRATION"));
}

#[tokio::test]
async fn keys_are_asked_for_in_their_words() {
    let backend = std::sync::Arc::new(sandgate_core::testing::ScriptedBackend::default());
    let client = client_with(backend, OpenSandboxSettings::default(), Some("the-master-key")).await;
    let ask = async |key: &str| {
        let answer = client.ask(key, "GET", "/v1/sandboxes", None).await;
        (answer.status, answer.field("code"))
    };
    assert_eq!(ask("").await, (401, "MISSING_API_KEY".to_owned()));
    assert_eq!(ask("wrong").await, (401, "INVALID_API_KEY".to_owned()));
    assert_eq!(ask("the-master-key").await.0, 200);
    assert_eq!(client.ask("", "GET", "/version", None).await.status, 200);
    assert_eq!(client.ask("", "POST", "/v1/metrics/events", Some(json!({}))).await.status, 401);
}

#[tokio::test]
async fn pausing_and_resuming_are_told_apart() {
    let client = client().await;
    let id = client.make(&json!({})).await;
    let post = async |what: &str| {
        let answer = client.ask(KEY, "POST", &format!("/v1/sandboxes/{id}/{what}"), None).await;
        (answer.status, answer.field("code"))
    };
    assert_eq!(post("resume").await, (409, "DOCKER::SANDBOX_NOT_PAUSED".to_owned()));
    assert_eq!(post("pause").await, (202, String::new()));
    assert_eq!(post("pause").await, (409, "DOCKER::SANDBOX_NOT_RUNNING".to_owned()));
    let state = async || client.get(&format!("/v1/sandboxes/{id}")).await.json()["status"]["state"].clone();
    assert_eq!(state().await, "Paused");
    let before = client.leases.find(DOOR, &id).unwrap().ends_ms;
    assert_eq!(post("resume").await, (202, String::new()));
    assert_eq!(state().await, "Running");
    assert_eq!(client.leases.find(DOOR, &id).unwrap().ends_ms, before);
}

#[tokio::test]
async fn its_time_goes_on_while_it_is_paused() {
    let client = client().await;
    let id = client.make(&json!({})).await;
    client.ask(KEY, "POST", &format!("/v1/sandboxes/{id}/pause"), None).await;
    client.leases.set_end(&id, Some(now_ms() - 1)).await.unwrap();
    assert_eq!(client.get(&format!("/v1/sandboxes/{id}")).await.status, 404);
    client.leases.end_due().await;
    client.leases.settled().await;
    assert!(client.leases.all(DOOR).is_empty());
}

#[tokio::test]
async fn the_end_is_a_moment_in_the_future() {
    let client = client().await;
    let id = client.make(&json!({})).await;
    let renew = async |until: Value| {
        let body = json!({"expiresAt": until});
        let answer = client.post(&format!("/v1/sandboxes/{id}/renew-expiration"), body).await;
        (answer.status, answer.json())
    };
    let later = iso(now_ms() / 1000 * 1000 + 3_600_000);
    assert_eq!(renew(json!(later)).await, (200, json!({"expiresAt": later})));
    let (status, sooner) = renew(json!("2099-01-01T00:00:00.5")).await;
    assert_eq!((status, &sooner["code"]), (400, &json!("DOCKER::INVALID_EXPIRATION")));
    assert_eq!(renew(json!("2020-01-01T00:00:00Z")).await.0, 400);
    assert_eq!(renew(json!("soon")).await.0, 422);
    assert_eq!(renew(Value::Null).await.0, 422);
    let shorter = iso(now_ms() / 1000 * 1000 + 30_000).replace('Z', "+00:00");
    assert_eq!(renew(json!(shorter)).await.0, 200);
}

#[tokio::test]
async fn metadata_is_merged() {
    let client = client().await;
    let id = client.make(&json!({"metadata": {"a": "1", "b": "2"}})).await;
    let patch = json!({"a": null, "c": "3"});
    let patched = client.ask(KEY, "PATCH", &format!("/v1/sandboxes/{id}/metadata"), Some(patch)).await;
    assert_eq!((patched.status, &patched.json()["metadata"]), (200, &json!({"b": "2", "c": "3"})));
    let wrong =
        client.ask(KEY, "PATCH", &format!("/v1/sandboxes/{id}/metadata"), Some(json!({"a": "&"}))).await;
    assert_eq!((wrong.status, wrong.field("code").as_str()), (400, "SANDBOX::INVALID_METADATA_LABEL"));
}

#[tokio::test]
async fn lists_are_by_state_and_metadata_page_by_page() {
    let client = client().await;
    let mut ids = Vec::new();
    for number in 0..5 {
        let metadata = json!({"team": if number % 2 == 0 { "even" } else { "odd" }, "n": number.to_string()});
        ids.push(client.make(&json!({"metadata": metadata})).await);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    client.ask(KEY, "POST", &format!("/v1/sandboxes/{}/pause", ids[0]), None).await;
    let found = async |query: &str| {
        let answer = client.get(&format!("/v1/sandboxes?{query}")).await;
        assert_eq!(answer.status, 200, "{query}: {answer:?}");
        let body = answer.json();
        assert_no_null(&body);
        let items = body["items"].as_array().unwrap().iter();
        let numbers: Vec<_> = items.map(|item| item["metadata"]["n"].as_str().unwrap().to_owned()).collect();
        (numbers.join(""), body["pagination"].clone())
    };
    assert_eq!(found("").await.0, "43210");
    assert_eq!(found("metadata=team%3Deven").await.0, "420");
    assert_eq!(found("metadata=team%3Deven%26n%3D2").await.0, "2");
    assert_eq!(found("state=Paused").await.0, "0");
    assert_eq!(found("state=Paused&state=Running&metadata=team%3Dodd").await.0, "31");
    assert_eq!(found("state=Failed").await.0, "");
    let (second, pages) = found("page=2&pageSize=2").await;
    assert_eq!(second, "21");
    let expected = json!({"page": 2, "pageSize": 2, "totalItems": 5, "totalPages": 3, "hasNextPage": true});
    assert_eq!(pages, expected);
    assert_eq!(found("page=3&pageSize=2").await.1["hasNextPage"], false);
    assert_eq!(client.get("/v1/sandboxes?metadata=team").await.field("code"), "INVALID_METADATA_FORMAT");
    for query in ["page=0", "pageSize=201", "pageSize=x"] {
        assert_eq!(client.get(&format!("/v1/sandboxes?{query}")).await.status, 422, "{query}");
    }
    assert_eq!(client.ask("bob", "GET", "/v1/sandboxes", None).await.json()["items"], json!([]));
}

#[tokio::test]
async fn endpoints_lead_back_through_this_server() {
    let client = client().await;
    let id = client.make(&json!({})).await;
    for mode in ["", "?use_server_proxy=true", "?use_server_proxy=false"] {
        let answer = client.get(&format!("/v1/sandboxes/{id}/endpoints/44772{mode}")).await;
        assert_eq!(answer.status, 200);
        let endpoint = answer.json()["endpoint"].as_str().unwrap().to_owned();
        assert_eq!(endpoint, format!("localhost:4000/v1/sandboxes/{id}/proxy/44772"));
    }
    assert_eq!(
        client.get(&format!("/v1/sandboxes/{id}/endpoints/0")).await.field("code"),
        "DOCKER::INVALID_PORT"
    );
    assert_eq!(client.get(&format!("/v1/sandboxes/{id}/endpoints/80?expires=99")).await.status, 400);
    assert_eq!(client.ask("bob", "GET", &format!("/v1/sandboxes/{id}/endpoints/80"), None).await.status, 404);
}

#[tokio::test]
async fn what_is_not_here_says_so() {
    let client = client().await;
    let id = client.make(&json!({})).await;
    assert_eq!(client.get("/v1/templates").await.status, 501);
    assert_eq!(client.get("/v1/templates/t").await.status, 501);
    assert_eq!(client.get("/v1/pools").await.status, 501);
    assert_eq!(client.get(&format!("/v1/sandboxes/{id}/networkpolicy")).await.status, 501);
    assert_eq!(client.get(&format!("/v1/sandboxes/{id}/nonsense")).await.status, 404);
    assert_eq!(client.ask(KEY, "PUT", "/v1/sandboxes", None).await.status, 405);
}
