//! What waits for a person: the code as it would run, what it imports, who asks; and the word on it.

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use sandgate_gate::{CannotDecide, Facts, Held};

use super::{containers, requests};
use crate::Console;
use crate::code::{Ink, drawn};
use crate::fields::{Asked, Fields};
use crate::layout::{Page, csrf};
use crate::pieces::{empty, id, id_link, number};
use crate::problem::Problem;
use crate::times::{ago_seconds, until_seconds};
use crate::visible::count_hidden;
use crate::visitor::Visitor;

pub(crate) const PATH: &str = "/console/approvals";
/// A rule that holds everything.
const EXAMPLE: &str = "approvals:\n  rules:\n    - {name: a-person-looks, when: 'true', then: ask}";
/// Shown at one time, the oldest first; the others move up.
const MOST: usize = 20;

const OWN: &str = "This was sent with your own key: somebody else has to decide.";

pub(crate) fn router() -> Router<Console> {
    Router::new().route(PATH, get(show)).route("/console/approvals/decide", post(decide))
}

async fn show(
    State(console): State<Console>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Response, Problem> {
    let (held, _) = console.parts().approvals.held();
    let (count, viewer) = (held.len(), visitor.clone());
    let draw = move |ink: &Ink| html! { @for one in held.iter().take(MOST) { (card(one, &viewer, ink)) } };
    let cards = drawn(draw).await?;
    let body = html! {
        @match asked.get("done") {
            Some("approve") => p.notice.good { "Approved: it runs." },
            Some("deny") => p.notice { "Denied: nothing ran, and the model was told why." },
            _ => {}
        }
        div id="held" data-live="1000" {
            @if count == 0 { (nothing()) }
            @else if visitor.decider().is_err() { (nobody_may()) }
            (cards)
            @if count > MOST { p.hint { (count - MOST) " more wait behind these." } }
        }
    };
    let hint = html! { span.hint { kbd { "j" } " " kbd { "k" } " choose, " kbd { "a" } " approve, " kbd { "d" }
    " deny, " kbd { "r" } " reason, " kbd { "Esc" } " leaves it" } };
    Ok(Page::new("Approvals", &visitor, body).section(PATH).aside(hint).into_response())
}

fn nothing() -> Markup {
    html! {
        (empty("Nothing waits", &html! { "Code is held here where a rule of the configuration says " code { "ask" }
            ", or its webhook does. To see it, add this, send the server SIGHUP, and ask something in the "
            a href=(super::playground::PATH) { "playground" } ":" }))
        div.cell { pre.code tabindex="0" aria-label="An example" { (EXAMPLE) } }
    }
}

/// Whoever sends code to such a server could say yes to it as well.
fn nobody_may() -> Markup {
    html! {
        p.notice {
            "Nobody can decide here: this server has no keys, so whoever sends code could approve it too. Start it with "
            code { "SANDGATE_MASTER_KEY" } " and sign in; then Approve and Deny are below the code."
        }
    }
}

fn card(held: &Held, visitor: &Visitor, ink: &Ink) -> Markup {
    let facts = held.facts();
    let hidden = count_hidden(&facts.code);
    html! {
        article.part.approval.held id=(facts.id) data-row tabindex="-1" aria-label={ "Held: " (facts.id) } {
            header {
                h2 { (asker(facts)) }
                span.soft { (ago_seconds(facts.created_at)) }
                span.pill.warn title="If nobody decides until then" { "is denied " (until_seconds(held.expires_at)) }
            }
            dl.facts {
                div { dt { "Model" } dd { @if let Some(model) = &facts.model { (model) } @else { "none: sent by a client" } } }
                div { dt { "API" } dd { (facts.door) } }
                div { dt { "Language" } dd { (facts.language) } }
                div { dt { "Container" } dd { (id_link(&facts.container.id, &containers::link(&facts.container.id))) } }
                @if !facts.request_id.is_empty() {
                    div { dt { "Request" } dd { (id_link(&facts.request_id, &requests::link(&facts.request_id))) } }
                }
                div { dt { "Asked by" } dd { (held.asked_by) @if let Some(reason) = &held.asked_reason { ": " (reason) } } }
                div { dt { "Id" } dd { (id(&facts.id)) } }
            }
            p.imports {
                span.soft { "Imports " }
                @if facts.imports.is_empty() { span.soft { "nothing" } }
                @for name in &facts.imports {
                    span.chip { @if name == "*" { "what cannot be read" } @else { (name) } }
                }
            }
            @if hidden > 0 {
                p.notice.bad role="alert" {
                    (number(hidden as u64)) " letters of this code cannot be seen, or change the order in which it is \
                        read. They stand here as " mark { "⟨U+…⟩" } "."
                }
            }
            div.cell { (ink.code(&facts.language, &facts.code)) }
            p.hint { (number(facts.code.lines().count() as u64)) " lines, all that runs" }
            @match visitor.decider() {
                Ok(decider) if held.is_of(&decider) => {
                    p.notice { (OWN) }
                }
                Ok(_) => (decision(&facts.id, visitor)),
                Err(_) => {}
            }
        }
    }
}

fn decision(id: &str, visitor: &Visitor) -> Markup {
    html! {
        form.decide method="post" action="/console/approvals/decide" {
            (csrf(visitor))
            input type="hidden" name="id" value=(id);
            // Enter in a field presses the first button, if it can be pressed: writing decides nothing.
            button type="submit" disabled hidden {}
            label { span.visually-hidden { "Reason" } input name="reason" maxlength="1000" data-key="r"
                placeholder="Reason, if you like" autocomplete="off"; }
            button.primary type="submit" name="decision" value="approve" data-key="a" { "Approve" }
            button.danger type="submit" name="decision" value="deny" data-key="d" { "Deny" }
        }
    }
}

/// Whoever it is, by the best name there is.
fn asker(facts: &Facts) -> Markup {
    let key = &facts.key;
    match (&key.name, &key.id) {
        (None, Some(id)) if id == "master" => html! { "master key" },
        (Some(name), _) | (None, Some(name)) => html! { (name) },
        (None, None) => html! { (key.owner) },
    }
}

async fn decide(
    State(console): State<Console>,
    visitor: Visitor,
    fields: Fields,
) -> Result<Redirect, Problem> {
    let decider = visitor.decider()?;
    let approved = match fields.get("decision") {
        Some("approve") => true,
        Some("deny") => false,
        _ => return Err(Problem::Invalid("Approve it or deny it.".to_owned())),
    };
    let id = fields.get("id").unwrap_or_default();
    console.parts().approvals.answer(id, decider, approved, fields.typed("reason")).map_err(|error| {
        match error {
            CannotDecide::NoSuch => Problem::NotFound,
            CannotDecide::Own => Problem::Forbidden(OWN),
            CannotDecide::Over(_) => Problem::Conflict(format!("It cannot be decided any more: {error}.")),
        }
    })?;
    let decision = if approved { "approve" } else { "deny" };
    tracing::info!(approval = id, decision, by = visitor.name(), "a person decided at the console");
    Ok(Redirect::to(&Fields::default().link(PATH, &[], &[("done", decision)])))
}

#[cfg(test)]
#[path = "approvals_tests.rs"]
mod tests;
