//! Which sockets a policy needs, and which variables.

use std::net::Ipv4Addr;

use sandgate_core::network::NetworkPolicy;

use super::{MOST_PORTS, Made, variables};

fn wanted(words: &[&str]) -> Made {
    Made::wanted(&NetworkPolicy::from_words(words.iter().copied()).unwrap())
}

fn ports(words: &[&str]) -> Vec<u16> {
    wanted(words).ports.into_iter().collect()
}

#[test]
fn the_ports_a_policy_names_are_listened_on() {
    assert_eq!(ports(&["a.example"]), [80, 443]);
    assert_eq!(ports(&["a.example:8443", "b.example:5000-5002"]), [80, 443, 5000, 5001, 5002, 8443]);
    // Our own stay what they are.
    assert_eq!(ports(&["a.example:3128", "a.example:53", "a.example:1080"]), [80, 443]);
    let many: Vec<String> = (0..100).map(|n| format!("a.example:{}", 2000 + n)).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(ports(&many).len(), MOST_PORTS);
}

#[test]
fn addresses_that_are_allowed_lead_to_us() {
    assert!(wanted(&["a.example"]).routes.is_empty());
    let routes = wanted(&["192.0.2.0/24", "127.0.0.1", "2001:db8::/32"]).routes;
    assert_eq!(routes.into_iter().collect::<Vec<_>>(), [(Ipv4Addr::new(192, 0, 2, 0), 24)]);
    assert_eq!(wanted(&["open"]).routes.into_iter().collect::<Vec<_>>(), [(Ipv4Addr::UNSPECIFIED, 0)]);
}

#[test]
fn only_what_is_missing_is_opened_later() {
    let (first, second) = (wanted(&["a.example:8443"]), wanted(&["a.example:8443", "a.example:9000"]));
    let openings: Vec<String> = second.openings(&first).map(|opening| opening.to_string()).collect();
    assert_eq!(openings, ["tcp 0.0.0.0:9000"]);
}

#[test]
fn programs_are_told_of_the_proxies_where_there_are_any() {
    assert!(variables(&NetworkPolicy::disabled()).is_empty());
    let told = variables(&NetworkPolicy::open());
    for name in ["HTTP_PROXY", "https_proxy", "all_proxy", "NO_PROXY", "no_proxy"] {
        assert!(told.iter().any(|(told, _)| told == name), "{name}");
    }
}
