use serde_json::json;

use super::super::super::double::{frame, place, request};
use super::*;

fn with(name: &'static str, value: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(axum::http::HeaderName::from_static(name), HeaderValue::from_static(value))])
}

#[test]
fn times_are_read_from_headers() {
    let millis = |value| timeout(&with("connect-timeout-ms", value));
    assert_eq!(millis("60000").unwrap(), Some(Duration::from_secs(60)));
    assert_eq!(millis("0").unwrap(), None);
    assert_eq!(timeout(&HeaderMap::new()).unwrap(), None);
    for wrong in ["", "-1", "+5", "1e3", "12345678901"] {
        assert!(millis(wrong).is_err(), "{wrong}");
    }
    assert_eq!(keepalive(&with("keepalive-ping-interval", "50")), Duration::from_secs(50));
    let longest = keepalive(&with("keepalive-ping-interval", "18446744073709551615"));
    assert_eq!(longest, Duration::from_secs(LONGEST_KEEPALIVE));
    for wrong in ["0", "x"] {
        assert_eq!(keepalive(&with("keepalive-ping-interval", wrong)), USUAL_KEEPALIVE);
    }
}

#[tokio::test]
async fn root_is_refused_by_calls_and_streams() {
    let place = place().await;
    let head =
        "POST /filesystem.Filesystem/Stat\ncontent-type: application/json\nauthorization: Basic cm9vdDo=";
    let (status, _, body) = place.ask(head, "{}").await;
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((status, &body["code"]), (401, &json!("unauthenticated")));
    let head =
        "POST /process.Process/Start\ncontent-type: application/connect+json\nauthorization: Basic cm9vdDo=";
    let (status, _, body) = place.ask(head, frame(0, b"{}")).await;
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((status, &body["code"]), (401, &json!(401)));
}

#[tokio::test]
async fn a_call_in_protobuf_is_answered_in_protobuf() {
    let place = place().await;
    let head = "POST /filesystem.Filesystem/Stat\ncontent-type: application/proto";
    let (status, headers, body) = place.ask(head, &b"\x0a\x04/tmp"[..]).await;
    assert_eq!((status, &headers[CONTENT_TYPE]), (200, &HeaderValue::from_static("application/proto")));
    let told =
        <super::super::super::messages::filesystem::EntryResponse as prost::Message>::decode(&body[..]);
    assert_eq!(told.unwrap().entry.unwrap().path, "/tmp");
    // Errors are JSON in both.
    let (status, headers, body) = place.ask(head, &b"\x0a\x03/no"[..]).await;
    assert_eq!((status, &headers[CONTENT_TYPE]), (404, &HeaderValue::from_static("application/json")));
    assert!(String::from_utf8(body).unwrap().contains("not_found"));
}

#[tokio::test]
async fn a_message_past_the_limit_is_refused() {
    let place = place().await;
    let head = "POST /filesystem.Filesystem/Stat\ncontent-type: application/json";
    let (status, _, body) = place.ask(head, vec![b' '; LARGEST_MESSAGE + 1]).await;
    assert_eq!(status, 429);
    assert!(String::from_utf8(body).unwrap().contains("resource_exhausted"));
}

#[tokio::test]
async fn what_is_not_there_is_404_with_both_fields() {
    let place = place().await;
    for head in
        ["POST /init", "POST /freeze", "GET /process.Process/Start", "POST /filesystem.Filesystem/Nothing"]
    {
        let (status, _, body) = place.ask(head, "").await;
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!((status, &body["code"]), (404, &json!(404)), "{head}");
        assert!(body["message"].is_string());
    }
    let response = place.send(request("GET /health", "")).await;
    assert_eq!(response.status(), 204);
}
