//! Percentiles by nearest rank, the median as usual.

use super::{Samples, Summary};

#[test]
fn a_hundred_values() {
    let mut samples = Samples::default();
    samples.add_all("x_ms", &(1..=100).rev().map(f64::from).collect::<Vec<_>>());
    let expected = Summary { count: 100, min: 1.0, median: 50.5, p90: 90.0, p99: 99.0, max: 100.0 };
    assert_eq!(samples.summary("x_ms"), Some(expected));
    assert_eq!(samples.summary("y_ms"), None);
}

#[test]
fn one_value_is_all_of_them() {
    let mut samples = Samples::default();
    samples.add("x_ms", 3.0);
    let expected = Summary { count: 1, min: 3.0, median: 3.0, p90: 3.0, p99: 3.0, max: 3.0 };
    assert_eq!(samples.summaries().get("x_ms"), Some(&expected));
}
