//! The contexts of a container: seen, made, started afresh, ended.

use axum::Router;
use axum::extract::Path;
use axum::response::Redirect;
use axum::routing::post;
use maud::{Markup, html};
use sandgate_core::{ContextId, ContextInfo, ContextSpec};

use super::{LANGUAGES, link_to};
use crate::Console;
use crate::fields::{Asked, Fields};
use crate::layout::csrf;
use crate::pages::containers::Which;
use crate::pages::containers::one::Tab;
use crate::pieces::{action, heads, pill};
use crate::problem::Problem;
use crate::visitor::Visitor;

pub(super) fn router() -> Router<Console> {
    Router::new()
        .route("/console/containers/notebook/contexts", post(create))
        .route("/console/containers/notebook/contexts/{what}", post(change))
}

pub(super) fn table(id: &str, contexts: &[ContextInfo], visitor: &Visitor) -> Markup {
    if contexts.is_empty() {
        return html! { p.hint { "None yet: running code makes the first one." } };
    }
    html! {
        table.list {
            (heads(&["Context", "Language", "Folder", "State", ""], &[]))
            tbody {
                @for context in contexts {
                    @let to = |what: &str| link_to(what, id, &[("context", context.id.as_str())]);
                    tr {
                        td data-name="Context" { code { (context.id) } }
                        td data-name="Language" { (context.language) }
                        td data-name="Folder" { code { (context.cwd) } }
                        td data-name="State" { (pill(if context.busy { "running" } else { "idle" })) }
                        td data-name="" {
                            div.actions {
                                (action(visitor, &to("contexts/restart"), "Restart", "quiet", Some("Restart this context? Its variables are lost.")))
                                (action(visitor, &to("contexts/delete"), "Delete", "quiet", Some("Delete this context? Its variables are lost.")))
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn form(id: &str, visitor: &Visitor) -> Markup {
    html! {
        form.in-a-line method="post" action=(link_to("contexts", id, &[])) {
            (csrf(visitor))
            label { span.visually-hidden { "Language" }
                select name="language" { @for (name, title) in LANGUAGES { option value=(name) { (title) } } }
            }
            label { span.visually-hidden { "Folder" }
                input name="cwd" placeholder="/mnt/data" autocomplete="off" spellcheck="false";
            }
            button type="submit" { "Make a context" }
        }
    }
}

async fn create(visitor: Visitor, Which(container): Which, fields: Fields) -> Result<Redirect, Problem> {
    let spec = ContextSpec {
        id: None,
        language: fields.get("language").map(str::to_owned),
        cwd: fields.typed("cwd").map(str::to_owned),
    };
    container.sandbox_within(&visitor.principal.limits).await?.create_context(spec).await?;
    Ok(Redirect::to(&Tab::Notebook.link(container.id().as_str())))
}

/// Started afresh, or ended.
async fn change(
    _visitor: Visitor,
    Which(container): Which,
    Path(what): Path<String>,
    Asked(asked): Asked,
) -> Result<Redirect, Problem> {
    let context = context(&asked)?;
    match (what.as_str(), container.running().await) {
        ("restart", Some(sandbox)) => sandbox.restart_context(&context).await?,
        ("delete", Some(sandbox)) => sandbox.delete_context(&context).await?,
        // One that sleeps has no contexts.
        ("restart" | "delete", None) => {}
        _ => return Err(Problem::NotFound),
    }
    Ok(Redirect::to(&Tab::Notebook.link(container.id().as_str())))
}

fn context(asked: &Fields) -> Result<ContextId, Problem> {
    ContextId::parse(asked.get("context").unwrap_or_default()).map_err(|_| Problem::NotFound)
}
