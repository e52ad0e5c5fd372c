//! What the server tells of itself: metrics, traces, the form of its log.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Deserialize;

use super::errors::Problem;
use super::key_path::KeyPath;
use super::secrets::SecretText;

/// What the server tells of itself.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TelemetryFile {
    /// Where traces go, over OTLP/HTTP: the address of a collector, such as http://localhost:4318. Goes
    /// before OTEL_EXPORTER_OTLP_ENDPOINT; without both nothing is sent.
    pub(crate) otlp_endpoint: Option<String>,
    /// Sent with every export; values may be secrets, as `master_key`.
    pub(crate) otlp_headers: BTreeMap<String, SecretText>,
    /// Everybody who reaches the server may read /metrics. Otherwise it takes the master key, where there
    /// are keys.
    pub(crate) metrics_open: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// An object per line, for programs.
    Json,
}

/// Where traces go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TelemetrySettings {
    /// The whole address that spans are sent to.
    pub(crate) traces: Option<String>,
    pub(crate) headers: HashMap<String, super::Secret>,
    pub(crate) metrics_open: bool,
}

const PATH: &str = "/v1/traces";

impl TelemetryFile {
    pub(crate) fn check(&self) -> Result<TelemetrySettings, Problem> {
        let at = KeyPath::of("telemetry");
        let traces = match &self.otlp_endpoint {
            Some(base) => {
                let base = base.trim().trim_end_matches('/');
                let is_http = base.starts_with("http://") || base.starts_with("https://");
                if !is_http || base.parse::<http::Uri>().is_err() {
                    let message = "an address is wanted, such as http://localhost:4318";
                    return Err(Problem::at(at.key("otlp_endpoint"), message));
                }
                Some(if base.ends_with(PATH) { base.to_owned() } else { format!("{base}{PATH}") })
            }
            None => from_environment(|name| std::env::var(name).ok()),
        };
        let mut headers = HashMap::new();
        for (name, value) in &self.otlp_headers {
            let secret =
                value.find().map_err(|message| Problem::at(at.key("otlp_headers").key(name), message))?;
            headers.insert(name.clone(), secret);
        }
        Ok(TelemetrySettings { traces, headers, metrics_open: self.metrics_open })
    }
}

/// As the OpenTelemetry specification has it.
fn from_environment(get: impl Fn(&str) -> Option<String>) -> Option<String> {
    let get = |name: &str| get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let is = |name: &str, wanted: &str| get(name).is_some_and(|value| value.eq_ignore_ascii_case(wanted));
    if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
        return None;
    }
    get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(|| {
        get("OTEL_EXPORTER_OTLP_ENDPOINT").map(|base| format!("{}{PATH}", base.trim_end_matches('/')))
    })
}

#[cfg(test)]
#[path = "telemetry_tests.rs"]
mod tests;
