//! How tables and numbers look.

use super::{number, table};

#[test]
fn a_table_is_straight() {
    let rows = [["what", "n"], ["µ", "100"]].map(|row| row.map(str::to_owned).to_vec());
    assert_eq!(table(&rows), "| what |   n |\n| ---- | --: |\n| µ    | 100 |");
}

#[test]
fn numbers_have_three_digits() {
    assert_eq!([1234.5, 12.345, 1.2345, 0.0].map(number), ["1234", "12.3", "1.23", "0.00"]);
}
