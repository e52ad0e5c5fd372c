//! How tables and figures look.

use super::{figure, table};

#[test]
fn a_table_has_a_rule_below_its_head() {
    let rows = [["what", "n"], ["µ", "100"]].map(|row| row.map(str::to_owned));
    assert_eq!(table(&rows), "| what | n |\n| --- | ---: |\n| µ | 100 |");
}

#[test]
fn figures_have_three_digits_that_count() {
    let shown = [1234.5, 12.345, 1.2345, 0.12345, 0.0].map(|value| figure(Some(value)));
    assert_eq!(shown, ["1234", "12.3", "1.23", "0.123", "0"]);
}

#[test]
fn what_was_not_measured_is_left_blank() {
    assert_eq!(figure(None), "");
}
