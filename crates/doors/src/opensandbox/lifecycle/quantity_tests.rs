//! Sizes in all their forms.

use super::*;

#[test]
fn memory_in_its_units() {
    for (text, expected) in [
        ("512Mi", 512 << 20),
        ("2Gi", 2 << 30),
        ("1.5Gi", 3 << 29),
        ("128974848", 128_974_848),
        ("129M", 129_000_000),
        ("1Ki", 1024),
        (" 1G ", 1_000_000_000),
    ] {
        assert_eq!(bytes(text), Some(expected), "{text}");
    }
    for text in ["", "Mi", "-1Mi", "1.2345Gi", "1 Gi x", "512MiB", "0x10", "99999999999999999999Ti", "1e3"] {
        assert_eq!(bytes(text), None, "{text}");
    }
}

#[test]
fn processors_whole_and_in_parts() {
    for (text, expected) in [("500m", 500), ("2", 2000), ("0.5", 500), ("1.25", 1250), ("250m", 250)] {
        assert_eq!(millis(text), Some(expected), "{text}");
    }
    for text in ["", "m", "-1", "1.5m", "two", "50000000000"] {
        assert_eq!(millis(text), None, "{text}");
    }
}
