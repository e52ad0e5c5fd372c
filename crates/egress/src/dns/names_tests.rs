//! Each name has its own address; old ones are forgotten, and addresses do not come back soon.

use std::net::IpAddr;

use super::{MOST_NAMES, SyntheticNames, is_synthetic};

#[test]
fn names_and_addresses_belong_together() {
    let names = SyntheticNames::default();
    let (one, two) = ("one.example.org".parse().unwrap(), "two.example.org".parse().unwrap());
    let address = names.address_of(&one);
    assert!(is_synthetic(address.into()));
    assert_eq!(names.address_of(&one), address);
    assert_ne!(names.address_of(&two), address);
    assert_eq!(names.name_of(address.into()), Some(one));
    assert_eq!(names.name_of("198.19.255.1".parse().unwrap()), None);
    assert_eq!(names.name_of("::1".parse().unwrap()), None);
}

#[test]
fn the_oldest_is_forgotten_and_its_address_not_given_to_another() {
    let names = SyntheticNames::default();
    let first = "first.example.org".parse().unwrap();
    let address = names.address_of(&first);
    for number in 0..MOST_NAMES {
        let other = names.address_of(&format!("n{number}.example.org").parse().unwrap());
        assert_ne!(other, address);
    }
    assert_eq!(names.name_of(address.into()), None);
    assert_ne!(names.address_of(&first), address);
}

#[test]
fn the_range_is_the_one_for_benchmarks() {
    let inside = |text: &str| is_synthetic(text.parse::<IpAddr>().unwrap());
    assert!(inside("198.18.0.0") && inside("198.19.255.255"));
    assert!(!inside("198.17.255.255") && !inside("198.20.0.0") && !inside("127.0.0.1") && !inside("::"));
}
