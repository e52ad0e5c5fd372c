//! Errors that are no exceptions of the code, but say what ended it from outside. Providers that have a stream
//! of errors put both into it.

use sandgate_core::CodeError;

use crate::RunEnd;

/// None: the code raised it.
pub(crate) fn ending(error: &CodeError) -> Option<RunEnd> {
    let said = || if error.value.is_empty() { error.name.clone() } else { error.value.clone() };
    match error.name.as_str() {
        "UnexpectedEndOfExecution" | "ContextRestarting" | "WebSocketError" | "MemoryLimitExceeded" => {
            Some(RunEnd::Died(said()))
        }
        "ExecutionAborted" => Some(RunEnd::Interrupted),
        // One of the code's own comes with the place where it was raised.
        "TimeoutError" if error.traceback.iter().all(|line| line.trim().is_empty()) => Some(RunEnd::TimedOut),
        _ => None,
    }
}
