//! A notebook over a container: its contexts, and code that is run in one of them.

mod contexts;
mod run;

use std::time::Duration;

use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use maud::{Markup, html};
use sandgate_core::ContextInfo;
use tokio::time::timeout;

use super::Which;
use super::one::{Tab, page};
use crate::Console;
use crate::fields::Fields;
use crate::problem::Problem;
use crate::visitor::Visitor;

const PATH: &str = "/console/containers/notebook";
/// For a list of contexts; a page does not wait for a sandbox that hangs.
const PATIENCE: Duration = Duration::from_millis(500);
/// What contexts can be written in, where the server has it.
const LANGUAGES: [(&str, &str); 7] = [
    ("python", "Python"),
    ("bash", "Bash"),
    ("javascript", "JavaScript"),
    ("typescript", "TypeScript"),
    ("java", "Java"),
    ("go", "Go"),
    ("r", "R"),
];
const EXAMPLE: &str = "import matplotlib.pyplot as plt\n\nplt.plot([1, 4, 9, 16])\nplt.show()";

pub(super) fn router() -> Router<Console> {
    Router::new()
        .route(PATH, get(show))
        .route("/console/containers/notebook/run", post(run::run))
        .route("/console/containers/notebook/stop", post(run::stop))
        .merge(contexts::router())
}

fn link_to(what: &str, id: &str, more: &[(&str, &str)]) -> String {
    let mut fields = vec![("id", id)];
    fields.extend(more);
    Fields::default().link(&format!("{PATH}/{what}"), &[], &fields)
}

async fn show(visitor: Visitor, Which(container): Which) -> Result<Response, Problem> {
    let id = container.id().as_str();
    // Whoever only looks wakes nobody.
    let contexts = match container.running().await {
        Some(sandbox) => {
            timeout(PATIENCE, sandbox.contexts()).await.ok().and_then(Result::ok).unwrap_or_default()
        }
        None => Vec::new(),
    };
    let body = html! {
        div id="cells" aria-label="What was run" {}
        (editor(id, &contexts))
        section.panel aria-labelledby="contexts-title" {
            h2 id="contexts-title" { "Contexts" }
            div id="contexts" data-live="2000" { (contexts::table(id, &contexts, &visitor)) }
            (contexts::form(id, &visitor))
        }
    };
    page(&container, &visitor, Tab::Notebook, &["notebook.js"], &body).await
}

fn editor(id: &str, contexts: &[ContextInfo]) -> Markup {
    html! {
        form.cell.editor id="editor" data-run=(link_to("run", id, &[])) data-stop=(link_to("stop", id, &[])) {
            textarea.mono name="code" rows="6" spellcheck="false" autocapitalize="off" autocomplete="off"
                aria-label="Code" aria-describedby="editor-keys" placeholder=(EXAMPLE) {}
            div.bar-below {
                label { span.visually-hidden { "Where it runs" }
                    select name="place" id="place" {
                        optgroup label="A language, in its usual context" {
                            @for (name, title) in LANGUAGES { option value={ "language:" (name) } { (title) } }
                        }
                        @if !contexts.is_empty() {
                            optgroup label="A context" {
                                @for context in contexts {
                                    option value={ "context:" (context.id) } { (context.language) ", " (context.id) }
                                }
                            }
                        }
                    }
                }
                button.primary type="submit" data-run-button { "Run" }
                button.danger type="button" data-stop-button hidden { "Stop" }
                span.hint id="editor-keys" { kbd { "Ctrl" } " " kbd { "Enter" } " runs it" }
            }
        }
    }
}
