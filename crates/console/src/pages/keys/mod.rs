//! Keys: made, limited and ended. A secret is shown once, on the page that made it.

mod form;
mod wish;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use sandgate_core::{KeyLimits, human_bytes};
use sandgate_store::{KeyRecord, Page as Part};

use crate::Console;
use crate::fields::{Asked, Fields};
use crate::layout::{Page, csrf};
use crate::pieces::{action, copy, empty, heads, id, pill};
use crate::problem::Problem;
use crate::times::{ago_seconds, until_seconds};
use crate::visible::quoted;
use crate::visitor::Visitor;

pub(crate) const PATH: &str = "/console/keys";
const ON_A_PAGE: usize = 100;

pub(crate) fn router() -> Router<Console> {
    Router::new()
        .route(PATH, get(show).post(create))
        .route("/console/keys/one", get(edit).post(change))
        .route("/console/keys/revoke", post(revoke))
}

async fn show(
    State(console): State<Console>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Response, Problem> {
    let part = Part {
        limit: ON_A_PAGE,
        descending: true,
        after: asked.get("after").map(str::to_owned),
        before: None,
    };
    let listed = console.parts().store.keys(&part).await?;
    let next = listed.has_more.then(|| listed.data.last()).flatten();
    let body = html! {
        @if visitor.only_master().is_ok() { (maker(&visitor)) }
        @else { p.hint { "Keys are made and ended with the master key." } }
        @if listed.data.is_empty() {
            (empty("No keys", &html! { "Clients use keys that are made here or by " code { "sandgate key create" }
                ". The first one closes the server to everybody without." }))
        } @else { (table(&listed.data, &visitor)) }
        @if let Some(last) = next {
            nav.pages aria-label="Pages" {
                a.button href=(asked.link(PATH, &[], &[("after", last.id.as_str())])) { "Older" }
            }
        }
    };
    Ok(Page::new("Keys", &visitor, body).section(PATH).into_response())
}

fn maker(visitor: &Visitor) -> Markup {
    html! {
        details.panel {
            summary data-key="n" { "New key" }
            form method="post" action=(PATH) {
                (csrf(visitor))
                div.fields {
                    label { span { "Name" } input name="name" required maxlength="200" autocomplete="off"; }
                    label { span { "Owner" } input name="owner" maxlength="64" placeholder="the key itself"
                        autocomplete="off"; }
                    label { span { "Ends after, in days" } input name="days" type="number" min="1"
                        placeholder="never"; }
                    (form::limits(&KeyLimits::default()))
                }
                div.actions.end { button.primary type="submit" { "Make the key" } }
            }
        }
    }
}

fn table(keys: &[KeyRecord], visitor: &Visitor) -> Markup {
    html! {
        table.list data-rows {
            (heads(&["State", "Name", "Key", "Owner", "Limits", "Last used", "Made", ""], &[]))
            tbody { @for key in keys { (row(key, visitor)) } }
        }
    }
}

fn row(key: &KeyRecord, visitor: &Visitor) -> Markup {
    let state = state(key);
    let one = |path: &str| Fields::default().link(path, &[], &[("id", key.id.as_str())]);
    html! {
        tr id=(key.id) {
            td data-name="State" { (pill(state)) }
            td data-name="Name" { a href=(one("/console/keys/one")) { (key.name) } }
            td data-name="Key" { code { (key.shown) } }
            td data-name="Owner" { (owner(key)) }
            td data-name="Limits" { (limits(&key.limits)) }
            td data-name="Last used" { @if let Some(at) = key.last_used_at { (ago_seconds(at)) } @else { span.soft { "never" } } }
            td data-name="Made" { (ago_seconds(key.created_at)) }
            td data-name="" {
                @if state == "active" && visitor.only_master().is_ok() {
                    (action(visitor, &one("/console/keys/revoke"), "Revoke", "quiet",
                        Some(&format!("End the key {} ({}) at once and for good?", quoted(&key.name), key.shown))))
                }
            }
        }
    }
}

fn owner(key: &KeyRecord) -> Markup {
    if key.owner.as_str() == key.id {
        html! { span.soft { "itself" } }
    } else {
        html! { (key.owner) }
    }
}

fn state(key: &KeyRecord) -> &'static str {
    if key.revoked_at.is_some() {
        "revoked"
    } else if key.is_expired() {
        "expired"
    } else {
        "active"
    }
}

