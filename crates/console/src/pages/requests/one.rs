//! One request as a story: what was asked, every turn, execution and approval on one axis, and what each came
//! to. Clients may use an id again, so there may be several under it.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use sandgate_core::human_bytes;
use sandgate_store::{KeyRecord, LedgerRecord, LedgerTree};
use serde_json::Value;

use super::list::{key_name, keys};
use super::{PATH, cells, timeline};
use crate::Console;
use crate::code::{Ink, drawn};
use crate::fields::Asked;
use crate::layout::Page;
use crate::pages::containers;
use crate::pieces::{copy, id, id_link, number, pill};
use crate::problem::Problem;
use crate::times::{ago_ms, exact_length};
use crate::visitor::Visitor;

/// Under one id, and done for one of them.
pub(super) const MOST_REQUESTS: usize = 10;
pub(super) const MOST_CHILDREN: usize = 300;

pub(super) async fn show(
    State(console): State<Console>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Response, Problem> {
    let parts = console.parts();
    let request = asked.get("id").ok_or(Problem::NotFound)?;
    parts.ledger.flush().await;
    let trees = parts.store.ledger_trees(request, None, MOST_REQUESTS, MOST_CHILDREN).await?;
    if trees.is_empty() {
        return Err(Problem::NotFound);
    }
    let keys = keys(parts).await?;
    let is_running = trees.iter().any(|tree| tree.request.ended_ms.is_none());
    let stories = drawn(move |ink| html! { @for tree in &trees { (story(tree, &keys, ink)) } }).await?;
    let body = html! {
        p.crumbs { a href=(PATH) { "Requests" } " / " code { (request) } " " (copy(request)) }
        div id="story" data-live=[is_running.then_some("1000")] { (stories) }
    };
    Ok(Page::new("Request", &visitor, body).section(PATH).into_response())
}

fn story(tree: &LedgerTree, keys: &[KeyRecord], ink: &Ink) -> Markup {
    let has_code = tree.children.iter().any(cells::has_code);
    let ran = tree.children.iter().any(|child| child.kind == "execution");
    html! {
        section.story {
            (facts(&tree.request, keys))
            (timeline::show(tree))
            @if tree.has_more { p.notice { "More was done for this request than is shown here." } }
            @if ran && !has_code {
                p.hint { "Code and output are not recorded. Switch it on for all with " code { "ledger: { code: true }" }
                    " in the configuration, or for one key with " code { "sandgate key create NAME --log-code" } "." }
            }
            @for child in &tree.children { (part(child, ink)) }
        }
    }
}

fn facts(request: &LedgerRecord, keys: &[KeyRecord]) -> Markup {
    let value = |name: &str| request.body.get(name);
    let text = |name: &str| value(name).and_then(Value::as_str);
    let time = |name: &str| value(name).and_then(Value::as_f64).map(exact_length);
    let count = |name: &str| value(name).and_then(Value::as_u64).map(number);
    let facts: [(&str, Option<Markup>); 12] = [
        ("Status", Some(html! { (pill(&request.status)) })),
        ("Began", Some(ago_ms(request.began_ms))),
        ("Took", time("duration_ms").map(|took| html! { (took) })),
        ("Model", request.model.as_ref().map(|model| html! { (model) })),
        ("Key", Some(key_name(request, keys))),
        ("API", text("path").map(|path| html! { code { (path) } })),
        ("Turns", count("turns").map(|count| html! { (count) })),
        ("Executions", count("executions").map(|count| html! { (count) })),
        ("Tokens", value("tokens").and_then(tokens)),
        ("Time", spent(request)),
        ("Answer", count("http_status").map(|status| html! { "HTTP " (status) })),
        (
            "Error",
            text("error").filter(|error| !error.is_empty()).map(|error| html! { code.bad { (error) } }),
        ),
    ];
    definitions(facts)
}

/// Names and values; what is not known is left out.
fn definitions<const N: usize>(facts: [(&str, Option<Markup>); N]) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in facts {
                @if let Some(value) = value { div { dt { (name) } dd { (value) } } }
            }
        }
    }
}

