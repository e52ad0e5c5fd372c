//! Addresses have one spelling; ranges contain what their bits say.

use std::net::IpAddr;

use super::{Cidr, parse_address};

fn range(text: &str) -> Cidr {
    text.parse().unwrap()
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn ranges_contain_their_addresses() {
    for (cidr, inside, outside) in [
        ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"),
        ("192.0.2.7/32", "192.0.2.7", "192.0.2.6"),
        ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"),
        ("::1", "::1", "::2"),
    ] {
        assert!(range(cidr).contains(address(inside)), "{cidr}");
        assert!(!range(cidr).contains(address(outside)), "{cidr}");
    }
    assert!(range("0.0.0.0/0").contains(address("255.255.255.255")));
    assert!(!range("0.0.0.0/0").contains(address("::1")), "the families are apart");
    assert!(range("10.0.0.0/8").covers(&range("10.1.0.0/16")));
    assert!(!range("10.1.0.0/16").covers(&range("10.0.0.0/8")));
}

#[test]
fn ranges_survive_being_written() {
    for text in ["10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32", "::/0"] {
        assert_eq!(range(text).to_string(), text);
    }
}

#[test]
fn what_is_no_range_is_refused_with_the_reason() {
    for (text, why) in [
        ("10.0.0.1/8", "behind the prefix"),
        ("10.0.0.0/33", "too many bits"),
        ("10.0.0.0/+8", "not a number"),
        ("10.0.0.0/", "not a number"),
        ("010.0.0.0/8", "usual"),
        ("10/8", "usual"),
        ("0x0a000000/8", "usual"),
        ("fe80::1%eth0/64", "usual"),
        ("::ffff:10.0.0.0/104", "as such"),
    ] {
        let told = text.parse::<Cidr>().unwrap_err().to_string();
        assert!(told.contains(why), "{text}: {told}");
    }
}

#[test]
fn only_the_usual_spelling_is_an_address() {
    assert_eq!(parse_address("192.0.2.7"), Some(address("192.0.2.7")));
    assert_eq!(parse_address("[2001:db8::1]"), Some(address("2001:db8::1")));
    assert_eq!(parse_address("[::ffff:127.0.0.1]"), Some(address("127.0.0.1")));
    assert_eq!(parse_address("::FFFF:7f00:1"), Some(address("127.0.0.1")));
    for text in ["127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.1.", "[127.0.0.1]", "::1%lo", ""]
    {
        assert_eq!(parse_address(text), None, "{text}");
    }
}
