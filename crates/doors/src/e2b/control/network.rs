//! What a sandbox may reach, in E2B's words: first what is allowed, then what is denied, then the internet, as far
//! as the operator's ceiling and the key go. Whoever asks for the internet in general still gets a sandbox where
//! there is none, as the operator's rule goes before the client's; whoever names what it must reach is told.

use axum::extract::State;
use axum::http::StatusCode;
use sandgate_core::network::{Action, NetworkPolicy, REGISTRIES, Rule, Target};
use sandgate_core::{Containers, KeyLimits, LeaseState};
use serde_json::{Map, Value, json};

use super::super::Door;
use super::super::error::{E2bError, E2bResult};
use super::body::Fields;
use crate::lent::{Ids, read_target};
use crate::owner::Who;

/// What this server does not do for anybody.
const NOT_HERE: [(&str, &str); 3] = [
    ("egressProxy", "this server sends traffic through no other proxy"),
    ("rules", "this server does not rewrite requests"),
    ("dnsServers", "the operator chooses the name servers"),
];
/// What an update replaces.
const UPDATED: [&str; 4] = ["allowOut", "denyOut", "egressProxy", "rules"];
/// What it has no word for, and stays as it was when the sandbox was made.
const KEPT: [&str; 3] = ["allowPublicTraffic", "httpsPorts", "maskRequestHost"];
const MOST_TARGETS: usize = 1000;
const MOST_PORTS: usize = 100;

/// What a request says of the network.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Asked {
    allowed: Vec<Target>,
    denied: Vec<Target>,
    /// Whether the package registries are among what is allowed, by their word.
    registries: bool,
    internet: Option<bool>,
}

impl Asked {
    pub(super) fn read(network: Option<&Map<String, Value>>, internet: Option<bool>) -> E2bResult<Self> {
        let Some(network) = network else { return Ok(Self { internet, ..Self::default() }) };
        for (name, why) in NOT_HERE {
            let asked = match network.get(name) {
                None | Some(Value::Null) => false,
                Some(Value::Array(items)) => !items.is_empty(),
                Some(Value::Object(fields)) => !fields.is_empty(),
                Some(_) => return Err(E2bError::bad_request(format!("'network.{name}' has the wrong type"))),
            };
            if asked {
                return Err(E2bError::bad_request(format!("'network.{name}' cannot be granted: {why}")));
            }
        }
        match network.get("allowPublicTraffic") {
            None | Some(Value::Null | Value::Bool(_)) => {}
            Some(_) => {
                return Err(E2bError::bad_request("'network.allowPublicTraffic' must be true or false"));
            }
        }
        check_ports(network.get("httpsPorts"))?;
        let mut allowed = texts(network, "allowOut")?;
        let given = allowed.len();
        allowed.retain(|text| *text != REGISTRIES);
        let registries = allowed.len() < given;
        let allowed = targets(&allowed, "allowOut")?;
        let denied = targets(&texts(network, "denyOut")?, "denyOut")?;
        if let Some(name) = denied.iter().find(|target| target.addresses().is_none()) {
            let message = format!("'network.denyOut' takes addresses and ranges of them, not '{name}'");
            return Err(E2bError::bad_request(message));
        }
        let asked = Self { allowed, denied, registries, internet };
        let names = registries || asked.allowed.iter().any(|target| target.names().is_some());
        if names && !asked.denies_the_rest() {
            return Err(E2bError::bad_request(
                "'network.allowOut' with domains needs '0.0.0.0/0' in 'network.denyOut': names say nothing \
                 while every address is allowed",
            ));
        }
        Ok(asked)
    }

    /// A network that is closed.
    pub(super) fn nothing() -> Self {
        Self { internet: Some(false), ..Self::default() }
    }

    fn denies_the_rest(&self) -> bool {
        self.internet == Some(false) || self.denied.iter().any(Target::is_everything)
    }

    /// The policy to ask for; None: nothing in particular.
    pub(super) fn policy(
        &self,
        containers: &Containers,
        allowance: &KeyLimits,
    ) -> E2bResult<Option<NetworkPolicy>> {
        if !self.allowed.is_empty() || self.denies_the_rest() {
            let mut policy = NetworkPolicy::allow_then_deny(self.allowed.clone(), self.denied.clone());
            policy.registries = self.registries;
            if self.denies_the_rest() {
                policy.default = Action::Deny;
            }
            return Ok(Some(policy));
        }
        let widest = self.internet.is_some() || !self.denied.is_empty();
        let widest = widest.then(|| containers.widest_network(allowance)).flatten();
        if self.denied.is_empty() {
            return Ok(widest);
        }
        // What there is, without what is denied.
        let mut policy = match widest {
            Some(open) => open,
            None => containers.network_within(None, allowance)?,
        };
        let denied = self.denied.iter().cloned().map(|target| Rule { action: Action::Deny, target });
        policy.rules.splice(0..0, denied);
        Ok(Some(policy))
    }
}

/// Ports inside at which TLS is spoken.
fn check_ports(ports: Option<&Value>) -> E2bResult<()> {
    let is_port = |value: &Value| value.as_u64().is_some_and(|port| (1..=65535).contains(&port));
    match ports {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(ports)) if ports.len() <= MOST_PORTS && ports.iter().all(is_port) => Ok(()),
        Some(_) => {
            let message = format!("'network.httpsPorts' takes up to {MOST_PORTS} numbers of ports");
            Err(E2bError::bad_request(message))
        }
    }
}

fn texts<'a>(network: &'a Map<String, Value>, name: &str) -> E2bResult<Vec<&'a str>> {
    let wrong = || E2bError::bad_request(format!("'network.{name}' has the wrong type"));
    let given = match network.get(name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(given)) if given.len() <= MOST_TARGETS => given,
        Some(Value::Array(_)) => {
            let message = format!("'network.{name}' may have {MOST_TARGETS} entries at most");
            return Err(E2bError::bad_request(message));
        }
        Some(_) => return Err(wrong()),
    };
    given.iter().map(|value| value.as_str().ok_or_else(wrong)).collect()
}

fn targets(texts: &[&str], name: &str) -> E2bResult<Vec<Target>> {
    let target = |text: &&str| {
        read_target(text).map_err(|error| E2bError::bad_request(format!("'network.{name}': {error}")))
    };
    texts.iter().map(target).collect()
}

/// Replaces the rules for what the sandbox may reach; those for who may reach it stay.
pub(super) async fn update(
    State(door): State<Door>,
    Who(who): Who,
    Ids(id): Ids<String>,
    fields: Fields,
) -> E2bResult<StatusCode> {
    let lease = door.lease(&who.owner, &id)?;
    // What is left out is cleared, and with it whatever kept the sandbox from the internet.
    let allow_internet = fields.flag("allow_internet_access")?.or(Some(true));
    let asked = Asked::read(Some(&fields.fields), allow_internet)?;
    if lease.state == LeaseState::Paused {
        return Err(E2bError::conflict("the sandbox is paused; resume it first"));
    }
    let policy = asked.policy(&door.containers, &who.limits)?;
    let container = door.leases.container(&lease)?;
    door.containers.set_lent_network(&container, policy, &who.limits).await?;
    let Fields { fields: mut new, .. } = fields;
    new.retain(|name, _| UPDATED.contains(&name.as_str()));
    let change = move |details: &mut Value| {
        for name in KEPT {
            if let Some(kept) = details["network"].get(name) {
                new.insert(name.to_owned(), kept.clone());
            }
        }
        details["network"] = Value::Object(new);
        details["allow_internet"] = json!(allow_internet);
    };
    door.leases.change_details(&lease.id, change).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
