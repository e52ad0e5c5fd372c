//! The body of a request for a sandbox.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use sandgate_core::network::NetworkPolicy;
use sandgate_core::{KeyLimits, Limits, human_bytes};
use serde_json::{Map, Value, json};

use super::super::OpenSandboxSettings;
use super::super::error::{Answered, Refusal};
use super::body::{Fields, Problems, get};
use super::{image, metadata, network, quantity};
use crate::lent::{LARGEST_TEXTS, are_too_large, wall};

/// Seconds; less is refused.
const LEAST_TIMEOUT: u64 = 60;
/// What a kernel needs to start.
const LEAST_MEMORY: u64 = 64 << 20;
/// Less than this is no use to anybody.
const LEAST_CPU_MILLIS: u32 = 10;
/// Seconds by which a way in may put off the end.
const RENEWS: std::ops::RangeInclusive<u64> = 300..=86_400;
const RENEW: &str = "access.renew.extend.seconds";

#[derive(Debug)]
pub(super) struct Wish {
    pub(super) source: Source,
    /// None: that of the snapshot.
    pub(super) entrypoint: Option<Vec<String>>,
    /// Seconds; None: until somebody deletes it.
    pub(super) timeout: Option<u64>,
    pub(super) limits: Limits,
    pub(super) env: BTreeMap<String, String>,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) platform: Option<Value>,
    pub(super) extensions: BTreeMap<String, String>,
    pub(super) network: Option<Value>,
    /// What that means.
    pub(super) reach: Option<NetworkPolicy>,
    pub(super) renews: Option<u64>,
}

/// What a sandbox begins with.
#[derive(Debug)]
pub(super) enum Source {
    /// The name of a runtime of this server.
    Image(String),
    /// The id of what was kept of another.
    Snapshot(String),
}

impl Wish {
    /// `usual`: what a sandbox has when nothing is said. `key`: what its maker's key may have.
    pub(super) fn read(
        Fields(fields): &Fields,
        settings: &OpenSandboxSettings,
        usual: &Limits,
        key: &KeyLimits,
    ) -> Answered<Self> {
        let mut problems = Problems::default();
        let source = problems.object(fields, "image");
        let uri = source.and_then(|image| match image.get("uri") {
            Some(Value::String(uri)) => Some(uri.trim()),
            Some(other) => {
                problems.wrong("string", &["image", "uri"], other);
                None
            }
            None => {
                problems.missing(&["image", "uri"], &json!({}));
                None
            }
        });
        let snapshot = problems.text(fields, "snapshotId").filter(|id| !id.trim().is_empty());
        let template = problems.text(fields, "templateId").filter(|id| !id.trim().is_empty());
        let entrypoint = entrypoint(&mut problems, fields);
        let timeout = timeout(&mut problems, fields);
        let sizes = problems.texts(fields, "resourceLimits");
        problems.texts(fields, "resourceRequests");
        let env = variables(&mut problems, fields);
        let metadata = problems.texts(fields, "metadata").unwrap_or_default();
        let extensions = problems.texts(fields, "extensions").unwrap_or_default();
        let network = problems.object(fields, "networkPolicy");
        if let Some(network) = network {
            network::check(&mut problems, &["networkPolicy"], network);
        }
        if let Some(value) = get(fields, "secureAccess").filter(|value| !value.is_boolean()) {
            problems.wrong("bool", &["secureAccess"], value);
        }
        if let Some(value) = get(fields, "volumes").filter(|value| !value.is_array()) {
            problems.wrong("list", &["volumes"], value);
        }
        problems.done()?;

        refuse_unknown(fields, &extensions, template)?;
        let mut problems = Problems::default();
        let uri = uri.filter(|uri| !uri.is_empty());
        if uri.is_some() == snapshot.is_some() {
            problems.value("Exactly one of image or snapshotId must be provided.", fields);
        } else if uri.is_some() && entrypoint.is_none() {
            problems.value("Entrypoint is required when image is provided.", fields);
        } else if sizes.is_none() {
            problems.value("resourceLimits is required.", fields);
        }
        problems.done()?;
        let mut env = env;
        let source = match (uri, snapshot) {
            (None, Some(snapshot)) => Source::Snapshot(snapshot.trim().to_owned()),
            (uri, _) => {
                let uri = uri.unwrap_or_default();
                if let Some((name, version)) = image::find(settings, uri)?.version {
                    env.entry(name.to_owned()).or_insert(version);
                }
                Source::Image(uri.to_owned())
            }
        };
        metadata::check(&metadata)?;
        if are_too_large(&env) {
            return Err(Refusal::invalid(format!("The variables may have {LARGEST_TEXTS} bytes in all.")));
        }
        if let Some(seconds) = timeout {
            within(seconds, settings)?;
        }
        let asked = network.map(network::as_policy);
        Ok(Self {
            source,
            entrypoint: entrypoint.map(check_entrypoint).transpose()?,
            timeout,
            limits: sized(&sizes.unwrap_or_default(), settings, usual, key)?,
            env,
            metadata,
            platform: platform(fields)?,
            renews: renews(&extensions)?,
            extensions,
            reach: asked.as_ref().map(network::network_policy).transpose()?,
            network: asked,
        })
    }
}

