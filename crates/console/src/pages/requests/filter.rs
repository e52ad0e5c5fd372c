//! Which requests are looked for, read from the address and shown as a form.

use maud::{Markup, html};
use sandgate_core::now_ms;
use sandgate_store::{KeyRecord, LedgerFilter};

use crate::fields::Fields;

const STATUSES: [&str; 6] = ["running", "completed", "incomplete", "failed", "cancelled", "lost"];
/// Word, minutes and name.
const SPANS: [(&str, u64, &str); 5] = [
    ("15m", 15, "Last 15 minutes"),
    ("1h", 60, "Last hour"),
    ("24h", 24 * 60, "Last 24 hours"),
    ("7d", 7 * 24 * 60, "Last 7 days"),
    ("30d", 30 * 24 * 60, "Last 30 days"),
];

/// What the address does not say is not looked for.
pub(super) fn read(fields: &Fields) -> LedgerFilter {
    let span = fields.get("span").and_then(|word| SPANS.iter().find(|(known, ..)| *known == word));
    let since_ms = span.map(|(_, minutes, _)| now_ms().saturating_sub(minutes * 60_000));
    LedgerFilter {
        kind: Some("request".to_owned()),
        request_part: fields.typed("q").map(str::to_owned),
        key: fields.typed("key").map(str::to_owned),
        model: fields.typed("model").map(str::to_owned),
        status: fields.typed("status").map(str::to_owned),
        container: fields.typed("container").map(str::to_owned),
        since_ms,
        ..LedgerFilter::default()
    }
}

pub(super) fn form(fields: &Fields, keys: &[KeyRecord], models: &[String]) -> Markup {
    let is = |name: &str, value: &str| fields.get(name) == Some(value);
    html! {
        form.filters method="get" action=(super::PATH) role="search" data-auto {
            label { span { "Id" } input type="search" name="q" value=[fields.typed("q")] placeholder="part of an id"
                data-search spellcheck="false" autocomplete="off"; }
            label { span { "Status" } select name="status" {
                option value="" { "any" }
                @for status in STATUSES { option value=(status) selected[is("status", status)] { (status) } }
            } }
            label { span { "Model" } input name="model" value=[fields.typed("model")] placeholder="any" list="models"
                spellcheck="false" autocomplete="off"; }
            datalist id="models" { @for model in models { option value=(model) {} } }
            label { span { "Key" } select name="key" {
                option value="" { "any" }
                option value="master" selected[is("key", "master")] { "master key" }
                @for key in keys { option value=(key.id) selected[is("key", &key.id)] { (key.name) } }
            } }
            label { span { "Time" } select name="span" {
                option value="" { "any time" }
                @for (word, _, name) in SPANS { option value=(word) selected[is("span", word)] { (name) } }
            } }
            @if let Some(container) = fields.get("container") {
                input type="hidden" name="container" value=(container);
            }
            button type="submit" { "Search" }
        }
    }
}
