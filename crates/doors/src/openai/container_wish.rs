//! The body of `POST /v1/containers`, read strictly: what this server cannot give is refused by name,
//! never left out silently.

use std::time::Duration;

use sandgate_core::{KeyLimits, NewContainer, Principal, SandboxSpec, human_bytes};
use sandgate_gate::{
    AskedNetwork, GateError, memory_bytes, only_known, read_file_ids, read_memory_limit, read_network_policy,
};
use serde_json::{Map, Value};

use super::error::{ApiError, ApiResult};

const KNOWN: [&str; 6] = ["name", "file_ids", "expires_after", "memory_limit", "network_policy", "skills"];
const LONGEST_NAME: usize = 512;
/// A day: an idle container holds memory all that time. Its files stay much longer.
const MOST_MINUTES: u64 = 24 * 60;

#[derive(Debug)]
pub(super) struct ContainerWish {
    name: String,
    pub(super) file_ids: Vec<String>,
    idle: Option<Duration>,
    memory_limit: Option<String>,
    pub(super) network: Option<AskedNetwork>,
}

impl ContainerWish {
    pub(super) fn read(
        fields: &Map<String, Value>,
        max_memory: u64,
        allowance: &KeyLimits,
    ) -> ApiResult<Self> {
        only_known(fields, "", &KNOWN)?;
        let memory_limit = read_memory_limit(fields.get("memory_limit"), "memory_limit")?;
        check_memory(memory_limit.as_deref(), max_memory, allowance)?;
        check_skills(fields.get("skills"))?;
        Ok(Self {
            name: name(fields.get("name"))?,
            file_ids: read_file_ids(fields.get("file_ids"), "file_ids")?,
            idle: idle(fields.get("expires_after"))?,
            memory_limit,
            network: read_network_policy(fields.get("network_policy"), "network_policy")?,
        })
    }

    /// What it is without its files. `usual`: what a container gets that asks for nothing.
    pub(super) fn container(self, who: Principal, usual: &SandboxSpec) -> NewContainer {
        let mut spec = usual.clone();
        spec.limits.memory_bytes = match self.memory_limit.as_deref().and_then(memory_bytes) {
            Some(bytes) => bytes,
            // Who asks for nothing gets what there is.
            None => who.limits.memory_within(spec.limits.memory_bytes),
        };
        NewContainer {
            owner: who.owner,
            allowance: who.limits,
            name: Some(self.name),
            spec,
            idle: self.idle,
            memory_limit: self.memory_limit,
            network_policy: self.network.as_ref().map(|asked| asked.said.clone()),
            network: self.network.map(|asked| asked.policy),
            ..NewContainer::default()
        }
    }
}

fn name(value: Option<&Value>) -> ApiResult<String> {
    let name = match value {
        None => return Err(GateError::missing("name").into()),
        Some(Value::String(name)) => name,
        Some(other) => return Err(GateError::wrong_type("name", "a string", other).into()),
    };
    let length = name.chars().count();
    if length > LONGEST_NAME {
        let message = format!(
            "Invalid 'name': string too long. Expected a string with maximum length {LONGEST_NAME}, but got a \
             string with length {length} instead."
        );
        return Err(ApiError::bad_request(message).about("name").coded("string_above_max_length"));
    }
    Ok(name.clone())
}

fn check_memory(limit: Option<&str>, most: u64, allowance: &KeyLimits) -> ApiResult<()> {
    let (who, most) = match allowance.memory_bytes {
        Some(own) if own < most => ("key", own),
        _ => ("server", most),
    };
    match limit {
        Some(name) if memory_bytes(name).is_some_and(|bytes| bytes > most) => {
            let most = human_bytes(most);
            let message = format!("Invalid value: '{name}'. This {who} gives a container {most} at most.");
            Err(GateError::bad_value("memory_limit", message).into())
        }
        Some(_) | None => Ok(()),
    }
}

fn check_skills(skills: Option<&Value>) -> ApiResult<()> {
    match skills {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(skills)) if skills.is_empty() => Ok(()),
        Some(Value::Array(_)) => {
            let message = "This server has no skills yet; leave 'skills' out.";
            Err(ApiError::bad_request(message).about("skills").coded("unsupported_parameter"))
        }
        Some(other) => Err(GateError::wrong_type("skills", "an array", other).into()),
    }
}

fn idle(value: Option<&Value>) -> ApiResult<Option<Duration>> {
    let fields = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(fields)) => fields,
        Some(other) => return Err(GateError::wrong_type("expires_after", "an object", other).into()),
    };
    only_known(fields, "expires_after", &["anchor", "minutes"])?;
    match fields.get("anchor") {
        None => return Err(GateError::missing("expires_after.anchor").into()),
        Some(Value::String(anchor)) if anchor == "last_active_at" => {}
        Some(Value::String(other)) => {
            let message = format!("Invalid value: '{other}'. Supported values are: 'last_active_at'.");
            return Err(GateError::bad_value("expires_after.anchor", message).into());
        }
        Some(other) => return Err(GateError::wrong_type("expires_after.anchor", "a string", other).into()),
    }
    minutes(fields.get("minutes")).map(Some)
}

fn minutes(value: Option<&Value>) -> ApiResult<Duration> {
    const NAME: &str = "expires_after.minutes";
    let Some(value) = value else { return Err(GateError::missing(NAME).into()) };
    let refused = |what: &str, bound: String, code: &'static str| {
        let message = format!(
            "Invalid '{NAME}': integer {what} value. Expected a value {bound}, but got {value} instead."
        );
        Err(ApiError::bad_request(message).about(NAME).coded(code))
    };
    match (value.as_u64(), value.as_i64()) {
        (Some(minutes @ 1..=MOST_MINUTES), _) => Ok(Duration::from_secs(minutes * 60)),
        (Some(0), _) | (None, Some(_)) => {
            refused("below minimum", ">= 1".to_owned(), "integer_below_min_value")
        }
        (Some(_), _) => refused("above maximum", format!("<= {MOST_MINUTES}"), "integer_above_max_value"),
        (None, None) => Err(GateError::wrong_type(NAME, "an integer", value).into()),
    }
}
