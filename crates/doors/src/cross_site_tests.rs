//! Whose requests are of another site.

use axum::http::HeaderValue;

use super::*;

fn refused(origin: Option<&'static str>) -> bool {
    let mut headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static("localhost:4000"))]);
    if let Some(origin) = origin {
        headers.insert(ORIGIN, HeaderValue::from_static(origin));
    }
    is_of_another_site(&headers, &Uri::from_static("/v1/files"))
}

#[test]
fn programs_and_our_own_pages_are_answered() {
    for origin in [None, Some("http://localhost:4000"), Some("http://LOCALHOST:4000")] {
        assert!(!refused(origin), "{origin:?}");
    }
}

#[test]
fn pages_of_others_are_not() {
    for origin in [
        "null",
        "",
        "https://evil.example",
        "http://localhost:3000",
        "http://localhost",
        "http://localhost:4000.evil",
    ] {
        assert!(refused(Some(origin)), "{origin:?}");
    }
    let headers = HeaderMap::from_iter([(ORIGIN, HeaderValue::from_static("http://a"))]);
    assert!(is_of_another_site(&headers, &Uri::from_static("/")));
}
