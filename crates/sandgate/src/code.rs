//! The code to run: from the command line, a file or standard input; UTF-8 and of bounded size.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use anyhow::{Context, Result};

use crate::bad_input::BadInput;

/// `inline` is what `-c` gave; `source` a path, or `-` for standard input.
pub(crate) fn read(inline: Option<OsString>, source: Option<&Path>, limit: u64) -> Result<String> {
    match (inline, source) {
        (Some(code), _) => checked(code.into_vec(), "the code given with -c", limit),
        (None, Some(path)) if path != Path::new("-") => {
            let name = path.display().to_string();
            let file =
                File::open(path).map_err(|error| BadInput::error(format!("cannot open {name}: {error}")))?;
            from_reader(file, &name, limit)
        }
        (None, source) => {
            let stdin = io::stdin();
            if source.is_none() && stdin.is_terminal() {
                return Err(BadInput::error(
                    "nothing to run: give -c CODE, a file, or code on standard input; 'sandgate repl' is the prompt",
                ));
            }
            from_reader(stdin.lock(), "standard input", limit)
        }
    }
}

fn from_reader(reader: impl Read, name: &str, limit: u64) -> Result<String> {
    let mut bytes = Vec::new();
    reader
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {name}"))?;
    checked(bytes, name, limit)
}

fn checked(bytes: Vec<u8>, name: &str, limit: u64) -> Result<String> {
    if bytes.len() as u64 > limit {
        return Err(BadInput::error(format!("{name} is longer than the limit of {limit} bytes of code")));
    }
    let mut code = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        BadInput::error(format!("{name} is not UTF-8 text: the byte at offset {offset} fits no character"))
    })?;
    if code.starts_with('\u{feff}') {
        code.remove(0);
    }
    Ok(code)
}

#[cfg(test)]
#[path = "code_tests.rs"]
mod tests;
