//! The network as a request wishes it, and the policy that it comes to.

use sandgate_core::network::{Action, InvalidTarget, NetworkPolicy, Ports, REGISTRIES, Rule};
use serde_json::{Map, Value, json};

use super::body::{Problems, get};
use crate::lent::read_target;

const ACTIONS: [&str; 2] = ["allow", "deny"];

/// `at`: where the policy is in the body.
pub(super) fn check(problems: &mut Problems, at: &[&str], policy: &Map<String, Value>) {
    no_others(problems, at, policy, &["defaultAction", "egress"]);
    if let Some(action) = get(policy, "defaultAction")
        && !is_action(action)
    {
        wrong_action(problems, &[at, &["defaultAction"]].concat(), action);
    }
    match get(policy, "egress") {
        None => {}
        Some(Value::Array(given)) => {
            for (place, rule) in given.iter().enumerate() {
                check_rule(problems, &[at, &["egress", &place.to_string()]].concat(), rule);
            }
        }
        Some(other) => problems.wrong("list", &[at, &["egress"]].concat(), other),
    }
}

fn check_rule(problems: &mut Problems, place: &[&str], rule: &Value) {
    let Value::Object(fields) = rule else { return problems.wrong("dict", place, rule) };
    no_others(problems, place, fields, &["action", "target"]);
    let at = |name: &'static str| [place, &[name][..]].concat();
    match fields.get("action") {
        None => problems.missing(&at("action"), rule),
        Some(action) if !is_action(action) => wrong_action(problems, &at("action"), action),
        Some(_) => {}
    }
    match fields.get("target") {
        None => problems.missing(&at("target"), rule),
        Some(target) if !target.is_string() => problems.wrong("string", &at("target"), target),
        Some(_) => {}
    }
}

/// A field that is overlooked may be one that was to narrow a rule.
fn no_others(problems: &mut Problems, place: &[&str], fields: &Map<String, Value>, known: &[&str]) {
    for (name, value) in
        fields.iter().filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null())
    {
        problems.add("extra_forbidden", &[place, &[name]].concat(), "Extra inputs are not permitted", value);
    }
}

fn is_action(value: &Value) -> bool {
    value.as_str().is_some_and(|action| ACTIONS.contains(&action))
}

fn wrong_action(problems: &mut Problems, place: &[&str], value: &Value) {
    problems.add("literal_error", place, "Input should be 'allow' or 'deny'", value);
}

/// Rules as the egress sidecar takes them by themselves.
pub(in crate::opensandbox) fn rules(value: &Value) -> Result<Vec<Value>, String> {
    let Value::Array(given) = value else { return Err("a list of rules is wanted".to_owned()) };
    let mut problems = Problems::default();
    for (place, rule) in given.iter().enumerate() {
        check_rule(&mut problems, &[&place.to_string()], rule);
    }
    first(&problems)?;
    Ok(given.iter().map(trimmed).collect())
}

fn first(problems: &Problems) -> Result<(), String> {
    match problems.0.first() {
        None => Ok(()),
        Some(problem) => Err(format!("{}: {}", problem["loc"], problem["msg"])),
    }
}

/// Whole, with what was left out. An empty one allows everything, as in the original when a sandbox starts.
pub(super) fn as_policy(policy: &Map<String, Value>) -> Value {
    whole(policy, if policy.is_empty() { "allow" } else { "deny" })
}

/// The same as the egress sidecar takes it while a sandbox runs: there an empty one denies everything.
pub(in crate::opensandbox) fn live_policy(policy: &Map<String, Value>) -> Result<Value, String> {
    let mut problems = Problems::default();
    check(&mut problems, &[], policy);
    first(&problems)?;
    Ok(whole(policy, "deny"))
}

fn whole(policy: &Map<String, Value>, usual: &str) -> Value {
    let action = get(policy, "defaultAction").and_then(Value::as_str).unwrap_or(usual);
    let egress = get(policy, "egress").and_then(Value::as_array);
    let egress: Vec<Value> = egress.into_iter().flatten().map(trimmed).collect();
    json!({"defaultAction": action, "egress": egress})
}

/// Blanks around a target do not count, as in the original.
fn trimmed(rule: &Value) -> Value {
    let mut rule = rule.clone();
    if let Some(Value::String(target)) = rule.get_mut("target") {
        *target = target.trim().to_owned();
    }
    rule
}

/// What it means. Names stand for the ports of the web, unless a port is said; what is denied is denied on all. Of the
/// package registries, as of every target, the first rule decides.
pub(in crate::opensandbox) fn network_policy(policy: &Value) -> Result<NetworkPolicy, InvalidTarget> {
    let (mut rules, mut registries) = (Vec::new(), None);
    for rule in policy["egress"].as_array().into_iter().flatten() {
        let text = rule["target"].as_str().unwrap_or_default();
        if text == REGISTRIES {
            registries.get_or_insert(rule["action"] == "allow");
            continue;
        }
        let target = read_target(text)?;
        let (action, target) = match rule["action"] == "allow" {
            true => (Action::Allow, target),
            false if target.ports() == Ports::Web => (Action::Deny, target.on_any_port()),
            false => (Action::Deny, target),
        };
        rules.push(Rule { action, target });
    }
    let default = if policy["defaultAction"] == "allow" { Action::Allow } else { Action::Deny };
    let registries = registries.unwrap_or(false);
    let policy = NetworkPolicy { rules, default, registries, ..NetworkPolicy::default() };
    policy.check()?;
    Ok(policy)
}

/// A policy of the server's in the form of the egress sidecar.
pub(in crate::opensandbox) fn shown_policy(policy: &NetworkPolicy) -> Value {
    let rule = |rule: &Rule| json!({"action": rule.action, "target": rule.target});
    let mut egress: Vec<Value> = policy.rules.iter().map(rule).collect();
    egress.extend(policy.registries.then(|| json!({"action": Action::Allow, "target": REGISTRIES})));
    json!({"defaultAction": policy.default, "egress": egress})
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
