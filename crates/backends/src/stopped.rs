//! Errors that are no exceptions of the code, but say what ended it from outside. Providers that have a stream
//! of errors put both into it.

use sandgate_core::CodeError;

use crate::RunEnd;

/// None: the code raised it.
pub(crate) fn ending(error: &CodeError) -> Option<RunEnd> {
    // One of the code's own comes with the place where it was raised.
    if error.traceback.iter().any(|line| !line.trim().is_empty()) {
        return None;
    }
    let said = || if error.value.is_empty() { error.name.clone() } else { error.value.clone() };
    match error.name.as_str() {
        "UnexpectedEndOfExecution" | "ContextRestarting" | "WebSocketError" | "MemoryLimitExceeded" => {
            Some(RunEnd::Died(said()))
        }
        "ExecutionAborted" => Some(RunEnd::Interrupted),
        "TimeoutError" => Some(RunEnd::TimedOut),
        _ => None,
    }
}
