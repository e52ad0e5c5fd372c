//! The rules of labels, merging and looking for.

use serde_json::json;

use super::*;

fn checked(key: &str, value: &str) -> bool {
    check(&BTreeMap::from([(key.to_owned(), value.to_owned())])).is_ok()
}

#[test]
fn keys_and_values_are_labels() {
    let longest = "a".repeat(63);
    for (key, value) in [
        ("k", "v"),
        ("example.com/name", "v_1.2-x"),
        ("K", ""),
        ("a", longest.as_str()),
        (longest.as_str(), "v"),
    ] {
        assert!(checked(key, value), "{key}={value}");
    }
    let too_long = "a".repeat(64);
    for (key, value) in [
        ("", "v"),
        ("-k", "v"),
        ("k", "v&1"),
        ("k", "-v"),
        ("k", "é"),
        ("a/b/c", "v"),
        ("Example.com/name", "v"),
        ("/name", "v"),
        ("opensandbox.io/id", "v"),
        (too_long.as_str(), "v"),
        ("k", too_long.as_str()),
    ] {
        assert!(!checked(key, value), "{key}={value}");
    }
}

#[test]
fn a_patch_adds_replaces_and_removes() {
    let before = BTreeMap::from([("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())]);
    let patch = json!({"a": null, "b": "3", "c": "4", "gone": null});
    let after = merged(&before, patch.as_object().unwrap()).unwrap();
    assert_eq!(json!(after), json!({"b": "3", "c": "4"}));
    for wrong in [json!({"a": 1}), json!({"opensandbox.io/x": null}), json!({"a": "not a label"})] {
        assert!(merged(&before, wrong.as_object().unwrap()).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_looked_for_is_a_form() {
    assert_eq!(wanted("a=1&b=x%20y").unwrap(), [("a".into(), "1".into()), ("b".into(), "x y".into())]);
    assert_eq!(wanted("a=").unwrap(), [("a".into(), String::new())]);
    for text in ["", "a", "a=1&b", "=1", "a=1&"] {
        assert!(wanted(text).is_err(), "{text}");
    }
}
