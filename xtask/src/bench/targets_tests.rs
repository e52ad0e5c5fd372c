//! Which way each bound points.

use super::targets;
use crate::bench::samples::Samples;

/// Figures that hold everywhere, each just so.
fn good() -> Vec<(&'static str, f64)> {
    vec![
        ("ipykernel_first_ms", 1000.0),
        ("pool_first_ms", 2.0),
        ("on_demand_first_ms", 12.5),
        ("sandbox_warm_ms", 1.5),
        ("sandbox_private_mib", 8.0),
        ("ipykernel_private_mib", 120.0),
        ("sustained_per_second", 80.0),
        ("crowd_answered", 500.0),
        ("first_with_1_live_ms", 10.0),
        ("first_with_500_live_ms", 12.5),
    ]
}

fn held(figures: &[(&str, f64)]) -> Vec<bool> {
    let mut samples = Samples::default();
    figures.iter().for_each(|(series, value)| samples.add(series, *value));
    targets(&samples, 500).iter().map(|target| target.held).collect()
}

#[test]
fn the_bounds_themselves_hold() {
    assert!(held(&good()).iter().all(|held| *held));
}

#[test]
fn a_little_worse_is_not_held() {
    let worse = [
        (1, 2.01, 0),
        (2, 12.51, 1),
        (3, 1.51, 2),
        (4, 8.01, 3),
        (5, 119.0, 4),
        (6, 79.9, 5),
        (7, 499.0, 6),
        (9, 12.51, 7),
    ];
    for (figure, value, target) in worse {
        let mut figures = good();
        figures[figure].1 = value;
        assert!(!held(&figures)[target], "{}", figures[figure].0);
    }
}

#[test]
fn what_was_not_measured_is_not_held() {
    assert!(held(&[]).iter().all(|held| !held));
}
