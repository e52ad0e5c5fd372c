use axum::http::{HeaderName, HeaderValue};

use super::*;

fn with(name: &'static str, value: &'static [u8]) -> HeaderMap {
    let value = HeaderValue::from_bytes(value).unwrap();
    HeaderMap::from_iter([(HeaderName::from_static(name), value)])
}

#[test]
fn headers_become_attributes() {
    let kept = attributes(&with("x-metadata-author", b"ana")).unwrap();
    assert_eq!(kept, BTreeMap::from([("e2b.author".to_owned(), "ana".to_owned())]));
    assert!(attributes(&with("x-other", b"1")).unwrap().is_empty());
}

#[test]
fn what_cannot_be_kept_is_refused() {
    assert!(attributes(&with("x-metadata-", b"1")).is_err());
    assert!(attributes(&with("x-metadata-a", b"\xff")).is_err());
    let long = HeaderName::try_from(format!("x-metadata-{}", "k".repeat(201))).unwrap();
    assert!(attributes(&HeaderMap::from_iter([(long, HeaderValue::from_static("1"))])).is_err());
    let many = (0..65).map(|number| {
        (HeaderName::try_from(format!("x-metadata-{number}")).unwrap(), HeaderValue::from_static("1"))
    });
    assert!(attributes(&many.collect()).is_err());
}
