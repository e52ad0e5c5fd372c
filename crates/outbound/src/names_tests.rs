//! Which names lead to this machine without a question.

use super::*;

#[test]
fn names_below_localhost_are_this_machine_and_no_others_are() {
    for name in ["api.localhost", "49999-iabc.sandboxes.localhost", "API.LocalHost", "a.localhost."] {
        assert!(is_below_localhost(name), "{name}");
    }
    for name in ["localhost", "notlocalhost", "a.localhost.example.com", "localhost.example.com", ""] {
        assert!(!is_below_localhost(name), "{name}");
    }
}
