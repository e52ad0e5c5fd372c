//! What is asked of a provider for what was granted.

use sandgate_core::network::NetworkPolicy;

use super::{own, within};
use crate::NetworkWish;

fn only(words: &[&str]) -> NetworkWish {
    NetworkWish::Only(words.iter().map(|word| (*word).to_owned()).collect())
}

#[test]
fn who_was_granted_nothing_gets_nothing() {
    for set in [NetworkWish::Nothing, only(&["example.org"]), NetworkWish::Everything] {
        assert_eq!(within(&set, &NetworkPolicy::disabled()), NetworkWish::Nothing);
    }
}

#[test]
fn what_the_backend_has_is_granted_as_it_was_set() {
    for set in [NetworkWish::Nothing, only(&["*.example.org", "192.0.2.0/24"]), NetworkWish::Everything] {
        assert_eq!(within(&set, &own(&set)), set);
    }
}

#[test]
fn what_another_backend_has_is_no_more_than_both() {
    let granted = own(&only(&["*.example.org", "192.0.2.0/24"]));
    assert_eq!(within(&NetworkWish::Everything, &granted), only(&["*.example.org", "192.0.2.0/24"]));
    let set = only(&["a.example.org", "other.test", "192.0.2.7"]);
    assert_eq!(within(&set, &granted), only(&["a.example.org", "192.0.2.7"]));
    assert_eq!(within(&only(&["other.test"]), &granted), NetworkWish::Nothing);
}

#[test]
fn what_cannot_be_read_counts_as_everything() {
    assert_eq!(own(&only(&["example.org", "not a host"])), NetworkPolicy::open());
}
