//! A secret's value is in no text that is made of it, and is for its domain alone.

use super::DomainSecret;
use crate::Secret;
use crate::network::NetworkPolicy;

fn secret() -> DomainSecret {
    DomainSecret::new("api.example.org", "API_KEY".to_owned(), Secret::new("hunter2-hunter2".to_owned()))
        .unwrap()
}

#[test]
fn the_value_is_in_no_text() {
    let policy = NetworkPolicy { secrets: vec![secret()], ..NetworkPolicy::default() };
    let stored = serde_json::to_string(&policy).unwrap();
    assert!(!stored.contains("hunter2") && !format!("{policy:?}").contains("hunter2"));
    let read: NetworkPolicy = serde_json::from_str(&stored).unwrap();
    assert_eq!(read.secrets[0].placeholder, policy.secrets[0].placeholder);
    assert_eq!(read.secrets[0].value, None);
}

#[test]
fn placeholders_are_never_the_same() {
    assert_ne!(secret().placeholder, secret().placeholder);
    assert!(!secret().placeholder.contains("hunter2"));
}

#[test]
fn names_and_values_are_checked() {
    let make = |domain: &str, name: &str, value: &str| {
        DomainSecret::new(domain, name.to_owned(), Secret::new(value.to_owned()))
    };
    assert!(make("*.example.org", "_A1", "12345678").is_ok());
    for (domain, name, value) in [
        ("*", "A", "12345678"),
        ("example.org:443", "A", "12345678"),
        ("192.0.2.1", "A", "12345678"),
        ("example.org", "", "12345678"),
        ("example.org", "1A", "12345678"),
        ("example.org", "A-B", "12345678"),
        ("example.org", "PATH", "12345678"),
        ("example.org", "A", ""),
        ("example.org", "A", "1234567"),
        ("example.org", "A", "12345678\r\nX-Evil: 1"),
        ("example.org", "A", "12345678\u{7f}"),
        ("example.org", "A", "pässword-12"),
        ("example.org", "A", &"x".repeat(super::LONGEST_SECRET + 1)),
    ] {
        assert!(make(domain, name, value).is_err(), "{domain} {name} {value}");
    }
    assert!(make("example.org", "A", &"x".repeat(super::LONGEST_SECRET)).is_ok());
    let told = make("example.org", "A", "s3cret-s3cret\n").unwrap_err().to_string();
    assert!(!told.contains("s3cret"), "{told}");
}

#[test]
fn a_secret_is_for_its_domain_alone() {
    let policy = NetworkPolicy { secrets: vec![secret()], ..NetworkPolicy::default() };
    assert_eq!(policy.secrets_for(&"api.example.org".parse().unwrap()).len(), 1);
    assert_eq!(policy.secrets_for(&"www.example.org".parse().unwrap()).len(), 0);
}

#[test]
fn of_domains_that_fit_the_narrowest_comes_first() {
    let of = |domain: &str| {
        DomainSecret::new(domain, "KEY".to_owned(), Secret::new("12345678".to_owned())).unwrap()
    };
    let domains = ["*.example.org", "a.b.example.org", "*.b.example.org"];
    let policy = NetworkPolicy { secrets: domains.map(of).to_vec(), ..NetworkPolicy::default() };
    policy.check().unwrap();
    let name = "a.b.example.org".parse().unwrap();
    let found: Vec<_> = policy.secrets_for(&name).iter().map(|secret| secret.domain.to_string()).collect();
    assert_eq!(found, ["a.b.example.org", "*.b.example.org", "*.example.org"]);
}
