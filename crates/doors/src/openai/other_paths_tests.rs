//! Which of the upstream's paths can be asked for through us.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use crate::openai::test_client::client;

#[tokio::test]
async fn what_is_the_operators_is_not_passed_on() {
    let client = client().await;
    for path in [
        "/v1/fine_tuning/jobs",
        "/v1/batches",
        "/v1/organization/usage",
        "/v1/embeddings/x",
        "/v2/embeddings",
    ] {
        client.post(path, json!({})).await.refused(404, None, Some("unknown_url"));
    }
    // Loopback has no such path; and nobody deletes or lists what is the operator's.
    assert_eq!(client.post("/v1/embeddings", json!({})).await.status, 404);
    assert_eq!(client.get("/v1/embeddings").await.status, 404);
    assert_eq!(client.get("/v1/chat/completions").await.status, 405);
    assert_eq!(client.delete("/v1/models/m").await.status, 405);
}

#[tokio::test]
async fn one_model_of_the_list() {
    let client = client().await;
    assert_eq!(client.get("/v1/models/loopback").await.good()["id"], "loopback");
    client.get("/v1/models/org/other").await.refused(404, Some("model"), Some("model_not_found"));
    // A name that is not text.
    client.get("/v1/models/%ff").await.refused(404, None, Some("unknown_url"));
}

#[tokio::test]
async fn websockets_are_refused_in_words() {
    let client = client().await;
    for path in ["/v1/realtime", "/v1/responses"] {
        let request = Request::get(path).header("connection", "upgrade").header("upgrade", "WebSocket");
        let answer = client.send(request.body(Body::empty()).unwrap()).await;
        answer.refused(400, None, Some("websocket_not_supported"));
    }
}
