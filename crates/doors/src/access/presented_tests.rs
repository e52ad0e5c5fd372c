//! Who is who by the header a request came with.

use axum::http::HeaderValue;

use super::*;

fn of(header: &[u8]) -> Owner {
    open_owner(&HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_bytes(header).unwrap())]))
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
    assert_eq!(open_owner(&HeaderMap::new()), Owner::anonymous());
    for header in ["", "Bearer", "Bearer  "] {
        assert_eq!(of(header.as_bytes()), Owner::anonymous(), "{header:?}");
    }
}
