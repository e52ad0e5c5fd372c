//! Files that go in before the code runs: `--file PATH[=NAME]`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sandgate_core::{BackendError, Files, SandboxPath};

use crate::bad_input::BadInput;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Input {
    from: PathBuf,
    to: SandboxPath,
}

impl Input {
    /// A name that holds `=` itself is taken whole when there is such a file.
    pub(crate) fn parse(argument: &OsString) -> Result<Self> {
        let bytes = argument.as_bytes();
        let whole = Path::new(argument);
        let equals = bytes.iter().rposition(|byte| *byte == b'=').filter(|_| !whole.exists());
        let (from, name) = match equals {
            Some(at) => {
                let from = OsString::from_vec(bytes[..at].to_vec());
                (PathBuf::from(from), OsString::from_vec(bytes[at + 1..].to_vec()))
            }
            None => (whole.to_owned(), whole.file_name().unwrap_or_default().to_owned()),
        };
        let shown = from.display().to_string();
        let meta =
            from.metadata().map_err(|error| BadInput::error(format!("cannot use {shown}: {error}")))?;
        if meta.is_dir() {
            return Err(BadInput::error(format!(
                "{shown} is a folder; --file takes one file, and may be repeated"
            )));
        }
        let name = name.into_string().map_err(|_| {
            BadInput::error(format!("the name of {shown} is not UTF-8; give another one: --file PATH=NAME"))
        })?;
        let to = SandboxPath::parse(&name).map_err(|error| BadInput::error(error.to_string()))?;
        Ok(Self { from, to })
    }

    pub(crate) async fn put(&self, files: &dyn Files) -> Result<()> {
        let shown = self.from.display();
        let mut content =
            tokio::fs::File::open(&self.from).await.with_context(|| format!("cannot open {shown}"))?;
        let put = files.write(&self.to, &mut content).await.map(drop);
        put.map_err(|error| {
            let is_place = matches!(
                error,
                BackendError::File { .. }
                    | BackendError::Exists(_)
                    | BackendError::IsFolder(_)
                    | BackendError::NotAFolder(_)
                    | BackendError::PermissionDenied(_)
            );
            let what = format!("cannot put {shown} into the sandbox");
            // A name that the sandbox has no place for is the user's choice.
            if is_place {
                BadInput::error(format!("{what}: {error}"))
            } else {
                anyhow::Error::new(error).context(what)
            }
        })
    }
}

#[cfg(test)]
#[path = "inputs_tests.rs"]
mod tests;
