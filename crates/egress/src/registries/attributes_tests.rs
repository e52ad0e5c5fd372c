//! Tags are read as browsers read them, whatever stands in their values.

use super::{Attributes, end_of_tag};

fn read(tag: &str) -> Vec<(&str, &str)> {
    Attributes::of(tag).collect()
}

#[test]
fn attributes_are_read_in_any_quotes_or_none() {
    assert_eq!(
        read("href='/a b' data-yanked rel=internal  title = \"x=1 data-yanked='no'\""),
        [("href", "/a b"), ("data-yanked", ""), ("rel", "internal"), ("title", "x=1 data-yanked='no'")]
    );
    assert_eq!(read("data-yanked/"), [("data-yanked", "")]);
    assert_eq!(read("  "), []);
}

#[test]
fn what_is_not_whole_ends() {
    assert_eq!(read("href=\"never closed"), [("href", "never closed")]);
    for odd in ["=", "\"\"\"", "a=", "/=/=/", "é='ü"] {
        assert!(read(odd).len() <= 1, "{odd}");
    }
    assert_eq!(end_of_tag("a='>' b>c"), Some(7));
    assert_eq!(end_of_tag("a='>"), None);
}
