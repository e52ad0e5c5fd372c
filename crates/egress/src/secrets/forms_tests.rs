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
