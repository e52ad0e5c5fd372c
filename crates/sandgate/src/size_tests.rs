//! Sizes as people write them.

use super::*;

#[test]
fn the_usual_ways_to_write_a_size() {
    for (text, mib) in [
        ("1g", 1024),
        ("1G", 1024),
        ("1GiB", 1024),
        ("1gb", 1024),
        ("1.5g", 1536),
        ("512m", 512),
        ("512 MiB", 512),
        ("1073741824", 1024),
        ("0.25t", 256 << 10),
    ] {
        assert_eq!(memory(text), Ok(mib * MIB), "{text}");
    }
}

#[test]
fn what_is_no_size_is_refused() {
    for text in ["", "g", "1x", "-1g", "1.2.3g", "1e9", "inf", "NaN", "99999999999t", "1g1", "g1", "1 g b"] {
        assert_eq!(memory(text), Err(SizeError::Unreadable), "{text}");
    }
}

#[test]
fn too_little_is_refused() {
    assert_eq!(memory("63m"), Err(SizeError::TooSmall));
    assert_eq!(memory("0"), Err(SizeError::TooSmall));
}
