//! The last connections that code in a container made or tried, as the ledger has them.

use std::time::Duration;

use maud::{Markup, html};
use sandgate_core::{Container, human_bytes};
use sandgate_store::{LedgerFilter, LedgerRecord, Page};
use serde_json::Value;
use tokio::time::timeout;

use crate::Console;
use crate::pieces::{heads, number, pill};
use crate::times::ago_ms;
use crate::visible::visible;

const MOST_SHOWN: usize = 50;
/// A ledger may be long, and a page does not wait for all of it.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) async fn show(console: &Console, container: &Container) -> Markup {
    let parts = console.parts();
    let filter = LedgerFilter {
        kind: Some("connection".to_owned()),
        container: Some(container.id().to_string()),
        ..LedgerFilter::default()
    };
    let page = Page { limit: MOST_SHOWN, descending: true, after: None, before: None };
    let found = match timeout(PATIENCE, parts.store.ledger(&filter, &page)).await {
        Ok(Ok(listed)) => Some(listed),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the connections of a container could not be looked up");
            None
        }
        Err(_) => None,
    };
    html! {
        section.panel aria-labelledby="connections" {
            h2 id="connections" { "Connections" }
            @if !parts.ledger.records_connections() {
                p.hint {
                    "Connections are not written down. " code { "ledger: {connections: true}" }
                    " in the configuration has each of them recorded."
                }
            }
            @match found {
                None => p.hint { "The ledger took too long to answer; 'sandgate ledger list --kind connection' has them." },
                Some(listed) if listed.data.is_empty() => p.hint { "There are none on record." },
                Some(listed) => {
                    table.list {
                        (heads(&["Verdict", "Name", "Address", "Port", "Sent", "Received", "When"], &[]))
                        tbody { @for record in &listed.data { (row(record)) } }
                    }
                    @if listed.has_more { p.hint { "The last " (MOST_SHOWN) "; the ledger has more." } }
                }
            }
        }
    }
}

/// Code inside chooses names: what is hidden in them is shown.
fn row(record: &LedgerRecord) -> Markup {
    let text = |name: &str| record.body.get(name).and_then(Value::as_str).unwrap_or_default();
    let count = |name: &str| record.body.get(name).and_then(Value::as_u64);
    html! {
        tr {
            td data-name="Verdict" {
                (pill(&record.status))
                @if let Some(times) = count("times") { " " span.soft { (number(times)) " times" } }
                @if !text("reason").is_empty() { br; span.soft { (visible(text("reason"))) } }
            }
            td data-name="Name" { (visible(text("name"))) }
            td data-name="Address" { (visible(text("address"))) }
            td data-name="Port" { @if let Some(port) = count("port") { (port) } }
            td data-name="Sent" { (human_bytes(count("sent_bytes").unwrap_or_default())) }
            td data-name="Received" { (human_bytes(count("received_bytes").unwrap_or_default())) }
            td data-name="When" { (ago_ms(record.began_ms)) }
        }
    }
}

#[cfg(test)]
#[path = "connections_tests.rs"]
mod tests;
