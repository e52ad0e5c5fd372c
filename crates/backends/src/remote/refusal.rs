//! What went wrong at a provider, in the words of all backends.

use std::time::Duration;

use sandgate_core::BackendError;

use crate::ProviderError;

/// Where the provider does not say when to come back.
const USUAL_RETRY: Duration = Duration::from_secs(5);

pub(super) fn backend_error(backend: &str, error: ProviderError) -> BackendError {
    match error {
        ProviderError::NoSuchFile(path) => BackendError::NoSuchFile(path),
        ProviderError::File { path, reason } => BackendError::File { path, reason },
        ProviderError::TooLarge { limit, .. } => BackendError::FileTooLarge { limit },
        ProviderError::Unsupported(what) => BackendError::Unsupported(what),
        // Asking again, or somebody else, would not make it right.
        refused @ ProviderError::Refused { .. } => {
            BackendError::Invalid(format!("backend '{backend}': {refused}"))
        }
        other => {
            let retry = match &other {
                ProviderError::RateLimited { retry_after: Some(after), .. } => *after,
                _ => USUAL_RETRY,
            };
            unavailable(backend, other.to_string(), retry)
        }
    }
}

pub(super) fn unavailable(backend: &str, reason: String, retry: Duration) -> BackendError {
    BackendError::Unavailable { backend: backend.to_owned(), reason, retry_seconds: retry.as_secs().max(1) }
}
