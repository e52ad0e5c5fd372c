//! Failures inside in the words of the core.

use sandgate_agent::protocol::{Failure, FailureKind};
use sandgate_core::BackendError;

/// What is kept of a text from inside.
const MAX_TEXT: usize = 500;

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_TEXT));
    text
}

/// About a file.
pub(super) fn of_file(path: &str, failure: Failure) -> BackendError {
    let at = path.to_owned();
    match failure.kind {
        FailureKind::NotFound => BackendError::NoSuchFile(at),
        FailureKind::Exists => BackendError::Exists(at),
        FailureKind::IsFolder => BackendError::IsFolder(at),
        FailureKind::NotAFolder => BackendError::NotAFolder(at),
        FailureKind::Denied => BackendError::PermissionDenied(at),
        FailureKind::NoSpace => BackendError::NoSpace(at),
        FailureKind::Invalid => BackendError::Invalid(cut(failure.text)),
        FailureKind::Busy => BackendError::Busy(cut(failure.text)),
        FailureKind::PortClosed | FailureKind::Other => {
            BackendError::File { path: at, reason: cut(failure.text) }
        }
    }
}

/// About a process that could not be started.
pub(super) fn of_process(failure: Failure) -> BackendError {
    match failure.kind {
        FailureKind::Busy => BackendError::Busy(cut(failure.text)),
        _ => BackendError::Invalid(cut(failure.text)),
    }
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
