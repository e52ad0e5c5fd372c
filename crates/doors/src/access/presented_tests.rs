//! Who is who by the header a request came with.

use axum::http::{HeaderName, HeaderValue};

use super::*;

fn of(header: &[u8]) -> Owner {
    let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_bytes(header).unwrap())]);
    open_owner(presented(&headers).as_deref())
}

#[test]
fn the_same_key_is_the_same_owner_however_it_is_written() {
    let key = Owner::of_key("sk-1");
    for header in ["Bearer sk-1", "bearer sk-1", "BEARER   sk-1  "] {
        assert_eq!(of(header.as_bytes()), key, "{header}");
    }
    assert_ne!(of(b"Bearer sk-2"), key);
    assert_ne!(of(b"Basic sk-1"), key);
    assert_ne!(of(b"Bearer \xff"), Owner::anonymous());
}

#[test]
fn without_a_key_one_is_anonymous() {
    assert_eq!(open_owner(presented(&HeaderMap::new()).as_deref()), Owner::anonymous());
    for header in ["", "Bearer", "Bearer  "] {
        assert_eq!(of(header.as_bytes()), Owner::anonymous(), "{header:?}");
    }
}

#[test]
fn e2bs_clients_have_a_header_of_their_own() {
    let key = |pairs: &[(&'static str, &'static str)]| {
        let pairs =
            pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)));
        presented_in(&pairs.collect(), "x-api-key")
    };
    assert_eq!(key(&[("x-api-key", " e2b_1 ")]).as_deref(), Some("e2b_1"));
    assert_eq!(key(&[("x-api-key", "e2b_1"), ("authorization", "Bearer x")]).as_deref(), Some("e2b_1"));
    assert_eq!(key(&[("x-api-key", ""), ("authorization", "Bearer x")]).as_deref(), Some("x"));
    assert_eq!(key(&[("authorization", "Bearer x")]).as_deref(), Some("x"));
    assert_eq!(key(&[]), None);
}

#[test]
fn clients_made_for_azure_have_a_header_of_their_own() {
    let azure = (HeaderName::from_static("api-key"), HeaderValue::from_static(" sg-1 "));
    let usual = (AUTHORIZATION, HeaderValue::from_static("Bearer sg-2"));
    assert_eq!(presented(&HeaderMap::from_iter([azure.clone()])).as_deref(), Some("sg-1"));
    assert_eq!(presented(&HeaderMap::from_iter([azure, usual])).as_deref(), Some("sg-2"));
}
