//! Commands that the gate itself has to run in a sandbox.

use http::Method;
use serde::{Deserialize, Serialize};

use super::control::LARGEST;
use super::place::DaytonaPlace;
use crate::{ProviderError, ProviderResult};

/// For one that does next to nothing.
const SECONDS: u64 = 10;
const MOST_WORDS: usize = 200;

#[derive(Debug, Serialize)]
struct Execute<'a> {
    command: &'a str,
    timeout: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Executed {
    exit_code: i64,
    #[serde(default)]
    result: String,
}

impl DaytonaPlace {
    /// Where code works. In Daytona's own images programs are not root, and what is above the folder is root's; there
    /// they may become root without a password.
    pub(super) async fn make_working_folder(&self, path: &str) -> ProviderResult<()> {
        let refused = match self.make_folder(path).await {
            Err(ProviderError::File { reason, .. }) => reason,
            other => return other,
        };
        let folder = quoted(path);
        let command = format!("sudo -n mkdir -p {folder} && sudo -n chmod 777 {folder}");
        let call = self.call(Method::POST, "/process/execute", &[])?;
        let call = call.json(&Execute { command: &command, timeout: SECONDS })?;
        let done: Executed = self.demand(call, ProviderError::from).await?.json(LARGEST).await?;
        if done.exit_code == 0 {
            return Ok(());
        }
        let words: String = done.result.chars().filter(|c| !c.is_control()).take(MOST_WORDS).collect();
        let reason =
            format!("cannot be made ({refused}), nor by root (exit code {}: {words})", done.exit_code);
        Err(ProviderError::File { path: path.to_owned(), reason })
    }
}

/// As one word of a shell's.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
