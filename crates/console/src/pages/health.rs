//! Whether the server can do its work: where code runs, and where models are.

use std::collections::BTreeMap;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use sandgate_core::BackendCheck;
use sandgate_gate::upstream::RouteShown;

use crate::layout::Page;
use crate::pieces::{action, empty, heads, number, pill};
use crate::times::exact_length;
use crate::visitor::Visitor;
use crate::{Console, ConsoleParts};

pub(crate) const PATH: &str = "/console/health";
const TITLE: &str = "Backends and health";

pub(crate) fn router() -> Router<Console> {
    Router::new().route(PATH, get(show)).route("/console/health/check", post(check))
}

async fn show(State(console): State<Console>, visitor: Visitor) -> Response {
    let parts = console.parts();
    let body = html! {
        div id="health" data-live="3000" {
            (backends(parts))
            (upstreams(&parts.upstreams.overview()))
            (server(parts))
        }
    };
    let aside = action(&visitor, "/console/health/check", "Try every backend", "", None);
    Page::new(TITLE, &visitor, body).section(PATH).aside(aside).into_response()
}

/// A real execution on each backend.
async fn check(State(console): State<Console>, visitor: Visitor) -> Response {
    let checked = console.parts().backends.check_all().await;
    let body = html! {
        p.crumbs { a href=(PATH) { (TITLE) } " / every backend tried" }
        table.list {
            (heads(&["Backend", "Type", "State", "Took", "Problem"], &["Took"]))
            tbody { @for backend in &checked { (tried(backend)) } }
        }
        p.hint { "Each made a sandbox, ran one line in it and deleted it again." }
    };
    let aside = action(&visitor, "/console/health/check", "Once more", "", None);
    Page::new("Backends", &visitor, body).section(PATH).aside(aside).into_response()
}

fn tried(backend: &BackendCheck) -> Markup {
    html! {
        tr {
            td data-name="Backend" { (backend.name) @if backend.is_default { " " span.soft { "the default" } } }
            td data-name="Type" { (backend.kind) }
            td data-name="State" { (pill(if backend.problem.is_none() { "ok" } else { "failed" })) }
            td.number data-name="Took" { (exact_length(backend.took.as_secs_f64() * 1000.0)) }
            td data-name="Problem" { (backend.problem.as_deref().unwrap_or("none")) }
        }
    }
}

fn backends(parts: &ConsoleParts) -> Markup {
    let containers = &parts.containers;
    let pool = containers.backend_stats();
    let mut by_backend: BTreeMap<String, u64> = BTreeMap::new();
    for container in containers.of_everybody() {
        *by_backend.entry(container.backend().to_owned()).or_default() += 1;
    }
    let claims = pool.claimed_warm + pool.claimed_cold + pool.misses;
    html! {
        section.panel {
            h2 { "Sandboxes " (pill(if containers.is_healthy() { "healthy" } else { "unhealthy" })) }
            @if !containers.is_healthy() { p.notice.bad { "The sandbox engine is gone. Restart the server; containers keep their files." } }
            dl.facts {
                div { dt { "Live now" } dd { (number(containers.count_live() as u64)) } }
                div { dt { "Containers" } dd { (number(containers.count() as u64)) } }
                div { dt { "Ready, warm" } dd { (number(pool.ready_warm as u64)) } }
                div { dt { "Ready, cold" } dd { (number(pool.ready_cold as u64)) } }
                div { dt { "New ones since the start" } dd { (number(claims)) } }
                div { dt { "Of them warm" } dd { (share(pool.claimed_warm, claims)) } }
                div { dt { "None was ready" } dd { (share(pool.misses, claims)) } }
                @for (backend, count) in &by_backend {
                    div { dt { "Containers on " (backend) } dd { (number(*count)) } }
                }
            }
        }
    }
}

fn share(part: u64, whole: u64) -> String {
    match part.saturating_mul(100).checked_div(whole) {
        Some(percent) => format!("{percent} %"),
        None => "–".to_owned(),
    }
}

fn upstreams(routes: &[RouteShown]) -> Markup {
    html! {
        section.panel {
            h2 { "Models" }
            @if routes.is_empty() {
                (empty("No model is configured", &html! { "Name one under " code { "models" } " in the configuration." }))
            } @else {
                table.list {
                    (heads(&["Name", "Upstream", "Its model", "State"], &[]))
                    tbody {
                        @for route in routes {
                            @for member in &route.members {
                                tr {
                                    td data-name="Name" { code { (route.name) } }
                                    td data-name="Upstream" { (member.upstream) }
                                    td data-name="Its model" {
                                        @match &member.model { Some(model) => (model), None => span.soft { "the same" } }
                                    }
                                    td data-name="State" { (if member.is_resting { pill("resting") } else { pill("ok") }) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn server(parts: &ConsoleParts) -> Markup {
    html! {
        section.panel {
            h2 { "Server" }
            dl.facts {
                div { dt { "Version" } dd { (env!("CARGO_PKG_VERSION")) } }
                div { dt { "Jobs that wait for the database" } dd { (number(parts.store.queue_length() as u64)) } }
                div { dt { "Executions held" } dd { (number(parts.approvals.count_held() as u64)) } }
            }
        }
    }
}

#[cfg(test)]
#[path = "health_tests.rs"]
mod tests;
