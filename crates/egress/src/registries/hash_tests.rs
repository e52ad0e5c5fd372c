//! A hash is read as it is written, and nothing else is one.

use super::{Hash, Hasher};

#[test]
fn hashes_are_read_as_they_are_written() {
    let hash = Hasher::like(Hash::Sha256([0; 32])).finish();
    assert_eq!(Hash::read(&hash.to_string()), Some(hash));
    let long = Hash::Sha512([7; 64]);
    assert_eq!(Hash::read(&long.to_string()), Some(long));
    for wrong in ["", "sha256-", "sha256-abc", "md5-00", "sha256-../../x", "sha512-ab"] {
        assert_eq!(Hash::read(wrong), None, "{wrong}");
    }
}
