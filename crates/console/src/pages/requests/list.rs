//! The list of requests, newest first.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use sandgate_store::{KeyRecord, LedgerRecord, Listed, Page as Part, StoreError};
use serde_json::Value;

use super::{PATH, filter, link};
use crate::fields::{Asked, Fields};
use crate::layout::Page;
use crate::pieces::{empty, heads, id_link, number, pill};
use crate::problem::Problem;
use crate::times::{ago_ms, exact_length};
use crate::visitor::Visitor;
use crate::{Console, ConsoleParts};

const ON_A_PAGE: usize = 50;
/// So many keys are offered to choose from.
const MOST_KEYS: usize = 200;

pub(super) async fn show(
    State(console): State<Console>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Response, Problem> {
    let parts = console.parts();
    parts.ledger.flush().await;
    let part = Part {
        limit: ON_A_PAGE,
        descending: true,
        after: asked.get("after").map(str::to_owned),
        before: None,
    };
    let listed = parts.store.ledger(&filter::read(&asked), &part).await;
    let listed = match listed {
        // The record that the page began after has been removed since.
        Err(StoreError::NotFound) => Listed { data: Vec::new(), has_more: false },
        listed => listed?,
    };
    let keys = keys(parts).await?;
    let models: Vec<String> = parts.upstreams.names();
    let body = html! {
        (filter::form(&asked, &keys, &models))
        // Only the first page changes by itself.
        div id="requests" data-live=[asked.get("after").is_none().then_some("2000")] {
            @if listed.data.is_empty() { (nothing(&asked)) } @else { (table(&listed.data, &keys)) }
        }
        (pages(&asked, &listed))
    };
    Ok(Page::new("Requests", &visitor, body).section(PATH).into_response())
}

pub(super) async fn keys(parts: &ConsoleParts) -> Result<Vec<KeyRecord>, Problem> {
    let part = Part { limit: MOST_KEYS, descending: true, after: None, before: None };
    Ok(parts.store.keys(&part).await?.data)
}

fn nothing(asked: &Fields) -> Markup {
    let is_filtered = ["q", "status", "model", "key", "span", "container", "after"]
        .iter()
        .any(|name| asked.get(name).is_some());
    if is_filtered {
        return empty("No request is like this", &html! { a href=(PATH) { "Show all requests" } });
    }
    empty(
        "No requests yet",
        &html! {
            "Send one to " code { "/v1/responses" } ", " code { "/v1/chat/completions" } " or " code { "/v1/execute" }
            ", and it is here within a moment. "
            a.button.primary href=(crate::pages::playground::PATH) { "Try it in the playground" }
        },
    )
}

fn table(records: &[LedgerRecord], keys: &[KeyRecord]) -> Markup {
    html! {
        table.list data-rows {
            (heads(&["Status", "Request", "Model", "Key", "Began", "Took", "Turns", "Runs", "Tokens"], &["Took", "Turns", "Runs", "Tokens"]))
            tbody { @for record in records { (row(record, keys)) } }
        }
    }
}

fn row(record: &LedgerRecord, keys: &[KeyRecord]) -> Markup {
    let count = |name: &str| record.body.get(name).and_then(Value::as_u64);
    let text = |name: &str| record.body.get(name).and_then(Value::as_str);
    let tokens = record.body.get("tokens").and_then(total);
    let took = record.body.get("duration_ms").and_then(Value::as_f64);
    html! {
        tr id=(record.id) {
            td data-name="Status" {
                (pill(&record.status))
                @if count("denied").is_some() { " " (pill("denied")) }
            }
            td data-name="Request" {
                (id_link(&record.request, &link(&record.request)))
                @if let Some(api) = text("api") { " " span.soft { (api) } }
            }
            td.none[record.model.is_none()] data-name="Model" { @if let Some(model) = &record.model { (model) } @else { span.soft { "–" } } }
            td data-name="Key" { (key_name(record, keys)) }
            td data-name="Began" { (ago_ms(record.began_ms)) }
            td.number data-name="Took" { @if let Some(took) = took { (exact_length(took)) } @else { span.soft { "…" } } }
            td.number.none[count("turns").is_none()] data-name="Turns" { (some(count("turns"))) }
            td.number.none[count("executions").is_none()] data-name="Runs" { (some(count("executions"))) }
            td.number.none[tokens.is_none()] data-name="Tokens" { (some(tokens)) }
        }
    }
}

fn total(tokens: &Value) -> Option<u64> {
    let count = |name: &str| tokens.get(name).and_then(Value::as_u64);
    Some(count("input")?.saturating_add(count("output")?))
}

/// Whose key it was, by the name that the operator gave it.
pub(super) fn key_name(record: &LedgerRecord, keys: &[KeyRecord]) -> Markup {
    let name = match record.key.as_deref() {
        None => return html! { span.soft { "none" } },
        Some("master") => "master key",
        Some(id) => keys.iter().find(|key| key.id == id).map_or(id, |key| key.name.as_str()),
    };
    html! { span title=[record.key.as_deref()] { (name) } }
}

fn some(count: Option<u64>) -> Markup {
    match count {
        Some(count) => html! { (number(count)) },
        None => html! { span.soft { "–" } },
    }
}

fn pages(asked: &Fields, listed: &Listed<LedgerRecord>) -> Markup {
    let next = listed.has_more.then(|| listed.data.last()).flatten();
    html! {
        nav.pages aria-label="Pages" {
            @if asked.get("after").is_some() { a.button href=(asked.link(PATH, &["after"], &[])) { "Newest" } }
            @if let Some(last) = next {
                a.button rel="next" href=(asked.link(PATH, &[], &[("after", last.id.as_str())])) { "Older" }
            }
        }
    }
}
