//! What the operator wants asked, of whom, and what holds when nobody has anything to say.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::facts::Facts;
use super::imports::imports;
use super::rule::{Rule, Stance};
use super::webhook::{Webhook, WebhookWhen};
use super::{DecidedBy, Denial, Permission, Verdict};

#[derive(Debug)]
pub struct Policy {
    /// The first that holds decides.
    pub rules: Vec<Rule>,
    /// For code that no rule speaks of, where no webhook is asked.
    pub default: Stance,
    pub webhook: Option<Webhook>,
    /// How long a person may take.
    pub person: Duration,
    /// How many may wait for a person at once.
    pub most_held: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            default: Stance::Allow,
            webhook: None,
            person: Duration::from_secs(300),
            most_held: 100,
        }
    }
}

/// Where the rules leave it.
#[derive(Debug)]
pub(super) enum Next {
    Decided(Verdict),
    /// Somebody else is to be asked, for this reason.
    Webhook(DecidedBy, Option<String>),
    Person(DecidedBy, Option<String>),
}

impl Policy {
    /// Whether all code runs, and nothing has to be looked at.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.webhook.is_none() && self.default == Stance::Allow
    }

    /// Reads the imports and goes through the rules. May take a while, so not for a thread that others need; it ends
    /// soon once `left` is true.
    pub(super) fn judge(&self, facts: &mut Facts, left: &AtomicBool) -> Next {
        match imports(&facts.language, &facts.code, left) {
            Ok(imports) => facts.imports = imports,
            Err(problem) => {
                let reason = format!("it could not be judged, as {problem}");
                return Next::Decided(Verdict::Denied(Denial::new(DecidedBy::Default, reason)));
            }
        }
        for rule in &self.rules {
            let by = DecidedBy::Rule(rule.name.clone());
            match rule.holds(facts) {
                Ok(false) => {}
                Ok(true) => return self.follow(rule.then, by, rule.reason.clone()),
                Err(problem) => {
                    let name = &rule.name;
                    tracing::error!(
                        rule = name,
                        approval = facts.id,
                        problem,
                        "a rule failed: the code is denied"
                    );
                    let reason = format!("the rule '{name}' could not be applied to it");
                    return Next::Decided(Verdict::Denied(Denial::new(by, reason)));
                }
            }
        }
        match &self.webhook {
            Some(hook) if hook.when == WebhookWhen::Always => Next::Webhook(DecidedBy::Default, None),
            _ => self.follow(self.default, DecidedBy::Default, None),
        }
    }

    fn follow(&self, stance: Stance, by: DecidedBy, reason: Option<String>) -> Next {
        match stance {
            Stance::Allow => Next::Decided(Verdict::Allowed(Permission { by, reason })),
            Stance::Deny => {
                let reason = reason.unwrap_or_else(|| match &by {
                    DecidedBy::Rule(name) => format!("the rule '{name}' forbids it"),
                    _ => "nothing allows it".to_owned(),
                });
                Next::Decided(Verdict::Denied(Denial { by, reason }))
            }
            Stance::Ask if self.webhook.is_some() => Next::Webhook(by, reason),
            Stance::Ask => Next::Person(by, reason),
        }
    }
}
