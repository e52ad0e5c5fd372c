//! Bodies that are not as they must be.

use axum::body::Body;
use axum::http::Request as HttpRequest;

use super::super::super::test_client::{KEY, client};
use super::*;

#[tokio::test]
async fn what_is_no_object_is_told_in_the_frameworks_way() {
    let client = client().await;
    let send = async |kind: &str, body: &str| {
        let request = HttpRequest::post("/v1/sandboxes")
            .header("host", "localhost")
            .header("open-sandbox-api-key", KEY)
            .header("content-type", kind);
        let answer = client.send(request.body(Body::from(body.to_owned())).unwrap()).await;
        assert_eq!(answer.status, 422, "{body}");
        answer.json()["detail"][0]["type"].as_str().unwrap().to_owned()
    };
    assert_eq!(send("application/json", "").await, "missing");
    assert_eq!(send("application/json", "[1]").await, "dict_type");
    assert_eq!(send("application/json", "{").await, "json_invalid");
    assert_eq!(send("text/plain", "{}").await, "model_attributes_type");
}

#[test]
fn secrets_are_not_said_back() {
    let mut problems = Problems::default();
    let fields = json!({"env": {"TOKEN": "hush"}, "image": {"uri": "x", "auth": {"password": "hush"}}});
    problems.value("no", fields.as_object().unwrap());
    assert!(!json!(problems.0).to_string().contains("hush"));
}
