//! Tries run out, and come back.

use super::*;

#[test]
fn after_ten_wrong_tries_there_is_one_every_six_seconds() {
    let (attempts, start) = (Attempts::default(), Instant::now());
    for _ in 0..10 {
        attempts.take_at(start).unwrap();
    }
    let wait = attempts.take_at(start).unwrap_err();
    assert!(wait > Duration::from_secs(5) && wait <= Duration::from_secs(6), "{wait:?}");
    let later = start + Duration::from_secs(7);
    attempts.take_at(later).unwrap();
    attempts.take_at(later).unwrap_err();
}
