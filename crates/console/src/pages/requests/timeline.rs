//! Everything done for a request on one axis. The bars are drawn with attributes: the policy of the page allows
//! no styles of its own.

use std::time::Duration;

use maud::{Markup, html};
use sandgate_core::now_ms;
use sandgate_store::{LedgerRecord, LedgerTree};
use serde_json::Value;

use crate::times::{exact_length, length};

/// The width of the axis, in steps.
const STEPS: u64 = 1000;
/// So that the shortest is still seen.
const LEAST: u64 = 3;
const TICKS: u64 = 4;

pub(super) fn show(tree: &LedgerTree) -> Markup {
    let axis = Axis::of(tree);
    html! {
        figure.timeline aria-label="What was done, and when" {
            div.ticks aria-hidden="true" {
                @for tick in 0..TICKS { span { (length(axis.length() * tick / TICKS)) } }
            }
            ol {
                (row(&axis, &tree.request, "Request", "#main"))
                @for child in &tree.children {
                    (row(&axis, child, &title(child), &format!("#{}", child.id)))
                }
            }
        }
    }
}

fn row(axis: &Axis, record: &LedgerRecord, title: &str, href: &str) -> Markup {
    let (from, width) = axis.place(record);
    let end = record.ended_ms.unwrap_or(axis.end);
    let (busy, took) = match record.body.get("duration_ms").and_then(Value::as_f64) {
        // A turn is open while its code runs; what counts is how long the model was waited for.
        Some(took) => (axis.share(took, width), exact_length(took)),
        None => (width, length(end.saturating_sub(record.began_ms))),
    };
    html! {
        li {
            a href=(href) title={ (title) ", " (record.status) ", " (took) } {
                span.label { (title) }
                svg.lane viewBox={ "0 0 " (STEPS) " 10" } preserveAspectRatio="none" aria-hidden="true" {
                    @if busy < width {
                        rect class={ "stretch open " (record.kind) } x=(from) y="1" width=(width) height="8" rx="2" {}
                    }
                    rect class={ "stretch " (record.kind) " " (record.status) } x=(from) y="1" width=(busy) height="8"
                        rx="2" {}
                }
                span.took { (took) }
            }
        }
    }
}

/// What a record is called.
pub(super) fn title(record: &LedgerRecord) -> String {
    let word = |name: &str| record.body.get(name).and_then(Value::as_str);
    match record.kind {
        "turn" => match record.model.as_deref() {
            Some(model) => format!("Turn of {model}"),
            None => "Turn".to_owned(),
        },
        "execution" => format!("Execution, {}", word("language").unwrap_or("code")),
        "approval" => "Approval".to_owned(),
        other => other.to_owned(),
    }
}

struct Axis {
    begin: u64,
    end: u64,
}

impl Axis {
    fn of(tree: &LedgerTree) -> Self {
        let all = || std::iter::once(&tree.request).chain(&tree.children);
        let begin = all().map(|record| record.began_ms).min().unwrap_or_default();
        let is_open =
            all().any(|record| record.ended_ms.is_none() && record.status == sandgate_store::RUNNING);
        let last = all().filter_map(|record| record.ended_ms).max().unwrap_or(begin);
        let end = if is_open { now_ms().max(last) } else { last };
        Self { begin, end: end.max(begin.saturating_add(1)) }
    }

    fn length(&self) -> u64 {
        self.end - self.begin
    }

    /// Beginning and width in steps, within the axis whatever the record says.
    fn place(&self, record: &LedgerRecord) -> (u64, u64) {
        let step = |at: u64| at.saturating_sub(self.begin).saturating_mul(STEPS) / self.length();
        let from = step(record.began_ms).min(STEPS - LEAST);
        let to = step(record.ended_ms.unwrap_or(self.end)).clamp(from, STEPS);
        (from, (to - from).max(LEAST))
    }

    /// So many milliseconds in steps, within a width. It is seen, even if it is short.
    fn share(&self, ms: f64, width: u64) -> u64 {
        let ms = Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default().as_micros();
        let steps = ms.saturating_mul(STEPS.into()) / u128::from(self.length()) / 1000;
        u64::try_from(steps).unwrap_or(u64::MAX).clamp(LEAST, width.max(LEAST))
    }
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
