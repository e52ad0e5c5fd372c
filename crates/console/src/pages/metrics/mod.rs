//! How the server does, over the last hour: rates, times, the pool, limits that were hit.

mod plot;
mod sample;
mod samples;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use maud::{Markup, html};

use plot::{Line, plot};
pub(crate) use samples::Samples;

use crate::Console;
use crate::fields::Asked;
use crate::layout::Page;
use crate::pieces::{empty, number};
use crate::times::exact_length;
use crate::visitor::Visitor;

pub(crate) const PATH: &str = "/console/metrics";
/// Word, minutes and name.
const SPANS: [(&str, u64, &str); 3] =
    [("5", 5, "5 minutes"), ("15", 15, "15 minutes"), ("60", 60, "An hour")];

pub(crate) fn router() -> Router<Console> {
    Router::new().route(PATH, get(show))
}

async fn show(State(console): State<Console>, visitor: Visitor, Asked(asked): Asked) -> Response {
    let (word, minutes, _) =
        SPANS.into_iter().find(|(word, ..)| asked.get("span") == Some(word)).unwrap_or(SPANS[1]);
    let steps = console.samples().steps(minutes);
    let aside = html! {
        form method="get" action=(PATH) data-auto {
            label { span.visually-hidden { "How far back" } select name="span" {
                @for (value, _, name) in SPANS { option value=(value) selected[value == word] { (name) } }
            } }
        }
        span.hint { "Everything is at " code { "/metrics" } " for Prometheus." }
    };
    let body = html! {
        div id="metrics" data-live="5000" {
            @if steps.is_empty() {
                (empty("Nothing measured yet", &html! { "The first figures are here in a few seconds." }))
            } @else { (plots(&steps)) (limits(&steps)) }
        }
    };
    Page::new("Metrics", &visitor, body).section(PATH).aside(aside).into_response()
}

fn plots(steps: &[sample::Step]) -> Markup {
    let rate = |value: f64| if value < 1.0 { format!("{value:.2}/s") } else { format!("{value:.1}/s") };
    let time = |seconds: f64| exact_length(seconds * 1000.0);
    let count = |value: f64| format!("{value:.0}");
    let of = |get: fn(&sample::Step) -> f64| steps.iter().map(get).collect::<Vec<_>>();
    html! {
        div.plots {
            (plot("Requests", &rate, &[Line::new("all", of(|s| s.requests)), Line::warning("failed", of(|s| s.failed))]))
            (plot("Time of requests", &time, &[Line::new("median", of(|s| s.request_p50)), Line::second("95 %", of(|s| s.request_p95))]))
            (plot("Time in this server", &time, &[Line::new("median", of(|s| s.overhead_p50)), Line::second("95 %", of(|s| s.overhead_p95))]))
            (plot("Executions", &rate, &[Line::new("all", of(|s| s.executions)), Line::warning("not ok", of(|s| s.executions_failed))]))
            (plot("Time of executions", &time, &[Line::new("median", of(|s| s.execution_p50)), Line::second("95 %", of(|s| s.execution_p95))]))
            (plot("Turns of models", &time, &[Line::new("median", of(|s| s.turn_p50)), Line::second("95 %", of(|s| s.turn_p95))]))
            (plot("Tokens", &rate, &[Line::new("in and out", of(|s| s.tokens))]))
            (plot("Sandboxes", &count, &[Line::new("live", of(|s| s.sandboxes)), Line::second("containers", of(|s| s.containers))]))
            (plot("Pool", &count, &[Line::new("warm", of(|s| s.pool_warm)), Line::second("cold", of(|s| s.pool_cold))]))
            (plot("None was ready", &rate, &[Line::warning("misses", of(|s| s.misses))]))
            (plot("Requests under way", &count, &[Line::new("now", of(|s| s.under_way))]))
            (plot("Held for a person", &count, &[Line::new("now", of(|s| s.held))]))
        }
    }
}

/// Since the server started.
fn limits(steps: &[sample::Step]) -> Markup {
    let hits = steps.last().map(|step| step.limits.clone()).unwrap_or_default();
    html! {
        section.panel {
            h2 { "Limits hit since the start" }
            dl.facts {
                @for (limit, count) in &hits {
                    div { dt { (limit.replace('_', " ")) } dd { (number(*count)) } }
                }
            }
        }
    }
}