/// In a few words; what is not limited is not there.
fn limits(limits: &KeyLimits) -> Markup {
    let count = |count: Option<u32>, what: &str| count.map(|count| format!("{count} {what}"));
    let words: Vec<String> = [
        limits.console.then(|| "console".to_owned()),
        limits.models.as_ref().map(|models| models.join(", ")),
        count(limits.requests_per_minute, "requests/min"),
        count(limits.executions, "executions"),
        count(limits.sandboxes, "sandboxes"),
        count(limits.containers, "containers"),
        limits.memory_bytes.map(human_bytes),
        limits.network.as_deref().map(|words| format!("network: {}", form::network(words))),
        limits.log_code.map(|is_kept| if is_kept { "code recorded" } else { "code not recorded" }.to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect();
    html! { @if words.is_empty() { span.soft { "none" } } @for word in &words { span.chip { (word) } } }
}

async fn create(
    State(console): State<Console>,
    visitor: Visitor,
    fields: Fields,
) -> Result<Response, Problem> {
    visitor.only_master()?;
    let (record, secret) = console.parts().store.create_key(wish::new(&fields)?).await?;
    tracing::info!(key = record.id, owner = %record.owner, "a key was made at the console");
    let body = html! {
        div.panel data-reload=(PATH) {
            h2 { (record.name) }
            p { "This is the key. It is shown this once: copy it now." }
            p.secret { code id="secret" { (secret.expose()) } (copy(secret.expose())) }
            p.hint { "Its id is " (id(&record.id)) "." }
        }
        p { a.button.primary href=(PATH) { "Done" } }
    };
    Ok(Page::new("The key is made", &visitor, body).section(PATH).into_response())
}

async fn edit(
    State(console): State<Console>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Response, Problem> {
    let key = console.parts().store.key(asked.get("id").unwrap_or_default()).await?;
    let may = visitor.only_master().is_ok() && state(&key) == "active";
    let body = html! {
        p.crumbs { a href=(PATH) { "Keys" } " / " (id(&key.id)) }
        @if asked.get("done").is_some() { p.notice.good { "The limits are changed. They count at once." } }
        dl.facts {
            div { dt { "State" } dd { (pill(state(&key))) } }
            div { dt { "Key" } dd { code { (key.shown) } } }
            div { dt { "Owner" } dd { (owner(&key)) } }
            div { dt { "Made" } dd { (ago_seconds(key.created_at)) } }
            @if let Some(at) = key.expires_at { div { dt { "Ends" } dd { (until_seconds(at)) } } }
            @if let Some(at) = key.revoked_at { div { dt { "Revoked" } dd { (ago_seconds(at)) } } }
        }
        p { a href=(Fields::default().link("/console/requests", &[], &[("key", key.id.as_str())])) { "Its requests" } }
        @if may {
            form.panel method="post" action="/console/keys/one" {
                h2 { "Limits" }
                (csrf(&visitor))
                input type="hidden" name="id" value=(key.id);
                div.fields { (form::limits(&key.limits)) }
                div.actions.end { button.primary type="submit" { "Change the limits" } }
            }
        } @else { div.panel { h2 { "Limits" } (limits(&key.limits)) } }
    };
    Ok(Page::new(&key.name, &visitor, body).section(PATH).into_response())
}

async fn change(
    State(console): State<Console>,
    visitor: Visitor,
    fields: Fields,
) -> Result<Redirect, Problem> {
    visitor.only_master()?;
    let id = fields.get("id").unwrap_or_default();
    let wanted = wish::limits(&fields)?;
    let has_network = fields.has("network");
    let changed = console.parts().store.change_key_limits(id, move |old| {
        // What this form does not show stays, and the network where it came without it: no bound of it goes by chance.
        let network = if has_network { wanted.network } else { old.network };
        Ok::<_, Problem>(KeyLimits { network, backend: old.backend, ..wanted })
    });
    changed.await??;
    tracing::info!(key = id, "the limits of a key were changed at the console");
    Ok(Redirect::to(&Fields::default().link("/console/keys/one", &[], &[("id", id), ("done", "1")])))
}

async fn revoke(
    State(console): State<Console>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Redirect, Problem> {
    visitor.only_master()?;
    let record = console.parts().store.revoke_key(asked.get("id").unwrap_or_default()).await?;
    tracing::info!(key = record.id, "a key was revoked at the console");
    Ok(Redirect::to(PATH))
}

#[cfg(test)]
mod tests;
