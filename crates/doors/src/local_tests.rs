//! Which host names count as local.

use super::is_local;

#[test]
fn loopback_names_are_local() {
    for host in ["localhost", "LOCALHOST:4000", "127.0.0.1:4000", "127.9.9.9", "[::1]:80", "[::1]"] {
        assert!(is_local(host), "{host}");
    }
}

#[test]
fn any_other_name_is_foreign() {
    for host in
        ["", "evil.example", "localhost.evil.example", "192.168.1.1", "127.0.0.1.nip.io", "0.0.0.0", "a b"]
    {
        assert!(!is_local(host), "{host}");
    }
}
