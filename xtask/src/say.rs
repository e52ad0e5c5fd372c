//! The one place that writes to the terminal.

use std::io::Write;

/// One line. A reader that went away is no reason to stop the work.
pub(crate) fn say(line: &str) {
    pass_through(format!("{line}\n").as_bytes());
}

/// Bytes of somebody else's output, as they are.
pub(crate) fn pass_through(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}
