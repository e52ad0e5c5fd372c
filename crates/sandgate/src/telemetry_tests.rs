//! An address is shown without the secrets that may be in it.

use super::shown;

#[test]
fn secrets_of_an_address_are_not_shown() {
    for (endpoint, text) in [
        ("https://ann:secret@host:4318/v1/traces?key=secret", "https://host:4318/v1/traces"),
        ("http://host", "http://host"),
        ("http://a@b@host/x@y#secret", "http://host/x@y"),
    ] {
        assert_eq!(shown(endpoint), text);
    }
}
