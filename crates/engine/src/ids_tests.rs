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
fn the_highest_range_still_fits_the_kernels_ids() {
    let last = u64::from(FIRST) + u64::from(super::ENGINES) * u64::from(PER_ENGINE);
    assert!(last < u64::from(u32::MAX));
}
