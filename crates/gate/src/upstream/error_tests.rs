//! What clients read of an upstream's failure.

use ::http::{HeaderMap, StatusCode};
use bytes::Bytes;

use super::UpstreamError;

fn status(code: u16, body: &'static str) -> UpstreamError {
    let status = StatusCode::from_u16(code).unwrap();
    UpstreamError::Status {
        status,
        headers: Box::new(HeaderMap::new()),
        body: Bytes::from_static(body.as_bytes()),
    }
}

#[test]
fn the_upstreams_own_words_are_kept() {
    let said = status(429, r#"{"error":{"message":"Slow down.","code":"too_fast"}}"#).said();
    assert_eq!((said.code.as_str(), said.message.as_str()), ("too_fast", "Slow down."));
    assert_eq!(status(500, r#"{"error":"oops"}"#).said().message, "oops");
}

#[test]
fn without_words_of_its_own_the_status_is_said() {
    let said = status(502, "<html>bad gateway</html>").said();
    assert_eq!((said.kind, said.code.as_str()), ("server_error", "server_error"));
    assert_eq!(said.message, "the upstream answered with status 502");
}

#[test]
fn a_refusal_of_ours_looks_like_the_upstreams() {
    let said = UpstreamError::refused("Not here.", Some("tools[0].type")).said();
    assert_eq!((said.kind, said.message.as_str()), ("invalid_request_error", "Not here."));
}
