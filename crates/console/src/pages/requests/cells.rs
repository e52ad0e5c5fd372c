//! Code and output of a record, where they were recorded: as a notebook shows them.

use maud::{Markup, html};
use sandgate_store::LedgerRecord;
use serde_json::Value;

use super::shown;
use crate::code::Ink;

pub(super) fn has_code(record: &LedgerRecord) -> bool {
    record.body.contains_key("code")
}

pub(super) fn show(record: &LedgerRecord, ink: &Ink) -> Markup {
    let text = |name: &str| record.body.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let raised = record.body.get("raised");
    let of_raised = |name: &str| raised.and_then(|raised| raised.get(name)).and_then(Value::as_str);
    html! {
        @if has_code(record) {
            div.cell {
                @if let Some(source) = text("code") {
                    (ink.code(text("language").unwrap_or("python"), source.trim_matches(['\n', '\r'])))
                }
                @if let Some(stdout) = text("stdout") { pre.out tabindex="0" aria-label="Output" { (stdout) } }
                @if let Some(stderr) = text("stderr") {
                    pre.out.err tabindex="0" aria-label="Error output" { (stderr) }
                }
                (shown::show(record))
                @match (text("results"), record.body.contains_key("shown")) {
                    // What is to be seen above comes as text too, which is seldom wanted.
                    (Some(results), true) => details { summary { "The results as text" } pre.out { (results) } },
                    (Some(results), false) => pre.out tabindex="0" aria-label="Results" { (results) },
                    (None, _) => {}
                }
                @if let Some(name) = of_raised("name") {
                    pre.out.err { strong { (name) } ": " (of_raised("value").unwrap_or_default()) }
                }
            }
        }
    }
}
