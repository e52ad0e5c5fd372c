//! Only what is between the marks changes.

use super::replaced;

#[test]
fn the_rest_stays() {
    let old = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n<!-- y: begin -->\nold\n<!-- y: end -->\n";
    let once = replaced(old, "x", "new").unwrap();
    assert_eq!(once, old.replacen("\nold\n", "\n\nnew\n\n", 1));
    assert_eq!(replaced(&once, "x", "new").unwrap(), once);
}

#[test]
fn missing_marks_are_no_success() {
    assert_eq!(replaced("nothing here", "x", "new"), None);
    assert_eq!(replaced("<!-- x: begin -->", "x", "new"), None);
}
