//! Which words are taken for hosts, and which are not.

use super::*;

#[test]
fn a_word_that_is_nearly_right_is_named() {
    for (text, right) in [
        ("none", "disabled"),
        ("[]", "disabled"),
        ("Disabled", "disabled"),
        ("all", "open"),
        ("Open", "open"),
        ("open:80", "open"),
        ("open:*", "open"),
        ("REGISTRIES", "registries"),
    ] {
        let said = check(text).unwrap_err();
        assert!(said.contains(&format!("'{right}'")), "{text}: {said}");
    }
}

#[test]
fn words_hosts_and_ranges_pass() {
    let hosts =
        ["example.org", "*.example.org:8443", "open.example.org", "registry:5000", "2001:db8::/32", "all-in"];
    for text in ["disabled", "open", "registries"].iter().chain(&hosts) {
        assert_eq!(word(text).as_deref(), Ok(*text));
    }
    for text in hosts {
        assert_eq!(check_host(text), Ok(()));
    }
    for text in ["open", "disabled", "registries", "none", "all"] {
        assert!(check_host(text).is_err(), "{text}");
    }
}
