//! A program to be started in a sandbox, as the server describes it to whoever starts it.

use std::convert::Infallible;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;

use crate::process::execute;
use crate::{Result, StepError, sys};

/// What `execve` takes, and where it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub folder: String,
    /// The first is the path of the program.
    pub arguments: Vec<String>,
    /// Each as `NAME=value`.
    pub environment: Vec<String>,
}

fn malformed(what: &str) -> StepError {
    StepError::new("reading a program to start", std::io::Error::other(what.to_owned()))
}

impl Program {
    /// None: a text has a NUL inside, or there is no program.
    #[must_use]
    pub fn encode(&self) -> Option<Vec<u8>> {
        let count = self.arguments.len().to_string();
        let words: Vec<&str> = [self.folder.as_str(), &count]
            .into_iter()
            .chain(self.arguments.iter().chain(&self.environment).map(String::as_str))
            .collect();
        let whole = !self.arguments.is_empty() && !words.iter().any(|word| word.contains('\0'));
        whole.then(|| words.join("\0").into_bytes())
    }

    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes).map_err(|_| malformed("not text"))?;
        let mut words = text.split('\0').map(str::to_owned);
        let folder = words.next().ok_or_else(|| malformed("no folder"))?;
        let count = words.next().and_then(|count| count.parse().ok()).ok_or_else(|| malformed("no count"))?;
        let arguments: Vec<String> = words.by_ref().take(count).collect();
        if arguments.is_empty() || arguments.len() < count {
            return Err(malformed("arguments are missing"));
        }
        Ok(Self { folder, arguments, environment: words.collect() })
    }

    /// From a file that holds it, read from its beginning.
    pub fn read(file: OwnedFd) -> Result<Self> {
        let failed = |error| StepError::new("reading a program to start", error);
        let mut file = std::fs::File::from(file);
        file.rewind().map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        Self::decode(&bytes)
    }

    /// Replaces this process.
    pub fn start(&self) -> Result<Infallible> {
        sys::chdir(&sys::c_string(&self.folder)?)?;
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let environment: Vec<&str> = self.environment.iter().map(String::as_str).collect();
        let program = arguments.first().ok_or_else(|| malformed("no program"))?;
        execute(program, &arguments, &environment)
    }
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
