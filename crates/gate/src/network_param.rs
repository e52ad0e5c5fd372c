//! The network policy of a request in OpenAI's form, read strictly. Secrets go into the policy and nowhere else:
//! what is said back, stored or shown never has them.

use sandgate_core::Secret;
use sandgate_core::network::{DomainSecret, InvalidTarget, MOST_SECRETS, NetworkPolicy, REGISTRIES, Target};
use serde_json::{Map, Value, json};

use crate::container_param::only_known;
use crate::error::{GateError, Result};

/// More than anybody writes, less than anybody waits for.
const MOST_DOMAINS: usize = 1000;

/// What a request asks its container to reach.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedNetwork {
    pub policy: NetworkPolicy,
    /// In OpenAI's form, without secrets.
    pub said: Value,
}

pub fn read_network_policy(value: Option<&Value>, at: &str) -> Result<Option<AskedNetwork>> {
    let policy = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(policy)) => policy,
        Some(other) => return Err(GateError::wrong_type(at, "an object", other)),
    };
    match policy.get("type") {
        None => Err(GateError::missing(format!("{at}.type"))),
        Some(Value::String(kind)) if kind == "disabled" => {
            only_known(policy, at, &["type"])?;
            let said = json!({"type": "disabled"});
            Ok(Some(AskedNetwork { policy: NetworkPolicy::disabled(), said }))
        }
        Some(Value::String(kind)) if kind == "allowlist" => read_allowlist(policy, at).map(Some),
        Some(Value::String(other)) => Err(GateError::bad_value(
            format!("{at}.type"),
            format!("Invalid value: '{other}'. Supported values are: 'disabled' and 'allowlist'."),
        )),
        Some(other) => Err(GateError::wrong_type(format!("{at}.type"), "a string", other)),
    }
}

fn read_allowlist(fields: &Map<String, Value>, at: &str) -> Result<AskedNetwork> {
    only_known(fields, at, &["type", "allowed_domains", "domain_secrets"])?;
    let domains_at = format!("{at}.allowed_domains");
    let domains = match fields.get("allowed_domains") {
        None => return Err(GateError::missing(domains_at)),
        Some(value) => list(value, &domains_at, MOST_DOMAINS)?,
    };
    let (mut targets, mut registries) = (Vec::with_capacity(domains.len()), false);
    for (index, domain) in domains.iter().enumerate() {
        let place = format!("{domains_at}[{index}]");
        let text =
            domain.as_str().ok_or_else(|| GateError::wrong_type(place.as_str(), "a string", domain))?;
        if text == REGISTRIES {
            registries = true;
            continue;
        }
        let target: Target =
            text.parse().map_err(|error| GateError::bad_value(place.as_str(), format!("{error}.")))?;
        if target.names().is_none() {
            let message = format!("'{text}' is an address; the domain of a host is wanted.");
            return Err(GateError::bad_value(place, message));
        }
        targets.push(target);
    }
    let secrets_at = format!("{at}.domain_secrets");
    let secrets = read_secrets(fields.get("domain_secrets"), &targets, &secrets_at)?;
    let policy = NetworkPolicy { registries, secrets, ..NetworkPolicy::allowlist(targets) };
    policy.check().map_err(|error| {
        let place = if matches!(error, InvalidTarget::SecretTwice { .. }) { &secrets_at } else { at };
        GateError::bad_value(place, format!("{error}."))
    })?;
    Ok(AskedNetwork { policy, said: json!({"type": "allowlist", "allowed_domains": domains}) })
}

fn read_secrets(value: Option<&Value>, allowed: &[Target], at: &str) -> Result<Vec<DomainSecret>> {
    let given = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(value) => list(value, at, MOST_SECRETS)?,
    };
    let mut secrets = Vec::with_capacity(given.len());
    for (index, secret) in given.iter().enumerate() {
        let place = format!("{at}[{index}]");
        // Not shown in the error: it may hold the value.
        let Value::Object(fields) = secret else {
            return Err(GateError::bad_value(
                place,
                "An object with 'domain', 'name' and 'value' is wanted.",
            ));
        };
        only_known(fields, &place, &["domain", "name", "value"])?;
        let text = |name: &str| match fields.get(name) {
            None => Err(GateError::missing(format!("{place}.{name}"))),
            Some(Value::String(text)) if !text.is_empty() => Ok(text.as_str()),
            Some(_) => {
                Err(GateError::bad_value(format!("{place}.{name}"), "A string that is not empty is wanted."))
            }
        };
        let (domain, name, value) = (text("domain")?, text("name")?, text("value")?);
        let made = DomainSecret::new(domain, name.to_owned(), Secret::new(value.to_owned()));
        let made = made.map_err(|error| {
            GateError::bad_value(format!("{place}.{}", field_of(&error)), format!("{error}."))
        })?;
        if !allowed.iter().any(|target| made.is_within(target)) {
            let message = format!("The domain '{domain}' is not among 'allowed_domains'.");
            return Err(GateError::bad_value(format!("{place}.domain"), message));
        }
        secrets.push(made);
    }
    Ok(secrets)
}

/// Which field of a secret is wrong.
fn field_of(error: &InvalidTarget) -> &'static str {
    if matches!(error, InvalidTarget::SecretName(_) | InvalidTarget::ReservedSecretName { .. }) {
        "name"
    } else if matches!(error, InvalidTarget::SecretValue(..)) {
        "value"
    } else {
        "domain"
    }
}

/// With at least one element, and not too many.
fn list<'a>(value: &'a Value, at: &str, most: usize) -> Result<&'a Vec<Value>> {
    let Value::Array(items) = value else { return Err(GateError::wrong_type(at, "an array", value)) };
    let (what, bound, code) = match items.len() {
        0 => ("short", "minimum length 1".to_owned(), "array_below_min_length"),
        count if count > most => ("long", format!("maximum length {most}"), "array_above_max_length"),
        _ => return Ok(items),
    };
    let message = format!(
        "Invalid '{at}': array too {what}. Expected an array with {bound}, but got an array with length {} instead.",
        items.len()
    );
    Err(GateError::Invalid { message, param: Some(at.to_owned()), code: Some(code) })
}

#[cfg(test)]
#[path = "network_param_tests.rs"]
mod tests;
