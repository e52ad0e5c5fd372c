//! One container: what it is and uses, and the way to its files, a notebook and a terminal.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use sandgate_core::{Container, ContainerInfo, OnEnd, Usage, human_bytes};
use tokio::time::timeout;

use super::list::{actions, state};
use super::{PATH, Which, connections, link, network};
use crate::Console;
use crate::fields::Fields;
use crate::layout::Page;
use crate::pieces::{copy, id, meter, number, pill};
use crate::problem::Problem;
use crate::times::{ago_seconds, length, until_seconds};
use crate::visitor::Visitor;

/// For what a sandbox uses; a page does not wait for one that hangs.
const PATIENCE: Duration = Duration::from_millis(500);

/// The parts of a container's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tab {
    Overview,
    Files,
    Notebook,
    Terminal,
}

impl Tab {
    const ALL: [Self; 4] = [Self::Overview, Self::Files, Self::Notebook, Self::Terminal];

    fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Files => "Files",
            Self::Notebook => "Notebook",
            Self::Terminal => "Terminal",
        }
    }

    pub(super) fn link(self, id: &str) -> String {
        match self {
            Self::Overview => link(id),
            Self::Files => Fields::default().link("/console/containers/files", &[], &[("id", id)]),
            Self::Notebook => Fields::default().link("/console/containers/notebook", &[], &[("id", id)]),
            Self::Terminal => Fields::default().link("/console/containers/terminal", &[], &[("id", id)]),
        }
    }
}

/// The frame that all parts of a container's page have.
pub(super) async fn page(
    container: &Container,
    visitor: &Visitor,
    tab: Tab,
    scripts: &[&str],
    body: &Markup,
) -> Result<Response, Problem> {
    // One that is being started or ended holds its own state.
    let info = timeout(PATIENCE, container.info()).await.ok();
    let info = if let Some(info) = info { Some(info.ok_or(Problem::NotFound)?) } else { None };
    let id = container.id().as_str();
    let body = html! {
        p.crumbs {
            a href=(PATH) { "Containers" } " / "
            @if let Some(name) = container.name() { (name) " " }
            code { (id) } " " (copy(id))
        }
        nav.tabs aria-label="Parts of this container" {
            @for one in Tab::ALL {
                a href=(one.link(id)) aria-current=[(one == tab).then_some("page")] { (one.name()) }
            }
        }
        (body)
    };
    let aside = html! {
        span id="state" data-live=[(tab == Tab::Overview).then_some("1500")] {
            (pill(info.as_ref().map_or("changing", |info| state(info.state))))
        }
        @if let Some(info) = &info { (actions(id, info.name.as_deref(), info.state, visitor, true)) }
    };
    let title = container.name().unwrap_or("Container");
    Ok(Page::new(title, visitor, body).section(PATH).aside(aside).scripts(scripts).into_response())
}

pub(super) async fn show(
    State(console): State<Console>,
    visitor: Visitor,
    Which(container): Which,
) -> Result<Response, Problem> {
    let info = timeout(PATIENCE, container.info()).await.ok().flatten();
    let usage = timeout(PATIENCE, container.usage()).await.ok().flatten();
    let body = html! {
        section.panel aria-labelledby="use" {
            h2 id="use" { "Use" }
            (plots(&container, usage))
        }
        section.panel aria-labelledby="about" {
            h2 id="about" { "About" }
            (facts(&console, &container, info.as_ref()))
        }
        (network::show(&container.network()))
        (connections::show(&console, &container).await)
    };
    page(&container, &visitor, Tab::Overview, &["plots.js"], &body).await
}

/// Drawn by a script from what the page knows anew every moment; without it, the numbers are there.
fn plots(container: &Container, usage: Option<Usage>) -> Markup {
    let limits = &container.spec().limits;
    let value = |value: fn(Usage) -> u64| usage.map(value);
    let bytes = |value: Option<u64>, limit: u64| html! { (of(value.map(human_bytes), &human_bytes(limit))) };
    let memory = value(|usage| usage.memory_bytes);
    let disk = value(|usage| usage.disk_bytes);
    let processes = value(|usage| usage.processes);
    let cpu = value(|usage| usage.cpu_micros);
    let plots: [(&str, &str, Option<u64>, u64, Markup); 4] = [
        ("memory", "Memory", memory, limits.memory_bytes, bytes(memory, limits.memory_bytes)),
        // Of one processor, in thousandths; the script makes a rate of the sum.
        (
            "cpu",
            "Processor",
            cpu,
            limits.cpu_millis.into(),
            html! {
                (of(cpu.map(|micros| format!("{} so far", length(micros / 1000))), &processors(limits.cpu_millis)))
            },
        ),
        (
            "processes",
            "Processes",
            processes,
            limits.processes.into(),
            html! {
                (of(processes.map(number), &number(limits.processes.into())))
            },
        ),
        ("disk", "Disk", disk, limits.disk_bytes, bytes(disk, limits.disk_bytes)),
    ];
    html! {
        div.gauges {
            @for (name, title, value, limit, text) in plots {
                figure.gauge data-plot=(name) {
                    figcaption { (title) output.now {} }
                    svg viewBox="0 0 120 32" preserveAspectRatio="none" aria-hidden="true" {
                        polygon.area points="" {}
                        polyline.line points="" {}
                    }
                    div id={ "use-" (name) } data-live="1500" data-value=[value] data-limit=(limit) {
                        (text)
                        @if name != "cpu" { (meter(value.unwrap_or_default(), limit)) }
                    }
                }
            }
        }
    }
}

fn of(used: Option<String>, limit: &str) -> Markup {
    html! {
        @match used {
            Some(used) => span.use { (used) span.soft { " of " (limit) } },
            None => span.use.soft { "may use " (limit) },
        }
    }
}

fn processors(millis: u32) -> String {
    if millis == 1000 {
        "1 processor".to_owned()
    } else {
        format!("{}.{} processors", millis / 1000, millis % 1000 / 100)
    }
}

fn facts(console: &Console, container: &Arc<Container>, info: Option<&ContainerInfo>) -> Markup {
    let limits = &container.spec().limits;
    let lease = console.parts().leases.lent(container.id());
    html! {
        dl.facts {
            div { dt { "Owner" } dd { (container.owner()) } }
            div { dt { "Backend" } dd { (container.backend()) } }
            @if let Some(info) = info {
                div { dt { "Made" } dd { (ago_seconds(info.created_at)) } }
                div { dt { "Last used" } dd { (ago_seconds(info.last_active_at)) } }
                div { dt { "Sleeps after" } dd { (length(info.idle_seconds.saturating_mul(1000))) " without use" } }
            }
            @if let Some(lease) = lease {
                div { dt { "Lent by" } dd { (lease.door) } }
                div { dt { "Lent as" } dd { (id(&lease.id)) } }
                @if let Some(end) = lease.ends_ms {
                    div {
                        dt { @if lease.on_end == OnEnd::Delete { "Is deleted" } @else { "Is paused" } }
                        dd { (until_seconds(end / 1000)) }
                    }
                }
            }
            div { dt { "One execution may take" } dd { (length(u64::try_from(limits.wall.as_millis()).unwrap_or(u64::MAX))) } }
            div { dt { "Output kept" } dd { (human_bytes(limits.output_bytes)) } }
            div { dt { "Contexts, most" } dd { (limits.contexts) } }
        }
    }
}
