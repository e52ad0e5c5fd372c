//! Whether a piece of shell is whole, as Bash itself sees it; without a Bash, every piece is.

use std::io::Write;
use std::process::{Command, Stdio};

/// Reads the piece without running it. Only what ends too early goes on: other faults are told when it runs.
pub(super) fn is_complete(input: &str) -> bool {
    if input.trim_end_matches('\n').ends_with('\\') && !input.ends_with('\n') {
        return false;
    }
    match complaint(input) {
        Some(said) => {
            !(said.contains("unexpected end of file")
                || said.contains("unexpected EOF")
                || (said.contains("delimited by end-of-file") && !input.ends_with("\n\n")))
        }
        None => true,
    }
}

fn complaint(input: &str) -> Option<String> {
    let mut bash = Command::new("bash")
        .args(["--norc", "--noprofile", "-n"])
        .env_clear()
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    // It reads to the end before it complains, so this cannot wait for long.
    let _ = bash.stdin.take()?.write_all(input.as_bytes());
    let output = bash.wait_with_output().ok()?;
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}
