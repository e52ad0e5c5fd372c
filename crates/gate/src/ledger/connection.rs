//! The record of one connection that code in a sandbox made or tried to make. Never what was sent.

use std::net::IpAddr;
use std::time::Duration;

use sandgate_core::Owner;
use sandgate_store::LedgerRecord;
use serde_json::{Map, Value, json};

use super::call::clipped;
use super::entry::fresh_id;
use super::{Ledger, exact_millis, millis, now_ms};

/// One connection, when it is over.
#[derive(Clone, Debug)]
pub struct Connection {
    /// How it came: `connect`, `http`, `socks`, `transparent`, `dns`, `registry`.
    pub way: &'static str,
    /// As code asked for it; None: an address was given.
    pub name: Option<String>,
    pub address: Option<IpAddr>,
    pub port: u16,
    /// Bytes that left the sandbox, and that came into it.
    pub sent: u64,
    pub received: u64,
    pub took: Duration,
    /// How many it stands for: of what is refused because it comes too fast, not each is told.
    pub times: u64,
    /// `allowed`, `denied` or `failed`.
    pub verdict: &'static str,
    /// Why not, in the words that code was told.
    pub why: Option<String>,
}

impl Ledger {
    /// Whether connections are written down.
    #[must_use]
    pub fn records_connections(&self) -> bool {
        self.0.as_deref().is_some_and(|inner| {
            let config = inner.config.get();
            config.enabled && config.connections
        })
    }

    /// It belongs to no request: code may go on after its own.
    pub fn connected(&self, owner: &Owner, container: &str, connection: &Connection) {
        let Some(writer) = self.writer() else { return };
        let now = now_ms();
        let mut body = Map::new();
        let mut note = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
        note("way", connection.way.into());
        note("name", connection.name.as_deref().map(clipped).into());
        note("address", json!(connection.address));
        note("port", connection.port.into());
        note("sent_bytes", connection.sent.into());
        note("received_bytes", connection.received.into());
        note("duration_ms", exact_millis(connection.took).into());
        if connection.times > 1 {
            note("times", connection.times.into());
        }
        if let Some(why) = &connection.why {
            note("reason", clipped(why).into());
        }
        writer.write(LedgerRecord {
            id: fresh_id(),
            request: String::new(),
            parent: None,
            kind: "connection",
            owner: owner.clone(),
            key: None,
            model: None,
            container: Some(container.to_owned()),
            began_ms: now.saturating_sub(millis(connection.took)),
            ended_ms: Some(now),
            status: connection.verdict.to_owned(),
            body,
        });
    }
}
