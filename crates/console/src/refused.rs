//! Why code of a page did not run: for whoever wrote it, and on record.

use sandgate_core::BackendError;
use sandgate_gate::{Asker, NotRun};

/// The words for the page.
pub(crate) fn said(asker: &Asker, refused: NotRun) -> String {
    let (code, text) = match refused {
        NotRun::Denied(denial) => ("execution_denied", format!("It was not run: {denial}")),
        NotRun::Backend(BackendError::Engine(reason)) => {
            tracing::error!(reason, "the console could not run code");
            ("engine_failed", "The sandbox failed; the server's log says why.".to_owned())
        }
        NotRun::Backend(error) => ("backend", format!("It was not run: {error}.")),
        NotRun::Store(error) => {
            tracing::error!(%error, "an execution could not be recorded");
            (
                "not_recorded",
                "It was not run: what runs must be on record, and the record could not be written."
                    .to_owned(),
            )
        }
    };
    asker.call.failed(code);
    text
}
