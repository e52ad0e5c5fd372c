//! Lines stay within their picture.

use super::*;

#[test]
fn a_line_is_broken_where_nothing_is_known() {
    assert_eq!(way(&[0.0, 10.0, f64::NAN, 5.0], 10.0), "M0.0 63.0h2L100.0 3.0M300.0 33.0h2");
    assert_eq!(way(&[], 0.0), "");
    assert_eq!(way(&[0.0], 0.0), "M0.0 63.0h2");
}

#[test]
fn a_plot_of_nothing_says_so() {
    let shown = plot("<b>", &|value| format!("{value}"), &[Line::new("x", vec![f64::NAN])]).into_string();
    assert!(shown.contains("<strong>–</strong>") && !shown.contains("<b>"), "{shown}");
}