fn entrypoint(problems: &mut Problems, fields: &Map<String, Value>) -> Option<Vec<String>> {
    let value = get(fields, "entrypoint")?;
    let Value::Array(words) = value else {
        problems.wrong("list", &["entrypoint"], value);
        return None;
    };
    if words.is_empty() {
        let message = "List should have at least 1 item after validation, not 0";
        problems.add("too_short", &["entrypoint"], message, value);
    }
    let texts = words.iter().enumerate().filter_map(|(place, word)| match word {
        Value::String(word) => Some(word.clone()),
        other => {
            problems.wrong("string", &["entrypoint", &place.to_string()], other);
            None
        }
    });
    Some(texts.collect())
}

fn check_entrypoint(words: Vec<String>) -> Answered<Vec<String>> {
    let is_wrong = words.first().is_none_or(|program| program.trim().is_empty())
        || words.iter().any(|word| word.contains('\0'));
    if is_wrong {
        let message = "the entrypoint must begin with a program, and hold no NUL byte";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "DOCKER::INVALID_ENTRYPOINT", message));
    }
    Ok(words)
}

fn timeout(problems: &mut Problems, fields: &Map<String, Value>) -> Option<u64> {
    let value = get(fields, "timeout")?;
    match value.as_u64() {
        Some(seconds) if seconds >= LEAST_TIMEOUT => return Some(seconds),
        None if !value.is_i64() => problems.wrong("int", &["timeout"], value),
        Some(_) | None => {
            let message = format!("Input should be greater than or equal to {LEAST_TIMEOUT}");
            problems.add("greater_than_equal", &["timeout"], &message, value);
        }
    }
    None
}

/// As long as a sandbox may last.
fn within(seconds: u64, settings: &OpenSandboxSettings) -> Answered<()> {
    let most = settings.max_timeout.as_secs();
    if seconds > most {
        let message = format!("Sandbox timeout {seconds}s exceeds configured maximum of {most}s.");
        return Err(Refusal::invalid(message));
    }
    Ok(())
}

/// A name without a value is left out.
fn variables(problems: &mut Problems, fields: &Map<String, Value>) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    for (name, value) in problems.object(fields, "env").into_iter().flatten() {
        let is_name = !name.is_empty() && !name.contains(['=', '\0']);
        match value {
            Value::Null => {}
            Value::String(text) if is_name && !text.contains('\0') => {
                env.insert(name.clone(), text.clone());
            }
            Value::String(_) => {
                let message = "Value error, this is no variable that a program can have";
                problems.add("value_error", &["env", name], message, &Value::Null);
            }
            other => problems.wrong("string", &["env", name], other),
        }
    }
    env
}

