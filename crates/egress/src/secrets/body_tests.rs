//! A value is found wherever it is cut.

use super::{Pairs, passed, replaced};

fn pairs() -> Pairs {
    vec![(b"s3cret".to_vec(), b"placeholder".to_vec()), (b"other".to_vec(), b"o".to_vec())]
}

#[test]
fn values_become_placeholders() {
    assert_eq!(
        replaced(b"a s3cret b s3crets3cret other.", &pairs()),
        b"a placeholder b placeholderplaceholder o."
    );
    assert_eq!(replaced(b"s3cre", &pairs()), b"s3cre");
    assert_eq!(replaced(b"", &pairs()), b"");
}

#[test]
fn pieces_make_no_difference() {
    let text = b"xs3s3cret othe other s3cre";
    for size in 1..text.len() {
        let (mut out, mut held) = (Vec::new(), Vec::new());
        for piece in text.chunks(size) {
            held.extend(piece);
            let (clean, rest) = passed(&held, &pairs(), false);
            out.extend(clean);
            held = rest;
        }
        out.extend(replaced(&held, &pairs()));
        assert_eq!(out, replaced(text, &pairs()), "{size}");
    }
}
