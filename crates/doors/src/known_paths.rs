//! Other spellings of our paths. A client may be configured without `/v1`, or as for Azure, and LiteLLM takes
//! those; its probes ask for health by three names. All become the one path that doors, keys, records and
//! figures know, before any of them looks.

use std::borrow::Cow;

use axum::extract::Request;

use crate::access::HEALTH;
use crate::lent::uri_with_path;

/// What the first part of a path of OpenAI's may be. Other doors have other words.
const OPENAI: [&str; 12] = [
    "audio",
    "chat",
    "completions",
    "containers",
    "conversations",
    "embeddings",
    "files",
    "images",
    "models",
    "moderations",
    "rerank",
    "responses",
];
/// As LiteLLM calls it, with the slip of its pen.
const PROBES: [&str; 3] = ["/health/liveliness", "/health/liveness", "/health/readiness"];
/// Before the name of a model, which is called a deployment there.
const DEPLOYMENTS: [&str; 2] = ["/openai/deployments/", "/engines/"];
/// What may follow such a name: paths with a JSON body, the longest first.
const OF_A_MODEL: [&str; 4] = ["/chat/completions", "/completions", "/embeddings", "/images/generations"];

/// In a request's extensions: the model that its path names. It counts where the body names none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelInPath(pub(crate) String);

/// The request for the path that is meant.
pub(crate) fn led(mut request: Request) -> Request {
    let Some((path, model)) = meant(request.uri().path()) else { return request };
    if let Some(uri) = uri_with_path(request.uri(), &path) {
        *request.uri_mut() = uri;
        if let Some(model) = model {
            request.extensions_mut().insert(ModelInPath(model));
        }
    }
    request
}

/// None: it is what it is.
fn meant(path: &str) -> Option<(Cow<'_, str>, Option<String>)> {
    if PROBES.contains(&path) {
        return Some((HEALTH.into(), None));
    }
    if let Some(rest) = DEPLOYMENTS.iter().find_map(|place| path.strip_prefix(place)) {
        let (name, operation) =
            OF_A_MODEL.iter().find_map(|operation| Some((rest.strip_suffix(operation)?, operation)))?;
        let name = decoded(name).filter(|name| !name.is_empty())?;
        return Some((format!("/v1{operation}").into(), Some(name)));
    }
    let plain = match path.strip_prefix("/openai") {
        Some(rest) => rest.strip_prefix("/v1").unwrap_or(rest),
        None => path,
    };
    let first = plain.strip_prefix('/')?.split('/').next()?;
    OPENAI.contains(&first).then(|| (format!("/v1{plain}").into(), None))
}

/// A slash in a name may be written as `%2F`.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
#[path = "known_paths_tests.rs"]
mod tests;
