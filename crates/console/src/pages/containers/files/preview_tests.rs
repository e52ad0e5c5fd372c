//! What a file is taken for goes by what is in it.

use super::*;

#[test]
fn pictures_are_known_by_their_bytes_not_their_names() {
    assert_eq!(look("/mnt/data/a.txt", b"\x89PNG\r\n\x1a\n..."), Look::Picture);
    assert_eq!(look("/mnt/data/a.png", b"<svg onload=alert(1)>"), Look::Text("", "<svg onload=alert(1)>"));
    assert_eq!(picture_kind(b"RIFF....WEBPVP8 "), Some("image/webp"));
    assert_eq!(picture_kind(b"GIF89a"), Some("image/gif"));
    assert_eq!(picture_kind(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
    assert_eq!(picture_kind(b"<svg/>"), None);
    assert_eq!(picture_kind(b""), None);
}

#[test]
fn a_letter_that_was_cut_is_left_out() {
    assert_eq!(text("añ".as_bytes().get(..2).unwrap()), Some("a"));
    assert_eq!(text(b"a\xffb"), None);
    assert_eq!(text(b"a\0b"), None);
}

#[test]
fn tables_and_code_by_their_endings() {
    assert_eq!(look("/mnt/data/a.CSV", b"a,b"), Look::Table(',', "a,b"));
    assert_eq!(look("/mnt/data/a.tsv", b"a"), Look::Table('\t', "a"));
    assert_eq!(look("/mnt/data/a.py", b"a"), Look::Text("python", "a"));
    assert_eq!(look("/mnt/data.csv/a", b"a"), Look::Text("", "a"));
    assert_eq!(look("/mnt/data/a.csv", b"a\0"), Look::Bytes);
}
