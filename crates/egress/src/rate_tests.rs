//! Two seconds' worth at once, then as many as time passes.

use std::time::{Duration, Instant};

use super::Rate;

#[test]
fn a_burst_and_then_the_speed() {
    let (rate, begin) = (Rate::default(), Instant::now());
    let allowed = |at| (0..1000).filter(|_| rate.allows_at(at, 10)).count();
    assert_eq!(allowed(begin), 20);
    assert_eq!(allowed(begin), 0);
    assert_eq!(allowed(begin + Duration::from_millis(500)), 5);
    assert_eq!(allowed(begin + Duration::from_secs(60)), 20, "no more than that is saved up");
}
