//! Which sockets and routes a policy needs, within bounds.

use std::net::Ipv4Addr;

use sandgate_core::network::NetworkPolicy;

use super::{ALL, MOST_PORTS, MOST_ROUTES, Made};

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
    let openings: Vec<String> = beside(&second, &first).0.iter().map(ToString::to_string).collect();
    assert_eq!(openings, ["tcp 0.0.0.0:9000"]);
}

fn beside(wanted: &Made, there: &Made) -> (Vec<sandgate_jail::openings::Opening>, Made) {
    wanted.beside(there).unwrap()
}

#[test]
fn many_ranges_become_one() {
    let ranges = |from: usize| -> Made {
        let words: Vec<String> =
            (from..from + MOST_ROUTES).map(|n| format!("1.{}.{}.0/24", n / 256, n % 256)).collect();
        wanted(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let (_, first) = beside(&ranges(0), &Made::default());
    assert_eq!(first.routes.len(), MOST_ROUTES);
    let (openings, second) = beside(&ranges(MOST_ROUTES), &first);
    assert_eq!(second.routes.iter().collect::<Vec<_>>(), [&ALL]);
    assert_eq!(openings.len(), 1);
    assert!(beside(&ranges(0), &second).0.is_empty(), "it covers all others");
}

#[test]
fn ports_of_ever_new_policies_have_an_end() {
    let mut there = Made::default();
    let refused = (0..20).find_map(|round| {
        let words: Vec<String> = (0..40).map(|n| format!("a.example:{}", 2000 + round * 40 + n)).collect();
        let next = wanted(&words.iter().map(String::as_str).collect::<Vec<_>>()).beside(&there);
        next.map(|(_, then)| there = then).err()
    });
    assert!(refused.unwrap().contains("make a new container"));
}
