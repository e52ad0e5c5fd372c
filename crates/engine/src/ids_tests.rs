//! No id of a sandbox is ever 0 on the host, and no two sandboxes share one.

use std::collections::HashSet;

use super::{FIRST, IdRange, PER_ENGINE};

#[test]
fn ids_are_high_distinct_and_within_the_engines_range() {
    let range = IdRange::Range { first: FIRST };
    let mut seen = HashSet::new();
    for slot in [0, 1, 2, 1000, range.slots() - 1] {
        let pair = range.pair(slot).unwrap();
        assert!(seen.insert(pair.init) && seen.insert(pair.user));
        assert!(pair.user < PER_ENGINE && pair.init > 0);
        assert!(range.host_user(slot).unwrap() > FIRST);
    }
}

#[test]
fn no_two_engines_share_a_range_and_a_home_keeps_its_own() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids");
    let (first, claim) = IdRange::choose(Some(&file)).unwrap();
    let (other, _other_claim) = IdRange::choose(None).unwrap();
    assert_ne!(first, other);
    drop(claim);
    assert_eq!(IdRange::choose(Some(&file)).unwrap().0, first);
}

#[test]
fn the_highest_range_still_fits_the_kernels_ids() {
    let last = u64::from(FIRST) + u64::from(super::ENGINES) * u64::from(PER_ENGINE);
    assert!(last <= 1 << 31);
}
