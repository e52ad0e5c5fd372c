//! What clients ask to be run.

use std::collections::BTreeMap;
use std::time::Duration;

use sandgate_core::StartProcess;
use serde::Deserialize;

use super::super::guest::{Guest, check_ids};
use super::super::refusal::Refusal;
use super::super::variables::with_variables;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Wish {
    /// For the shell.
    #[serde(default)]
    command: Option<String>,
    /// A program and what it is given, as they are.
    #[serde(default)]
    argv: Option<Vec<String>>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    pub(super) background: bool,
    /// Milliseconds.
    #[serde(default)]
    timeout: Option<i64>,
    #[serde(default)]
    uid: Option<u32>,
    #[serde(default)]
    gid: Option<u32>,
    #[serde(default)]
    envs: Option<BTreeMap<String, String>>,
}

impl Wish {
    pub(super) fn shell(text: String) -> Self {
        Self { command: Some(text), ..Self::default() }
    }

    /// What it is called, and what is started.
    pub(super) async fn into_start(self, guest: &Guest) -> Result<(String, StartProcess), Refusal> {
        let invalid = |what: &str| Refusal::invalid(format!("invalid request, validation error {what}"));
        check_ids(self.uid, self.gid)?;
        let timeout = timeout(self.timeout)?;
        let (content, program, args) = match (self.command.filter(|text| !text.is_empty()), self.argv) {
            (Some(text), None) => (text.clone(), "bash".to_owned(), vec!["-c".to_owned(), text]),
            (None, Some(argv)) => {
                let content = argv.join(" ");
                let mut words = argv.into_iter();
                let program = words.next().filter(|program| !program.is_empty());
                let program = program.ok_or_else(|| invalid("argv must contain a non-empty executable"))?;
                (content, program, words.collect())
            }
            _ => return Err(invalid("exactly one of non-empty command or argv is required")),
        };
        if program.contains('\0') || args.iter().any(|word| word.contains('\0')) {
            return Err(invalid("a command must not contain NUL"));
        }
        let cwd = Some(guest.folder(self.cwd.as_deref()).await?);
        let env = with_variables(guest, self.envs.unwrap_or_default()).await;
        Ok((content, StartProcess { program, args, env, cwd, timeout, ..StartProcess::default() }))
    }
}

/// None or nothing: as long as it likes.
pub(in super::super) fn timeout(millis: Option<i64>) -> Result<Option<Duration>, Refusal> {
    match millis {
        None | Some(0) => Ok(None),
        Some(millis) => {
            let millis = u64::try_from(millis).map_err(|_| {
                Refusal::invalid("invalid request, validation error timeout must be at least 1 millisecond")
            })?;
            Ok(Some(Duration::from_millis(millis)))
        }
    }
}
