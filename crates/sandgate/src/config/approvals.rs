//! Who is asked before code runs, as the configuration says it: rules compiled, the webhook checked.

use std::collections::BTreeSet;
use std::time::Duration;

use sandgate_core::Secret;
use sandgate_gate::{InvalidWebhook, Policy, Rule, Stance, Webhook, WebhookWhen};

use super::approvals_file::{ApprovalsFile, RuleFile, StanceFile, WebhookFile, WhenFile};
use super::errors::Problem;
use super::key_path::KeyPath;

/// The policy, and a line that says what it is.
#[derive(Debug)]
pub(crate) struct ApprovalSettings {
    pub(crate) policy: Policy,
    pub(crate) said: Option<String>,
}

impl ApprovalSettings {
    /// `has_master`: whether there is a key with which people can decide.
    pub(crate) fn of(file: &ApprovalsFile, has_master: bool) -> Result<Self, Problem> {
        let path = KeyPath::of("approvals");
        for (name, value) in
            [("person_timeout_seconds", file.person_timeout_seconds), ("max_held", file.max_held as u64)]
        {
            if value == 0 {
                return Err(Problem::at(path.key(name), "must be at least 1"));
            }
        }
        let webhook = file.webhook.as_ref().map(|hook| webhook(hook, &path.key("webhook"))).transpose()?;
        // Without a webhook that can say something else, nobody would ever answer.
        let can_ask = has_master || webhook.is_some();
        let nobody = "nobody could answer: people decide with the master key, and there is no 'master_key'";
        let mut rules = Vec::with_capacity(file.rules.len());
        let mut names = BTreeSet::new();
        for (number, written) in file.rules.iter().enumerate() {
            let path = path.key("rules").index(number);
            if !names.insert(written.name.trim()) {
                return Err(Problem::at(path.key("name"), "another rule has this name already"));
            }
            if written.then == StanceFile::Ask && !can_ask {
                return Err(Problem::at(path.key("then"), nobody));
            }
            rules.push(rule(written, &path)?);
        }
        if file.default == StanceFile::Ask && !can_ask {
            return Err(Problem::at(path.key("default"), nobody));
        }
        let said = said(file, webhook.as_ref());
        let policy = Policy {
            rules,
            default: stance(file.default),
            webhook,
            person: Duration::from_secs(file.person_timeout_seconds),
            most_held: file.max_held,
        };
        Ok(Self { policy, said })
    }
}

fn rule(file: &RuleFile, path: &KeyPath) -> Result<Rule, Problem> {
    let name = file.name.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(Problem::at(path.key("name"), "a name is wanted"));
    }
    if file.reason.as_deref().is_some_and(|reason| reason.trim().is_empty()) {
        return Err(Problem::at(path.key("reason"), "a sentence is wanted, or no 'reason' at all"));
    }
    let reason = file.reason.as_deref().map(|reason| reason.trim().to_owned());
    Rule::new(name.to_owned(), &file.when, stance(file.then), reason)
        .map_err(|error| Problem::at(path.key("when"), error.to_string()))
}

fn webhook(file: &WebhookFile, path: &KeyPath) -> Result<Webhook, Problem> {
    if file.timeout_seconds == 0 {
        return Err(Problem::at(path.key("timeout_seconds"), "must be at least 1"));
    }
    let secret = file.secret.find().map_err(|message| Problem::at(path.key("secret"), message))?;
    let when = match file.when {
        WhenFile::Always => WebhookWhen::Always,
        WhenFile::Asked => WebhookWhen::Asked,
    };
    let secret = Secret::new(secret.expose().to_owned());
    Webhook::new(&file.url, &secret, Duration::from_secs(file.timeout_seconds), when).map_err(|error| {
        let key = if error == InvalidWebhook::Secret { "secret" } else { "url" };
        Problem::at(path.key(key), error.to_string())
    })
}

fn stance(file: StanceFile) -> Stance {
    match file {
        StanceFile::Allow => Stance::Allow,
        StanceFile::Deny => Stance::Deny,
        StanceFile::Ask => Stance::Ask,
    }
}

/// None where all code runs.
fn said(file: &ApprovalsFile, webhook: Option<&Webhook>) -> Option<String> {
    if file.rules.is_empty() && webhook.is_none() && file.default == StanceFile::Allow {
        return None;
    }
    let mut parts = vec![match file.rules.len() {
        0 => "no rules".to_owned(),
        1 => "1 rule".to_owned(),
        many => format!("{many} rules"),
    }];
    if let (Some(webhook), Some(file)) = (webhook, &file.webhook) {
        let when = if file.when == WhenFile::Always { "of all that is left" } else { "where asked" };
        parts.push(format!("a webhook at {} {when}", webhook.place()));
    }
    let always = file.webhook.as_ref().is_some_and(|hook| hook.when == WhenFile::Always);
    if !always {
        parts.push(match file.default {
            StanceFile::Allow => "otherwise allowed".to_owned(),
            StanceFile::Deny => "otherwise denied".to_owned(),
            StanceFile::Ask => "otherwise asked".to_owned(),
        });
    }
    parts.push(format!("a person has {} s", file.person_timeout_seconds));
    Some(format!("approvals: {}", parts.join(", ")))
}

#[cfg(test)]
#[path = "approvals_tests.rs"]
mod tests;
