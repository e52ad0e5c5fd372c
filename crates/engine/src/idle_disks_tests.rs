//! A sandbox that takes long to look at waits longer itself, and nobody else does.

use std::time::{Duration, Instant};

use sandgate_core::SandboxId;

use super::{INTERVAL, Turns};

#[test]
fn a_slow_look_delays_only_the_next_look_at_the_same_sandbox() {
    let (quick, slow) = (SandboxId::random(), SandboxId::random());
    let (mut turns, start) = (Turns::default(), Instant::now());
    assert!(turns.due([&quick, &slow].into_iter(), start).is_empty());
    let first = start + INTERVAL;
    assert_eq!(turns.due([&quick, &slow].into_iter(), first).len(), 2);
    turns.looked(quick.clone(), Duration::from_millis(1), first);
    turns.looked(slow.clone(), Duration::from_secs(1), first);
    let due = turns.due([&quick, &slow].into_iter(), first + INTERVAL);
    assert!(due.contains(&quick) && due.len() == 1, "{due:?}");
    let late = first + Duration::from_secs(20);
    assert_eq!(turns.due([&quick, &slow].into_iter(), late), [quick, slow]);
}

#[test]
fn what_is_gone_is_forgotten() {
    let (one, start) = (SandboxId::random(), Instant::now());
    let mut turns = Turns::default();
    turns.due([&one].into_iter(), start);
    turns.due(std::iter::empty(), start);
    assert!(turns.0.is_empty());
}
