//! Texts from inside are bounded; kinds keep their meaning.

use sandgate_agent::protocol::{Failure, FailureKind};
use sandgate_core::BackendError;

use super::{of_file, of_process};

#[test]
fn a_text_from_inside_is_cut() {
    let failure = Failure { kind: FailureKind::Other, text: "ä".repeat(100_000) };
    assert!(of_process(failure.clone()).to_string().len() <= 500);
    assert!(of_file("/x", failure).to_string().len() <= 510);
}

#[test]
fn kinds_keep_their_meaning() {
    let of = |kind| of_file("/a", Failure { kind, text: String::new() });
    assert!(matches!(of(FailureKind::NotFound), BackendError::NoSuchFile(path) if path == "/a"));
    assert!(matches!(of(FailureKind::Denied), BackendError::PermissionDenied(_)));
    assert!(matches!(of(FailureKind::NoSpace), BackendError::NoSpace(_)));
    assert!(matches!(of(FailureKind::NotAFolder), BackendError::NotAFolder(_)));
}
