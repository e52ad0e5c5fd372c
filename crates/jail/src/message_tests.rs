//! What one end sends, the other can read.

use super::{Channel, MAX_BYTES};
use crate::sys;

#[test]
fn what_is_too_long_is_refused_before_it_is_sent() {
    let (ours, theirs) = sys::packet_pair().unwrap();
    let (ours, theirs) = (Channel::new(ours), Channel::new(theirs));
    assert!(ours.send(&["x".repeat(MAX_BYTES).as_str(), "y"], &[]).is_err());
    let longest = "x".repeat(MAX_BYTES - 2);
    ours.send(&[&longest, "y"], &[]).unwrap();
    assert_eq!(theirs.receive().unwrap().unwrap().words, [longest.as_str(), "y"]);
}
