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
        files_only: false,
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

#[test]
fn a_sample_has_every_field_that_the_sdks_read() {
    let usage = Usage { memory_bytes: 1, ..Usage::default() };
    let sample = shown(&Sample { at_ms: 2500, usage, cpu_percent: 1.234 }, &Limits::default());
    for name in ["timestamp", "memTotal", "memCache", "diskUsed", "diskTotal", "cpuCount"] {
        assert!(sample.get(name).is_some(), "{name} {sample}");
    }
    let figures = (&sample["timestampUnix"], &sample["cpuUsedPct"], &sample["memUsed"]);
    assert_eq!(figures, (&json!(2), &json!(1.23), &json!(1)));
}

#[test]
fn noughts_are_no_measurement() {
    assert!(is_measured(&Usage { memory_bytes: 1, ..Usage::default() }));
    // A remote backend knows what it keeps of a sandbox's files, and no more.
    assert!(!is_measured(&Usage { disk_bytes: 1, ..Usage::default() }));
}
