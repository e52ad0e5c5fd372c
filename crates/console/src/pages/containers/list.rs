//! The list of containers, those in use first.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use sandgate_core::{Container, ContainerInfo, ContainerState, Usage, human_bytes};
use tokio::time::timeout;

use super::{PATH, change, link};
use crate::Console;
use crate::fields::{Asked, Fields};
use crate::layout::Page;
use crate::pieces::{action, empty, heads, id_link, meter, number, pill};
use crate::problem::Problem;
use crate::times::ago_seconds;
use crate::visible::quoted;
use crate::visitor::Visitor;

const ON_A_PAGE: usize = 100;
/// For what a sandbox uses; a page does not wait for one that hangs.
const PATIENCE: Duration = Duration::from_millis(500);

struct Shown {
    container: Arc<Container>,
    info: ContainerInfo,
    usage: Option<Usage>,
}

pub(super) async fn show(
    State(console): State<Console>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Response, Problem> {
    let all = console.parts().containers.of_everybody();
    let wanted = |container: &&Arc<Container>| {
        let text = asked.typed("q").unwrap_or_default();
        container.id().as_str().contains(text)
            || container.owner().as_str().contains(text)
            || container.name().is_some_and(|name| name.contains(text))
    };
    let mut infos = Vec::new();
    for container in all.iter().filter(wanted) {
        // One that is being started or ended holds its own state; it is shown when it is done.
        if let Ok(Some(info)) = timeout(PATIENCE, container.info()).await {
            infos.push((Arc::clone(container), info));
        }
    }
    infos.sort_by_key(|(_, info)| {
        (info.state == ContainerState::Asleep, std::cmp::Reverse(info.last_active_at))
    });
    let count = infos.len();
    let mut shown = Vec::new();
    for (container, info) in infos.into_iter().take(ON_A_PAGE) {
        let usage = usage(&container, &info).await;
        shown.push(Shown { container, info, usage });
    }
    let body = html! {
        (search(&asked))
        div id="containers" data-live="2000" {
            @if shown.is_empty() {
                (nothing(&asked))
            } @else {
                (table(&shown, &visitor))
                @if count > shown.len() {
                    p.hint { (number(count as u64)) " in all; the search finds the others." }
                }
            }
        }
    };
    Ok(Page::new("Containers", &visitor, body).section(PATH).into_response())
}

fn nothing(asked: &Fields) -> Markup {
    if asked.get("q").is_some() {
        return empty("No container is like this", &html! { a href=(PATH) { "Show all containers" } });
    }
    empty(
        "No containers",
        &html! {
            "A request with the code interpreter makes one: try the "
            a href=(crate::pages::playground::PATH) { "playground" } ". So does " code { "POST /v1/containers" }
            ", or an SDK of E2B or OpenSandbox."
        },
    )
}

fn search(asked: &Fields) -> Markup {
    html! {
        form.filters.one method="get" action=(PATH) role="search" data-auto {
            label { span { "Id, name or owner" } input type="search" name="q" value=[asked.typed("q")] data-search
                spellcheck="false" autocomplete="off"; }
            button type="submit" { "Search" }
        }
    }
}

/// What it uses, without waking it for the question.
async fn usage(container: &Container, info: &ContainerInfo) -> Option<Usage> {
    if info.state == ContainerState::Asleep {
        return None;
    }
    timeout(PATIENCE, container.usage()).await.ok().flatten()
}

fn table(all: &[Shown], visitor: &Visitor) -> Markup {
    html! {
        table.list data-rows {
            (heads(&["State", "Container", "Owner", "Memory", "Disk", "Processes", "Last used", ""], &[]))
            tbody { @for one in all { (row(one, visitor)) } }
        }
    }
}

fn row(one: &Shown, visitor: &Visitor) -> Markup {
    let Shown { container, info, usage } = one;
    let limits = &container.spec().limits;
    let id = info.id.as_str();
    let of = |used: Option<u64>, limit: u64, show: fn(u64) -> String| {
        html! {
            @match used {
                Some(used) => { span.use { (show(used)) span.soft { " of " (show(limit)) } } (meter(used, limit)) }
                None => span.soft { (show(limit)) },
            }
        }
    };
    html! {
        tr id=(id) {
            td data-name="State" { (pill(state(info.state))) }
            td data-name="Container" {
                (id_link(id, &link(id)))
                @if let Some(name) = &info.name { " " span.soft { (name) } }
            }
            td data-name="Owner" { (container.owner()) }
            td data-name="Memory" { (of(usage.map(|usage| usage.memory_bytes), limits.memory_bytes, human_bytes)) }
            td data-name="Disk" { (of(usage.map(|usage| usage.disk_bytes), limits.disk_bytes, human_bytes)) }
            td data-name="Processes" { (of(usage.map(|usage| usage.processes), limits.processes.into(), number)) }
            td data-name="Last used" { (ago_seconds(info.last_active_at)) }
            td data-name="" { (actions(id, info.name.as_deref(), info.state, visitor, false)) }
        }
    }
}

pub(super) fn state(state: ContainerState) -> &'static str {
    match state {
        ContainerState::Running => "running",
        ContainerState::Paused => "paused",
        ContainerState::Asleep => "asleep",
    }
}

/// For a question: rows move, and who presses must see which one it is about.
fn named(id: &str, name: Option<&str>) -> String {
    name.map_or_else(|| id.to_owned(), |name| format!("{} ({id})", quoted(name)))
}

/// Pause or resume, and delete.
pub(super) fn actions(
    id: &str,
    name: Option<&str>,
    state: ContainerState,
    visitor: &Visitor,
    is_its_page: bool,
) -> Markup {
    let to = |what: &str| change::path(what, id, is_its_page);
    let question = format!("Delete the container {} with all its files?", named(id, name));
    html! {
        div.actions {
            @match state {
                ContainerState::Running => (action(visitor, &to("pause"), "Pause", "quiet", None)),
                ContainerState::Paused => (action(visitor, &to("resume"), "Resume", "quiet", None)),
                ContainerState::Asleep => {}
            }
            (action(visitor, &to("delete"), "Delete", "quiet", Some(&question)))
        }
    }
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
