//! What a sandbox may reach, in E2B's words: first what is allowed, then what is denied, then the rest: the internet
//! for who asks for it, as far as the operator's ceiling and the key go, and else what the server gives to those who
//! ask for nothing. Whoever asks for the internet in general still gets a sandbox where there is none, as the
//! operator's rule goes before the client's; whoever names what it must reach is told.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::uri::Authority;
use sandgate_core::network::{Action, NetworkPolicy, REGISTRIES, Target};
use sandgate_core::{Containers, KeyLimits, LeaseState, Principal};
use serde_json::{Map, Value, json};

use super::super::details::Details;
use super::super::error::{E2bError, E2bResult};
use super::super::{Door, E2bDoor};
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
const INTERNET: &str = "allow_internet_access";
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
        // A misspelt denial would deny nothing.
        let is_not_here = |name: &str| NOT_HERE.iter().any(|(other, _)| *other == name);
        let is_known = |name: &str| UPDATED.contains(&name) || KEPT.contains(&name) || is_not_here(name);
        if let Some(name) = network.keys().find(|name| !is_known(name)) {
            let name: String = name.chars().take(100).collect();
            return Err(E2bError::bad_request(format!("'network' has no field '{name}'")));
        }
        for (name, why) in NOT_HERE {
            let asked = match network.get(name) {
                None | Some(Value::Null) => false,
                Some(Value::Array(items)) => !items.is_empty(),
                Some(Value::Object(fields)) => !fields.values().all(is_nothing),
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
        check_mask(network.get("maskRequestHost"))?;
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
        let named = || NetworkPolicy::allow_then_deny(self.allowed.clone(), self.denied.clone());
        if self.denies_the_rest() {
            return Ok(Some(NetworkPolicy { default: Action::Deny, registries: self.registries, ..named() }));
        }
        let asks_for_all = self.internet == Some(true);
        let all = asks_for_all.then(|| containers.widest_network(allowance)).flatten();
        if self.allowed.is_empty() && self.denied.is_empty() {
            return Ok(all);
        }
        let rest = match all {
            Some(open) => open,
            None => containers.network_within(None, allowance)?,
        };
        let rules = named().rules.into_iter().chain(rest.rules).collect();
        Ok(Some(NetworkPolicy { rules, ..rest }))
    }
}

/// Whether a field of what is not done here asks for nothing: rules of a domain that are none, or that do nothing.
fn is_nothing(value: &Value) -> bool {
    let is_empty = |item: &Value| item.as_object().is_some_and(|rule| rule.values().all(Value::is_null));
    value.is_null() || value.as_array().is_some_and(|items| items.iter().all(is_empty))
}

/// The host that programs inside are told, with a place for the port.
fn check_mask(mask: Option<&Value>) -> E2bResult<()> {
    let is_host = |text: &str| {
        let host = text.replace("${PORT}", "80");
        let parsed = host.parse::<Authority>().ok().filter(|host| !host.host().is_empty());
        parsed.is_some_and(|parsed| match host.strip_prefix(parsed.host()) {
            Some("") => true,
            _ => parsed.port_u16().is_some() && !host.contains('@'),
        })
    };
    match mask {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(text)) if is_host(text) => Ok(()),
        Some(_) => Err(E2bError::bad_request(
            "'network.maskRequestHost' must be a host, perhaps with a port or '${PORT}', as in 'localhost:${PORT}'",
        )),
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
    let work = Arc::clone(&door);
    door.to_the_end(async move {
        // One change after the other: what is on record, and what forks are made with, is what is enforced.
        let _turn = work.state.0.networks.turn(&lease.owner, &lease.id).await;
        work.change_network(&who, &lease.id, fields).await
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

impl E2bDoor {
    async fn change_network(&self, who: &Principal, id: &str, mut fields: Fields) -> E2bResult<()> {
        let lease = self.lease(&who.owner, id)?;
        // What is left out is cleared, also what kept the sandbox from the internet since it was made. It has no more
        // then than its maker asked for.
        let at_first = Details::of(&lease).internet_at_first.filter(|asked| *asked);
        let allow_internet = fields.flag(INTERNET)?.or(at_first);
        // It stands among the network's own fields here, and beside them where a sandbox is made.
        fields.fields.remove(INTERNET);
        let asked = Asked::read(Some(&fields.fields), allow_internet)?;
        if lease.state == LeaseState::Paused {
            return Err(E2bError::conflict("the sandbox is paused; resume it first"));
        }
        let policy = asked.policy(&self.containers, &who.limits)?;
        let container = self.leases.container(&lease)?;
        self.containers.set_lent_network(&container, policy, &who.limits).await?;
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
        self.leases.change_details(&lease.id, change).await?;
        Ok(())
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
