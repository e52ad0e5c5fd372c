//! Every way to write an address of the host or its network is denied; ordinary addresses are not.

use std::net::IpAddr;

use super::AddressGuard;

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn what_leads_inside_is_denied() {
    let guard = AddressGuard::default();
    for text in [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.169.254",
        "169.254.170.2",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.168.1.1",
        "198.18.0.10",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::a00:1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:0:127.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "2002:a9fe:a9fe::",
        // The client 127.0.0.1 and the server 10.0.0.1 of a Teredo address.
        "2001:0:808:808:0:0:80ff:fffe",
        "2001:0:a00:1:0:0:f7f7:f7f7",
        "2606:4700::5efe:10.0.0.1",
        "2606:4700::200:5efe:127.0.0.1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::a9fe:a9fe",
        "fec0::1",
        "ff02::1",
        "4000::1",
        "2001:db8::1",
    ] {
        let told = guard.check(address(text)).unwrap_err().to_string();
        assert!(told.contains("no sandbox may reach"), "{told}");
    }
}

#[test]
fn ordinary_addresses_are_not() {
    let guard = AddressGuard::default();
    for text in [
        "1.1.1.1",
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "168.63.129.17",
        "198.20.0.1",
        "223.255.255.255",
        "2606:4700:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::1",
    ] {
        assert_eq!(guard.check(address(text)), Ok(()), "{text}");
    }
}

#[test]
fn the_operator_opens_ranges_and_nothing_beside_them() {
    let guard = AddressGuard { allow: vec!["127.0.0.9/32".parse().unwrap()] };
    assert_eq!(guard.check(address("127.0.0.9")), Ok(()));
    assert_eq!(guard.check(address("::ffff:127.0.0.9")), Ok(()));
    assert!(guard.check(address("127.0.0.10")).is_err());
}
