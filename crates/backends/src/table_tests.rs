//! The table of what backends can do, in the documents as in the code.

use super::*;

#[test]
fn the_documentation_has_the_table_of_the_code() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/backends.md");
    let text = std::fs::read_to_string(file).unwrap();
    let table = capability_table();
    assert!(text.contains(&table), "docs/backends.md is to hold this table:\n{table}");
}
