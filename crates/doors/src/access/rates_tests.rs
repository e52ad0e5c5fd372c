//! A burst up to the limit, then as fast as the bucket fills; each key for itself.

use super::*;

#[test]
fn a_minutes_worth_at_once_and_then_steadily() {
    let (rates, start) = (Rates::default(), Instant::now());
    for _ in 0..6 {
        rates.take_at(start, "a", 6).unwrap();
    }
    let wait = rates.take_at(start, "a", 6).unwrap_err();
    assert!((9.9..10.1).contains(&wait.as_secs_f64()), "{wait:?}");
    rates.take_at(start, "b", 6).unwrap();
    let later = start + wait + Duration::from_millis(1);
    rates.take_at(later, "a", 6).unwrap();
    assert!(rates.take_at(later, "a", 6).is_err());
    // A long rest is worth no more than a minute.
    let rested = later + Duration::from_secs(3600);
    assert_eq!((0..9).filter(|_| rates.take_at(rested, "a", 6).is_ok()).count(), 6);
}

#[test]
fn a_changed_limit_counts_at_once() {
    let (rates, now) = (Rates::default(), Instant::now());
    rates.take_at(now, "a", 1000).unwrap();
    rates.take_at(now, "a", 1).unwrap();
    assert!(rates.take_at(now, "a", 1).is_err());
}