/// Everything that this server cannot give, each with its reason.
fn refuse_unknown(
    fields: &Map<String, Value>,
    extensions: &BTreeMap<String, String>,
    template: Option<&str>,
) -> Answered<()> {
    if template.is_some() {
        return Err(Refusal::not_here(
            "there are no templates here: create the sandbox from an image, such as opensandbox/code-interpreter",
        ));
    }
    if extensions.get("poolRef").is_some_and(|pool| !pool.trim().is_empty()) {
        return Err(Refusal::invalid("'extensions.poolRef': there are no named pools here"));
    }
    if get(fields, "volumes").and_then(Value::as_array).is_some_and(|volumes| !volumes.is_empty()) {
        let message = "'volumes': this server mounts nothing into sandboxes; write files into them instead";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "VOLUME::UNSUPPORTED_BACKEND", message));
    }
    if get(fields, "lifecycle").is_some() {
        return Err(Refusal::invalid("'lifecycle': this server runs no hooks; run the command yourself"));
    }
    if get(fields, "credentialProxy").and_then(|proxy| proxy.get("enabled")) == Some(&Value::Bool(true)) {
        return Err(Refusal::invalid("'credentialProxy': this server has no vault for credentials"));
    }
    Ok(())
}

/// What the sandbox may use: as asked for, within what server and key allow.
fn sized(
    sizes: &BTreeMap<String, String>,
    settings: &OpenSandboxSettings,
    usual: &Limits,
    key: &KeyLimits,
) -> Answered<Limits> {
    let wrong = |name: &str, value: &str, wanted: &str| {
        Refusal::invalid(format!("Invalid resourceLimits.{name}: '{value}'; {wanted}"))
    };
    let mut limits = usual.clone();
    limits.memory_bytes = key.memory_within(limits.memory_bytes);
    limits.wall = wall(usual, settings.max_timeout);
    if let Some(text) = sizes.get("memory") {
        let bytes = quantity::bytes(text).ok_or_else(|| wrong("memory", text, "such as 512Mi or 2Gi"))?;
        let most = key.memory_within(settings.max_memory.max(usual.memory_bytes));
        if !(LEAST_MEMORY..=most).contains(&bytes) {
            let wanted =
                format!("between {} and {} can be had here", human_bytes(LEAST_MEMORY), human_bytes(most));
            return Err(wrong("memory", text, &wanted));
        }
        limits.memory_bytes = bytes;
    }
    if let Some(text) = sizes.get("cpu") {
        let millis = quantity::millis(text).ok_or_else(|| wrong("cpu", text, "such as 500m or 2"))?;
        let most = settings.max_cpu_millis.max(usual.cpu_millis);
        if !(LEAST_CPU_MILLIS..=most).contains(&millis) {
            let wanted = format!("between {LEAST_CPU_MILLIS}m and {most}m can be had here");
            return Err(wrong("cpu", text, &wanted));
        }
        limits.cpu_millis = millis;
    }
    if let Some(text) = sizes.get("gpu").filter(|text| text.trim() != "0") {
        return Err(wrong("gpu", text, "sandboxes have no GPU here"));
    }
    Ok(limits)
}

fn platform(fields: &Map<String, Value>) -> Answered<Option<Value>> {
    let Some(platform) = get(fields, "platform") else { return Ok(None) };
    let here = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    if platform["os"] == "linux" && platform["arch"] == here {
        return Ok(Some(platform.clone()));
    }
    Err(Refusal::invalid(format!("'platform': sandboxes are linux/{here} here")))
}

fn renews(extensions: &BTreeMap<String, String>) -> Answered<Option<u64>> {
    let Some(text) = extensions.get(RENEW) else { return Ok(None) };
    match text.parse().ok().filter(|seconds| RENEWS.contains(seconds)) {
        Some(seconds) => Ok(Some(seconds)),
        None => Err(Refusal::invalid(format!(
            "extensions[\"{RENEW}\"] must be a number of seconds between {} and {}",
            RENEWS.start(),
            RENEWS.end()
        ))),
    }
}

#[cfg(test)]
#[path = "wish_tests.rs"]
mod tests;
