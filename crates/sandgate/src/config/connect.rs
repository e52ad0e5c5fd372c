//! One upstream of the configuration, connected.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use sandgate_gate::upstream::{
    ChatOptions, ChatUpstream, Connection, ConnectionConfig, Loopback, ResponsesUpstream, Upstream,
};

use super::errors::Problem;
use super::file::{Api, MaxTokensField, UpstreamFile};
use super::key_path::KeyPath;
use super::litellm_models::API_KEY;

/// Headers that hold a key.
const KEYS: [&str; 3] = ["authorization", API_KEY, "x-api-key"];

pub(super) struct Connected {
    pub(super) upstream: Arc<dyn Upstream>,
    /// What and where it is, without a secret.
    pub(super) said: String,
}

pub(super) fn loopback() -> Connected {
    Connected { upstream: Arc::new(Loopback), said: "loopback, which is no model".to_owned() }
}

/// Keys of the file have other names where the file is another kind.
fn key_of(file: &UpstreamFile, path: &KeyPath, name: &str) -> KeyPath {
    let name = match (file.origin.is_some(), name) {
        (true, "url") => "api_base",
        (true, "key") => "api_key",
        (_, name) => name,
    };
    path.key(name)
}

pub(super) fn connect(file: &UpstreamFile, path: &KeyPath) -> Result<Connected, Problem> {
    if file.api == Api::Loopback {
        return Ok(loopback());
    }
    let Some(url) = file.url.as_deref() else {
        return Err(Problem::at(key_of(file, path, "url"), "this key is missing"));
    };
    let key = match &file.key {
        Some(key) => {
            let found = key.find();
            Some(found.map_err(|message| Problem::at(key_of(file, path, "key"), message))?)
        }
        None => None,
    };
    let has_key =
        key.is_some() || file.headers.keys().any(|name| KEYS.contains(&name.to_lowercase().as_str()));
    let whose = if has_key { "with the configured key" } else { "with each client's own key" };
    let mut config = ConnectionConfig::new(url);
    config.key = key.map(|key| key.expose().to_owned());
    config.headers = headers(file, path)?;
    let times = [
        ("timeout_seconds", file.timeout_seconds, &mut config.read_timeout),
        ("connect_timeout_seconds", file.connect_timeout_seconds, &mut config.connect_timeout),
    ];
    for (name, seconds, time) in times {
        match seconds {
            Some(0) => return Err(Problem::at(key_of(file, path, name), "must be at least 1")),
            Some(seconds) => *time = Duration::from_secs(seconds),
            None => {}
        }
    }
    let connection =
        Connection::new(config).map_err(|cause| Problem::at(key_of(file, path, "url"), cause.to_string()))?;
    let options = ChatOptions { max_tokens: file.max_tokens_field == MaxTokensField::MaxTokens };
    let (upstream, speaks): (Arc<dyn Upstream>, _) = match file.api {
        Api::Chat => (Arc::new(ChatUpstream::new(connection, options)), "Chat Completions"),
        Api::Responses | Api::Loopback => (Arc::new(ResponsesUpstream::new(connection)), "Responses"),
    };
    // What stands behind a question mark may be a secret.
    let place = url.split('?').next().unwrap_or_default();
    Ok(Connected { upstream, said: format!("{place} ({speaks}), {whose}") })
}

fn headers(file: &UpstreamFile, path: &KeyPath) -> Result<HeaderMap, Problem> {
    let mut headers = HeaderMap::new();
    for (name, value) in &file.headers {
        let at = match name.as_str() {
            API_KEY if file.origin.is_some() => path.key("api_key"),
            name => path.key("headers").key(name),
        };
        let secret = value.find().map_err(|message| Problem::at(at.clone(), message))?;
        let wrong = |what: &str| Problem::at(at.clone(), format!("this is no {what} of a header"));
        let name = HeaderName::try_from(name.as_str()).map_err(|_| wrong("name"))?;
        let mut value = HeaderValue::try_from(secret.expose()).map_err(|_| wrong("value"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}
