//! Speed is bounded over time, not per piece, and bytes over all connections.

use std::time::Duration;

use sandgate_core::network::NetworkLimits;

use super::{Answer, BURST, Meter};

const FREE: NetworkLimits =
    NetworkLimits { connections: 1, connections_per_second: 1, bytes_per_second: None, bytes: None };

fn granted(answer: &Answer) -> u64 {
    let Answer::Granted(granted) = answer else { panic!("{answer:?}") };
    *granted
}

#[test]
fn bytes_take_their_time() {
    let meter = Meter::default();
    assert_eq!(meter.ask(1 << 30, &FREE), Answer::Granted(1 << 30), "no bound, no wait");
    meter.settle(1 << 30, 1 << 30, &FREE);
    let limits = NetworkLimits { bytes_per_second: Some(100_000), ..FREE };
    let mut passed = 0;
    let wait = loop {
        match meter.ask(1 << 20, &limits) {
            Answer::Granted(piece) => {
                assert!(piece <= 10_000, "{piece}");
                meter.settle(piece, piece, &limits);
                passed += piece;
            }
            Answer::Wait(wait) => break wait,
            Answer::UsedUp => panic!("nothing is used up"),
        }
    };
    // What came in a burst, and one piece that is waited for.
    assert!((20_000..=40_000).contains(&passed), "{passed}");
    assert!(wait <= Duration::from_millis(100), "{wait:?}");
    assert!(matches!(meter.ask(1, &limits), Answer::Wait(_)), "whoever asks waits");
    assert_eq!(meter.spent(), (1 << 30) + passed);
    assert!(BURST < Duration::from_secs(1));
}

#[test]
fn what_was_asked_for_and_did_not_pass_costs_nothing() {
    let meter = Meter::default();
    let limits = NetworkLimits { bytes_per_second: Some(100_000), bytes: Some(10_000), ..FREE };
    for _ in 0..100 {
        let piece = granted(&meter.ask(1 << 20, &limits));
        meter.settle(piece, 0, &limits);
    }
    assert_eq!(meter.spent(), 0);
}

#[test]
fn a_long_debt_does_not_lapse() {
    let meter = Meter::default();
    let limits = NetworkLimits { bytes_per_second: Some(1), ..FREE };
    let piece = granted(&meter.ask(4096, &limits));
    meter.settle(piece, piece, &limits);
    let Answer::Wait(wait) = meter.ask(1, &limits) else { panic!("it is paid for") };
    assert!(wait > Duration::from_secs(4000), "{wait:?}");
}

#[test]
fn two_who_ask_at_once_share_what_is_left() {
    let meter = Meter::default();
    let limits = NetworkLimits { bytes: Some(100), ..FREE };
    assert_eq!(meter.ask(70, &limits), Answer::Granted(70));
    assert_eq!(meter.ask(70, &limits), Answer::Granted(30));
    assert!(matches!(meter.ask(1, &limits), Answer::Wait(_)), "it may come back");
    meter.settle(70, 60, &limits);
    assert_eq!(meter.ask(70, &limits), Answer::Granted(10));
    meter.settle(30, 30, &limits);
    assert!(!meter.used_up().is_cancelled());
    meter.settle(10, 10, &limits);
    assert!(meter.used_up().is_cancelled());
    assert_eq!((meter.ask(1, &limits), meter.spent()), (Answer::UsedUp, 100));
}
