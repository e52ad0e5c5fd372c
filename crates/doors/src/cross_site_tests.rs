//! Whose requests are of another site.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::HeaderValue;
use axum::middleware::from_fn;
use tower_service::Service;

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

#[tokio::test]
async fn a_refusal_names_both_sites_and_what_a_proxy_has_to_do() {
    let mut site = Router::new().layer(from_fn(only_same_site));
    let request = Request::post("/console/sign-in").header(HOST, "127.0.0.1:4000");
    let request = request.header(ORIGIN, "https://gate.example").body(Body::empty()).unwrap();
    let refused = site.call(request).await.unwrap();
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let body = to_bytes(refused.into_body(), usize::MAX).await.unwrap();
    let body = String::from_utf8_lossy(&body);
    for word in ["https://gate.example", "127.0.0.1:4000", "proxy", "Host"] {
        assert!(body.contains(word), "{body}");
    }
}
