//! Images: names for the runtime of this server. None is ever pulled, and nothing of one is run.

use axum::http::StatusCode;

use super::super::OpenSandboxSettings;
use super::super::error::{Answered, Refusal};

/// The one with the interpreters.
pub(super) const CODE_INTERPRETER: &str = "opensandbox/code-interpreter";
/// Those that the SDKs and their examples name.
const KNOWN: [&str; 4] = [CODE_INTERPRETER, "python", "debian", "ubuntu"];

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// A variable that says which version of a language the image stands for.
    pub(super) version: Option<(&'static str, String)>,
}

pub(super) fn find(settings: &OpenSandboxSettings, uri: &str) -> Answered<Chosen> {
    let (name, tag) = parts(uri);
    let is_there = KNOWN.contains(&name)
        || [uri, name, without_registry(without_tag(uri).0)]
            .iter()
            .any(|name| settings.images.contains(*name));
    if !is_there {
        let all: Vec<_> = KNOWN.into_iter().chain(settings.images.iter().map(String::as_str)).collect();
        let message = format!(
            "image '{uri}' is not known here: no images are pulled, their names stand for runtimes of this server; \
             there is: {}. The operator adds names in 'opensandbox.images'.",
            all.join(", ")
        );
        let status = StatusCode::BAD_REQUEST;
        return Err(Refusal::new(status, "DOCKER::SANDBOX_IMAGE_PULL_FAILED", message));
    }
    let version = tag.filter(|_| name == "python").and_then(minor).map(|version| ("PYTHON_VERSION", version));
    Ok(Chosen { version })
}

pub(in crate::opensandbox) fn is_code_interpreter(uri: &str) -> bool {
    parts(uri).0 == CODE_INTERPRETER
}

/// The plain name and the tag: `python` and `3.11` of `docker.io/library/python:3.11@sha256:…`.
fn parts(uri: &str) -> (&str, Option<&str>) {
    let (path, tag) = without_tag(uri);
    let path = without_registry(path);
    (path.strip_prefix("library/").unwrap_or(path), tag)
}

fn without_tag(uri: &str) -> (&str, Option<&str>) {
    let uri = uri.split('@').next().unwrap_or(uri);
    match uri.rsplit_once(':') {
        // A colon before a slash is one of a port.
        Some((path, tag)) if !tag.contains('/') => (path, Some(tag)),
        _ => (uri, None),
    }
}

fn without_registry(path: &str) -> &str {
    match path.split_once('/') {
        Some((host, rest)) if host.contains(['.', ':']) || host == "localhost" => rest,
        _ => path,
    }
}

/// `3.11` of `3.11.9-slim`.
fn minor(tag: &str) -> Option<String> {
    let mut numbers = tag.split(['-', '.']);
    let mut number =
        || numbers.next().filter(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    Some(format!("{}.{}", number()?, number()?))
}

#[cfg(test)]
#[path = "image_tests.rs"]
mod tests;
