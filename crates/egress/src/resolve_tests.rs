//! The host's own table of names counts as it does for other programs.

use std::net::IpAddr;

use super::in_hosts;

#[test]
fn a_name_of_the_hosts_table_is_found() {
    let table = "# one\n192.0.2.1\tinner.example.org inner # other.example.org\n\
        2001:db8::1 Inner.Example.org\nnonsense inner.example.org\n192.0.2.2 x.inner.example.org\n";
    let found = |name: &str| in_hosts(table, &name.parse().unwrap());
    let expected: Vec<IpAddr> = vec!["192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap()];
    assert_eq!(found("inner.example.org"), expected);
    assert!(found("other.example.org").is_empty() && found("example.org").is_empty());
}
