//! Cells are what they are written as, and there are never too many.

use super::*;

#[test]
fn quotes_hold_separators_lines_and_quotes() {
    let (rows, is_cut) = rows("a,b\r\n\"x, y\",\"say \"\"hi\"\"\nthere\"\nlast,", ',');
    assert_eq!(rows, vec![vec!["a", "b"], vec!["x, y", "say \"hi\"\nthere"], vec!["last", ""]]);
    assert!(!is_cut);
}

#[test]
fn tabs_and_a_mark_of_order() {
    assert_eq!(rows("\u{feff}a\tb\n", '\t').0, vec![vec!["a", "b"]]);
    assert_eq!(rows("", ',').0, Vec::<Vec<String>>::new());
}

#[test]
fn a_table_is_bounded() {
    let (many, is_cut) = rows(&"x\n".repeat(10_000), ',');
    assert_eq!((many.len(), is_cut), (MOST_ROWS + 1, true));
    let (wide, is_cut) = rows(&"x,".repeat(10_000), ',');
    assert_eq!((wide[0].len(), is_cut), (MOST_COLUMNS, true));
    let (long, is_cut) = rows(&"x".repeat(10_000), ',');
    assert_eq!((long[0][0].len(), is_cut), (MOST_IN_A_CELL, true));
    let open = rows("\"never closed, \n", ',').0;
    assert_eq!(open, vec![vec!["never closed, \n"]]);
}

#[test]
fn cells_stay_text() {
    let table = table("a\n<script>alert(1)</script>\n", ',').into_string();
    assert!(table.contains("&lt;script&gt;"), "{table}");
    assert!(!table.contains("<script"));
}
