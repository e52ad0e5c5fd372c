//! How much of a processor was used between two samples.

use std::collections::BTreeMap;

use sandgate_core::{ContainerId, OnEnd, Owner};

use super::*;

fn lease() -> Lease {
    Lease {
        id: "iabc".to_owned(),
        door: "e2b".to_owned(),
        owner: Owner::anonymous(),
        container: ContainerId::random(),
        metadata: BTreeMap::new(),
        started_ms: 1000,
        ends_ms: None,
        on_end: OnEnd::Delete,
        wakes: false,
        ends_paused: false,
        state: LeaseState::Running,
        details: Value::Null,
        parsed: sandgate_core::Parsed::default(),
    }
}

#[test]
fn a_sample_counts_from_the_one_before() {
    let history = History::default();
    let used = |cpu_micros| Usage { cpu_micros, ..Usage::default() };
    history.add(&lease(), 3000, used(1_000_000));
    history.add(&lease(), 3500, used(9_000_000));
    history.add(&lease(), 5000, used(1_500_000));
    let percents: Vec<_> = history.of("iabc").iter().map(|sample| sample.cpu_percent).collect();
    assert_eq!(percents, [50.0, 25.0]);
    history.retain(|_| false);
    assert!(history.of("iabc").is_empty());
}

#[test]
fn the_history_ends_somewhere() {
    let history = History::default();
    for second in 2..(KEPT as u64 + 50) {
        history.add(&lease(), second * 1000, Usage::default());
    }
    assert_eq!(history.of("iabc").len(), KEPT);
}
