//! Which model the gate stands in front of: the configuration's, the environment's, or the built-in
//! stand-in.

use std::sync::Arc;
use std::time::Duration;

use sandgate_gate::upstream::{
    ChatOptions, ChatUpstream, Connection, ConnectionConfig, InvalidConnection, Loopback, ResponsesUpstream,
    Upstream,
};
use serde::Deserialize;

const OPENAI: &str = "https://api.openai.com/v1";

/// `upstream:` as written in the configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpstreamFile {
    url: String,
    /// A secret: `env:NAME`, `file:PATH`, `os.environ/NAME`, or the key itself. Without one, the client's
    /// own key is passed on.
    #[serde(default)]
    key: Option<String>,
    #[serde(default)]
    api: Api,
    #[serde(default = "usual_timeout")]
    timeout_seconds: u64,
}

/// What the upstream speaks.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Api {
    #[default]
    Responses,
    /// Chat Completions only.
    Chat,
}

fn usual_timeout() -> u64 {
    600
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum UpstreamProblem {
    #[error("the upstream's key is to come from the variable {0}, which is not set")]
    NoVariable(String),
    #[error("the upstream's key is to come from the file {path}: {cause}")]
    NoFile { path: String, cause: std::io::Error },
    #[error("the upstream '{url}': {cause}")]
    Connection { url: String, cause: InvalidConnection },
}

/// The upstream, and a sentence that says which it is.
pub(crate) struct Chosen {
    pub(crate) upstream: Arc<dyn Upstream>,
    pub(crate) said: String,
}

pub(crate) fn choose(file: Option<&UpstreamFile>) -> Result<Chosen, UpstreamProblem> {
    if let Some(file) = file {
        let key = file.key.as_deref().map(secret).transpose()?;
        return connect(file, key);
    }
    match std::env::var("OPENAI_API_KEY") {
        Ok(key) if !key.trim().is_empty() => {
            let file = UpstreamFile {
                url: OPENAI.to_owned(),
                key: None,
                api: Api::Responses,
                timeout_seconds: usual_timeout(),
            };
            connect(&file, Some(key))
        }
        _ => Ok(Chosen {
            upstream: Arc::new(Loopback),
            said: "no model is configured: answering with loopback, which runs the fenced code of the last \
                   message and is no model; set OPENAI_API_KEY or 'upstream' in the configuration for a real one"
                .to_owned(),
        }),
    }
}

fn connect(file: &UpstreamFile, key: Option<String>) -> Result<Chosen, UpstreamProblem> {
    let config = ConnectionConfig {
        key,
        read_timeout: Duration::from_secs(file.timeout_seconds),
        ..ConnectionConfig::new(&file.url)
    };
    let whose = if config.key.is_some() { "with the configured key" } else { "with each client's own key" };
    let connection = Connection::new(config)
        .map_err(|cause| UpstreamProblem::Connection { url: file.url.clone(), cause })?;
    let (upstream, speaks): (Arc<dyn Upstream>, _) = match file.api {
        Api::Responses => (Arc::new(ResponsesUpstream::new(connection)), "Responses"),
        Api::Chat => (Arc::new(ChatUpstream::new(connection, ChatOptions::default())), "Chat Completions"),
    };
    // What stands behind a question mark may be a secret.
    let place = file.url.split('?').next().unwrap_or_default();
    Ok(Chosen { upstream, said: format!("models come from {place} ({speaks}), {whose}") })
}

fn secret(text: &str) -> Result<String, UpstreamProblem> {
    let variable = text.strip_prefix("env:").or_else(|| text.strip_prefix("os.environ/"));
    if let Some(name) = variable {
        return std::env::var(name).map_err(|_| UpstreamProblem::NoVariable(name.to_owned()));
    }
    if let Some(path) = text.strip_prefix("file:") {
        let read = std::fs::read_to_string(path);
        return read
            .map(|key| key.trim().to_owned())
            .map_err(|cause| UpstreamProblem::NoFile { path: path.to_owned(), cause });
    }
    Ok(text.to_owned())
}

#[cfg(test)]
#[path = "upstream_tests.rs"]
mod tests;
