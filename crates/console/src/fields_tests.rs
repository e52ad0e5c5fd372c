//! Blanks are dropped where people write, and nowhere else.

use super::*;

#[test]
fn only_what_people_write_is_trimmed() {
    for name in [" ", "a ", " a", "\u{a0}", "\u{3000}a", "a\n", "\t"] {
        let link = Fields::default().link("/p", &[], &[("path", name)]);
        let fields = Fields::parse(link.split_once('?').unwrap().1.as_bytes());
        assert_eq!(fields.get("path"), Some(name));
        assert_eq!(fields.typed("path"), Some(name.trim()).filter(|name| !name.is_empty()), "{name:?}");
    }
    let fields = Fields::parse(b"q=&r=+");
    assert_eq!((fields.get("q"), fields.get("r"), fields.typed("r")), (None, Some(" "), None));
}
