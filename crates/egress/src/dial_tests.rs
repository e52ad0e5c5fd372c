//! What may be the host's own is not connected to, and whoever cannot tell does not guess.

use std::io;
use std::net::IpAddr;

use rustix::io::Errno;

use super::{carries_own, is_own, leads_back, may_be_own};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn the_hosts_own_addresses_are_known() {
    assert!(is_own(ip("127.0.0.1")) && !is_own(ip("192.0.2.1")));
}

#[test]
fn the_hosts_own_addresses_are_known_in_other_forms() {
    for form in ["127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "2001:0:7f00:1::1"] {
        assert!(carries_own(ip(form)), "{form}");
    }
    assert!(!carries_own(ip("64:ff9b::c000:201")));
}

#[test]
fn an_address_is_not_taken_for_anothers_when_nobody_can_tell() {
    let after = |error: Errno| may_be_own(ip("192.0.2.1"), Err(io::Error::from(error)));
    for error in [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::PERM] {
        assert!(after(error), "{error}");
    }
    // A host without IPv6 has no way to half of the names.
    for error in [Errno::NETUNREACH, Errno::HOSTUNREACH, Errno::AFNOSUPPORT] {
        assert!(!after(error), "{error}");
    }
    assert!(may_be_own(ip("192.0.2.1"), Ok(ip("192.0.2.1"))));
    assert!(!may_be_own(ip("192.0.2.1"), Ok(ip("192.0.2.9"))));
}

#[test]
fn a_connection_back_to_the_host_is_known_when_it_was_made() {
    let at = |text: &str| text.parse().unwrap();
    let (peer, same) = (at("192.0.2.1:80"), at("192.0.2.1:40000"));
    assert!(leads_back(same, peer, false) && !leads_back(same, peer, true));
    assert!(leads_back(at("[::ffff:192.0.2.1]:40000"), peer, false));
    assert!(leads_back(peer, peer, true), "to itself");
    assert!(!leads_back(at("192.0.2.9:40000"), peer, false));
}
