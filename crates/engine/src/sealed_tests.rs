//! What was written stays as it is.

use std::fs::File;
use std::io::{Read, Seek, Write};

use super::sealed;

#[test]
fn a_sealed_file_can_be_read_and_not_changed() {
    let descriptor = sealed("x", |file| file.write_all(b"as it is")).unwrap();
    let mut file = File::from(descriptor);
    assert!(file.write_all(b"more").is_err());
    assert!(file.set_len(3).is_err());
    file.rewind().unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "as it is");
}

#[test]
fn what_cannot_be_filled_is_an_error() {
    assert!(sealed("x", |_| Err(std::io::ErrorKind::NotFound.into())).is_err());
}
