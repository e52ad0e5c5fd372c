//! A value is known again in whatever a server makes of it by itself.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::forms;

fn is_in(text: &str, value: &str) -> bool {
    forms(value).iter().any(|form| text.as_bytes().windows(form.len()).any(|part| part == form))
}

#[test]
fn it_is_found_however_it_is_written() {
    let value = "s3cret/\"+value?~9";
    for text in [
        format!("a {value} b"),
        "https://x.test/?k=s3cret%2F%22%2Bvalue%3F~9&y".to_owned(),
        serde_json::json!({ "auth": value }).to_string(),
    ] {
        assert!(is_in(&text, value), "{text}");
    }
    for around in ["", "a", "me", "me:", "user:"] {
        let text = format!("{around}{value}{around}");
        assert!(is_in(&STANDARD.encode(&text), value), "{text}");
        assert!(is_in(&URL_SAFE.encode(&text), value), "{text}");
    }
    assert!(!is_in(&STANDARD.encode("me:something else"), value));
}

#[test]
fn the_longest_comes_first() {
    let all = forms("a b");
    assert!(all.windows(2).all(|pair| pair[0].len() >= pair[1].len()), "{all:?}");
}

#[test]
fn it_is_found_as_usual_libraries_write_it() {
    let value = "a b/c&<d>'\"*~";
    for text in [
        "a%20b/c%26%3Cd%3E%27%22%2A~",   // Python's quote
        "a%20b%2fc%26%3cd%3e%27%22%2a~", // in small letters
        "a+b%2Fc%26%3Cd%3E%27%22*~",     // a form
        "a+b%2fc%26%3cd%3e%27%22*~",
        "a%20b%2Fc%26%3Cd%3E'%22*~",                   // JavaScript
        "a b\\/c&<d>'\\\"*~",                          // PHP's JSON
        "a b/c\\u0026\\u003cd\\u003e'\\\"*~",          // Go's
        "a b/c\\u0026\\u003Cd\\u003E\\u0027\\u0022*~", // .NET's
    ] {
        assert!(is_in(text, value), "{text}");
    }
    assert_eq!(forms("plain-value_9").iter().filter(|form| form.starts_with(b"plain")).count(), 1);
}

/// What is held back of an answer goes by it.
#[test]
fn every_form_is_printable_and_none_is_longer_than_is_waited_for() {
    let all: String = (b' '..=b'~').map(char::from).collect();
    let longest = sandgate_core::network::LONGEST_SECRET;
    for value in [all.repeat(21), "+".repeat(longest), "\"".repeat(longest), "/".repeat(longest)] {
        for form in forms(&value) {
            assert!(form.len() <= super::super::search::LONGEST_FORM, "{}", form.len());
            assert!(!form.iter().any(|byte| super::super::passing::ends_values(*byte)));
        }
    }
}
