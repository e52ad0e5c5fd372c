//! Parts stay harmless whatever is put in.

use super::*;

const HOSTILE: &str = "\"><script>alert(1)</script><img src=x onerror=alert(1)>";

#[test]
fn whatever_is_put_in_stays_text() {
    for shown in [
        pill(HOSTILE),
        id(HOSTILE),
        id_link(HOSTILE, HOSTILE),
        empty(HOSTILE, &html! { (HOSTILE) }),
        copy(HOSTILE),
    ] {
        let shown = shown.into_string();
        assert!(!shown.contains("<script") && !shown.contains("<img"), "{shown}");
        assert!(!shown.contains("=\"\">"), "{shown}");
    }
}

#[test]
fn numbers_and_ids_are_made_for_the_eye() {
    assert_eq!(number(1_234_567), "1\u{202f}234\u{202f}567");
    assert_eq!(number(12), "12");
    assert_eq!(short("req_0123456789abcdef0123"), "req_0123456789…0123");
    assert_eq!(short("short"), "short");
    assert_eq!(short("ä".repeat(40).as_str()).chars().count(), 19);
}

#[test]
fn a_meter_never_leaves_its_frame() {
    assert!(meter(5, 0).into_string().contains("width=\"0\""));
    assert!(meter(u64::MAX, 1).into_string().contains("width=\"100\" height=\"6\""));
}
