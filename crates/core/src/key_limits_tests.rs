//! Which models a key may use, and which limits make sense.

use super::*;

fn models(names: &[&str]) -> KeyLimits {
    KeyLimits { models: Some(names.iter().map(|name| (*name).to_owned()).collect()), ..KeyLimits::default() }
}

#[test]
fn a_star_stands_for_any_text() {
    for (pattern, name) in [
        ("gpt-5", "gpt-5"),
        ("gpt-*", "gpt-5-mini"),
        ("gpt-*", "gpt-"),
        ("*", "anything"),
        ("*mini", "gpt-5-mini"),
        ("g*-m*i", "gpt-5-mini"),
        ("a*a", "aa"),
        ("**", ""),
    ] {
        assert!(models(&[pattern]).allows_model(name), "{pattern} {name}");
    }
    for (pattern, name) in [
        ("gpt-5", "gpt-5-mini"),
        ("gpt-5", "GPT-5"),
        ("gpt-*", "xgpt-5"),
        ("*mini", "mini-x"),
        ("a*a", "a"),
        ("a*b*c", "acb"),
        ("", "x"),
    ] {
        assert!(!models(&[pattern]).allows_model(name), "{pattern} {name}");
    }
    assert!(models(&["a", "b*"]).allows_model("bee"));
    assert!(KeyLimits::default().allows_model("any"));
}

#[test]
fn limits_are_read_strictly_and_written_shortly() {
    let limits: KeyLimits = serde_json::from_str(r#"{"containers": 2, "log_code": true}"#).unwrap();
    assert_eq!(serde_json::to_string(&limits).unwrap(), r#"{"containers":2,"log_code":true}"#);
    assert!(serde_json::from_str::<KeyLimits>(r#"{"container": 2}"#).is_err());
    assert!(serde_json::from_str::<KeyLimits>(r#"{"containers": -1}"#).is_err());
    assert_eq!(limits.check(), Ok(()));
}

#[test]
fn limits_that_make_no_sense_are_named() {
    let none = KeyLimits { requests_per_minute: Some(0), ..KeyLimits::default() };
    assert_eq!(none.check(), Err(InvalidLimits::NoRequests));
    let little = KeyLimits { memory_bytes: Some(512), ..KeyLimits::default() };
    assert_eq!(little.check(), Err(InvalidLimits::TooLittleMemory));
    assert_eq!(models(&[]).check(), Err(InvalidLimits::NoModels));
}

#[test]
fn the_lesser_memory_counts() {
    let small = KeyLimits { memory_bytes: Some(1 << 30), ..KeyLimits::default() };
    assert_eq!((small.memory_within(4 << 30), small.memory_within(1 << 20)), (1 << 30, 1 << 20));
    assert_eq!(KeyLimits::default().memory_within(7), 7);
}

#[test]
fn a_key_with_a_backend_of_its_own_uses_nothing_that_is_elsewhere() {
    let pinned = KeyLimits { backend: Some("own".to_owned()), ..KeyLimits::default() };
    assert!(pinned.check_backend("own").is_ok());
    assert!(matches!(pinned.check_backend("cloud"), Err(BackendError::OtherBackend { .. })));
    // A request that names one for a new container may use what is elsewhere.
    let asking = KeyLimits { asked_backend: Some("own".to_owned()), ..KeyLimits::default() };
    assert!(asking.check_backend("cloud").is_ok());
    assert_eq!(asking.backend_for(Some("cloud".to_owned())).unwrap().as_deref(), Some("own"));
}
