//! What stands above a policy counts for names as for connections.

use sandgate_core::network::{NetworkCeiling, NetworkLimits, NetworkPolicy};

use super::LivePolicy;

#[test]
fn a_name_that_no_connection_may_go_to_has_no_address() {
    let denying = NetworkCeiling {
        deny: vec!["secrets.example.org:*".parse().unwrap()],
        ..NetworkCeiling::unbounded()
    };
    let narrow = NetworkCeiling::from_words(["*.example.org", "10.0.0.0/8"]).unwrap();
    let resolves = |ceiling: &NetworkCeiling, name: &str| {
        let live = LivePolicy::new(NetworkPolicy::open(), vec![ceiling.clone()], NetworkLimits::default());
        live.now().may_resolve(&name.parse().unwrap())
    };
    assert!(!resolves(&denying, "secrets.example.org") && resolves(&denying, "other.example.org"));
    assert!(resolves(&narrow, "a.example.org") && !resolves(&narrow, "example.com"));
    let both = vec![denying, narrow];
    let live = LivePolicy::new(NetworkPolicy::open(), both, NetworkLimits::default());
    assert!(live.now().may_resolve(&"a.example.org".parse().unwrap()));
    assert!(!live.now().may_resolve(&"secrets.example.org".parse().unwrap()));
}