fn tokens(tokens: &Value) -> Option<Markup> {
    let count = |name: &str| tokens.get(name).and_then(Value::as_u64).map(number);
    let (input, output) = (count("input")?, count("output")?);
    Some(html! { (input) " in, " (output) " out" })
}

/// Where the time went.
fn spent(request: &LedgerRecord) -> Option<Markup> {
    let parts: Vec<String> = [("model_ms", "model"), ("sandbox_ms", "sandbox"), ("approval_ms", "approval")]
        .into_iter()
        .filter_map(|(name, word)| {
            Some(format!("{word} {}", exact_length(request.body.get(name)?.as_f64()?)))
        })
        .collect();
    (!parts.is_empty()).then(|| html! { (parts.join(", ")) })
}

fn part(record: &LedgerRecord, ink: &Ink) -> Markup {
    let took = record.body.get("duration_ms").and_then(Value::as_f64).map(exact_length);
    html! {
        article.part.(record.kind) id=(record.id) {
            header {
                h2 { (timeline::title(record)) }
                (pill(&record.status))
                @if let Some(took) = took { span.soft { (took) } }
            }
            @match record.kind {
                "turn" => (turn(record)),
                "execution" => (execution(record, ink)),
                "approval" => (approval(record, ink)),
                _ => {}
            }
        }
    }
}

fn turn(record: &LedgerRecord) -> Markup {
    let text = |name: &str| record.body.get(name).and_then(Value::as_str).map(|text| html! { (text) });
    let time =
        |name: &str| record.body.get(name).and_then(Value::as_f64).map(|ms| html! { (exact_length(ms)) });
    definitions([
        ("Upstream", text("upstream")),
        ("Its model", text("upstream_model")),
        ("First event", time("first_event_ms")),
        ("Tokens", record.body.get("tokens").and_then(tokens)),
        ("Error", text("error")),
        ("Its request id", record.body.get("upstream_request_id").and_then(Value::as_str).map(id)),
    ])
}

fn execution(record: &LedgerRecord, ink: &Ink) -> Markup {
    let value = |name: &str| record.body.get(name);
    let text = |name: &str| value(name).and_then(Value::as_str).map(|text| html! { (text) });
    let time = |name: &str| value(name).and_then(Value::as_f64).map(|ms| html! { (exact_length(ms)) });
    let bytes = |name: &str| value(name).and_then(Value::as_u64).map(|bytes| html! { (human_bytes(bytes)) });
    let count = |name: &str| value(name).and_then(Value::as_u64).map(|count| html! { (number(count)) });
    let container =
        record.container.as_deref().map(|container| id_link(container, &containers::link(container)));
    html! {
        (definitions([
            ("Container", container),
            ("Language", text("language")),
            ("Context", text("context")),
            ("Ended", text("ending")),
            ("Limit hit", text("limit").map(|limit| html! { span.pill.warn { (limit) } })),
            ("Waited", time("waited_ms")),
            ("Processor", time("cpu_ms")),
            ("Memory, most", bytes("sandbox_memory_peak_bytes")),
            ("Code", bytes("code_bytes")),
            ("Output", bytes("stdout_bytes")),
            ("Files changed", count("files_changed")),
            ("Error", text("error")),
        ]))
        (cells::show(record, ink))
    }
}

fn approval(record: &LedgerRecord, ink: &Ink) -> Markup {
    let text = |name: &str| record.body.get(name).and_then(Value::as_str).map(|text| html! { (text) });
    html! {
        (definitions([
            ("Decided by", text("by")),
            ("Person", text("person")),
            ("Rule", text("rule")),
            ("Reason", text("reason")),
        ]))
        (cells::show(record, ink))
    }
}
