//! Speed is bounded over time, not per piece.

use std::time::Duration;

use super::{BURST, Meter};

#[test]
fn bytes_take_their_time() {
    let meter = Meter::default();
    assert_eq!(meter.take(1 << 30, None), None, "no bound, no wait");
    assert_eq!(meter.take(10, Some(1000)), None, "a little after a pause");
    let wait = meter.take(1000, Some(1000)).unwrap();
    assert!(wait > Duration::from_millis(500) && wait <= Duration::from_millis(1010), "{wait:?}");
    let longer = meter.take(1000, Some(1000)).unwrap();
    assert!(longer > wait, "what was taken before counts");
    assert_eq!(meter.spent(), (1 << 30) + 2010);
    assert!(BURST < Duration::from_secs(1));
}
