use axum::http::{HeaderName, HeaderValue};

use super::super::super::messages::filesystem::{ListDirRequest, PathRequest};
use super::*;

fn headers(rows: &[(&'static str, &'static str)]) -> HeaderMap {
    rows.iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect()
}

#[test]
fn the_codec_is_what_the_header_says() {
    let of = |kind| Codec::of_one(&headers(&[("content-type", kind)])).map_err(|refusal| refusal.kind);
    assert_eq!(of("application/json; charset=utf-8"), Ok(Codec::Json));
    assert_eq!(of("application/proto"), Ok(Codec::Proto));
    assert_eq!(of("application/connect+json"), Err(Kind::Unsupported));
    assert_eq!(
        Codec::of_stream(&headers(&[("content-type", "application/connect+proto")])),
        Ok(Codec::Proto)
    );
}

#[test]
fn packed_messages_are_refused_by_name() {
    let gzip = headers(&[("content-type", "application/json"), ("content-encoding", "gzip")]);
    assert!(Codec::of_one(&gzip).unwrap_err().message.contains("'gzip'"));
    let plain = headers(&[("content-type", "application/json"), ("content-encoding", "identity")]);
    assert_eq!(Codec::of_one(&plain), Ok(Codec::Json));
}

#[test]
fn fields_may_be_null_unknown_or_missing() {
    let read = |text: &str| Codec::Json.read::<ListDirRequest>(text.as_bytes());
    let ask = read(r#"{"path":null,"depth":"2","new":{"x":null}}"#).unwrap();
    assert_eq!((ask.path.as_str(), ask.depth), ("", 2));
    assert_eq!(read("").unwrap(), ListDirRequest::default());
    for wrong in
        ["{", "[]", r#"{"depth":-1}"#, r#"{"depth":1.5}"#, r#"{"depth":4294967296}"#, r#"{"path":7}"#]
    {
        assert_eq!(read(wrong).unwrap_err().kind, Kind::Invalid, "{wrong}");
    }
    assert_eq!(read(r#"{"depth":2.0}"#).unwrap().depth, 2);
    // A field of number 9 that nobody knows.
    let ask = Codec::Proto.read::<PathRequest>(b"\x0a\x01/\x4a\x01x").unwrap();
    assert_eq!(ask.path, "/");
    assert!(Codec::Proto.read::<PathRequest>(b"\x0a\xff").is_err());
}
