//! A server that stops lets what is under way come to its end, and says no in the words of each door.

use super::*;

async fn said(api: &str) -> serde_json::Value {
    let body = refusal(api).into_body();
    serde_json::from_slice(&axum::body::to_bytes(body, 10_000).await.unwrap()).unwrap()
}

#[tokio::test]
async fn only_what_is_about_work_under_way_is_admitted() {
    let stopping = Stopping::new(TaskTracker::new(), CancellationToken::new());
    assert!(stopping.admit(&Method::POST, "/v1/responses", "responses").is_ok());
    stopping.begin();
    for (method, path, admitted) in [
        (Method::GET, "/metrics", true),
        (Method::GET, "/v1/admin/approvals", true),
        (Method::POST, "/v1/admin/approvals/appr_1", true),
        (Method::GET, "/v1/responses/resp_1", true),
        (Method::POST, "/v1/responses/resp_1/cancel", true),
        (Method::POST, "/v1/responses", false),
        (Method::DELETE, "/v1/responses/resp_1", false),
        (Method::GET, "/v1/admin/approvalsx", false),
        (Method::GET, "/v1/admin/keys", false),
        (Method::GET, "/health", false),
    ] {
        assert_eq!(stopping.admit(&method, path, "other").is_ok(), admitted, "{method} {path}");
    }
    Stops::begun(Some(Extension(stopping.told()))).await;
}

#[tokio::test]
async fn each_door_says_no_in_its_own_words() {
    assert_eq!(said(E2B).await["code"], 503);
    assert_eq!(said(OPENSANDBOX).await["code"], "SERVER_STOPPING");
    assert_eq!(said("responses").await["error"]["code"], "shutting_down");
}

#[tokio::test]
async fn a_path_inside_a_sandbox_is_none_of_the_servers_own() {
    let stopping = Stopping::new(TaskTracker::new(), CancellationToken::new());
    stopping.begin();
    for path in ["/metrics", "/health", "/v1/responses/resp_1"] {
        let refused = stopping.admit(&Method::GET, path, E2B).unwrap_err();
        let body = axum::body::to_bytes(refused.into_body(), 10_000).await.unwrap();
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&body).unwrap()["code"], 503, "{path}");
    }
}
