//! What is said back of a key that was refused.

use super::shown;

#[test]
fn little_is_said_back_of_a_key() {
    assert_eq!(shown("sg-abcdefghijklmnop"), "sg-ab***");
    for secret in ["", "short", "sg-4567890", "sg-äbcdefghijklm", "sg-ab cdefghijkl"] {
        assert_eq!(shown(secret), "***", "{secret}");
    }
}
