//! The playground: a prompt for a model with the code interpreter on, and what comes of it as it comes.

mod ask;

use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use sandgate_core::KeyLimits;
use sandgate_gate::upstream::{Credentials, Upstream as _};
use serde_json::Value;
use tokio::time::timeout;

use crate::Console;
use crate::fields::Asked;
use crate::layout::Page;
use crate::visitor::Visitor;

pub(crate) const PATH: &str = "/console/playground";
/// The stand-in that needs no account.
const LOOPBACK: &str = "loopback";
/// For upstreams to say what they have; a page does not wait for one that hangs.
const PATIENCE: Duration = Duration::from_secs(2);
/// In the list; others can be written by hand nowhere, so it is generous.
const MOST_MODELS: usize = 500;

/// Draws a chart with any model; loopback runs the code as it stands.
const EXAMPLE: &str = "\
Run this code, and say what the chart shows:

```python
import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 4 * np.pi, 400)
fig, ax = plt.subplots(figsize=(7, 3.2))
ax.plot(x, np.sin(x), label=\"sin x\")
ax.plot(x, np.sin(x) * np.exp(-x / 6), label=\"damped\")
ax.fill_between(x, np.exp(-x / 6), -np.exp(-x / 6), alpha=0.1)
ax.set(title=\"A wave that fades\", xlabel=\"x\")
ax.legend()
plt.show()
print(\"half of it is gone at x =\", round(6 * np.log(2), 2))
```";

pub(crate) fn router() -> Router<Console> {
    Router::new().route(PATH, get(show)).route("/console/playground/ask", post(ask::ask))
}

async fn show(State(console): State<Console>, visitor: Visitor, Asked(asked): Asked) -> Response {
    let models = models(&console, &visitor.principal.limits).await;
    let chosen =
        asked.get("model").or_else(|| models.first().map(String::as_str)).unwrap_or(LOOPBACK).to_owned();
    let body = html! {
        p.hint {
            "A prompt with the code interpreter on. "
            code { (LOOPBACK) } " is no model: it runs the fenced Python in your message and answers with what it "
            "puts out, so that all of this can be tried without an account."
        }
        div id="turns" aria-label="The conversation" {}
        form.panel.prompt id="prompt" data-ask="/console/playground/ask" {
            label.visually-hidden for="message" { "Your message" }
            textarea.mono id="message" name="message" rows="12" spellcheck="false" required { (EXAMPLE) }
            div.bar-below {
                label.with-name { span { "Model" }
                    select name="model" id="model" {
                        @for model in &models { option value=(model) selected[*model == chosen] { (model) } }
                    }
                }
                button.primary type="submit" data-run-button { "Ask" }
                button.danger type="button" data-stop-button hidden { "Stop" }
                button type="button" data-new hidden { "New conversation" }
                span.hint { kbd { "Ctrl" } " " kbd { "Enter" } " asks" }
            }
        }
        (as_code())
    };
    Page::new("Playground", &visitor, body).section(PATH).scripts(&["playground.js"]).into_response()
}

/// Filled by the script, as it depends on what is written above.
fn as_code() -> Markup {
    let kinds = [("python", "OpenAI SDK"), ("curl", "curl"), ("e2b", "E2B SDK")];
    html! {
        details.panel id="as-code" {
            summary { "Show as code" }
            div.tabs role="tablist" aria-label="In which form" {
                @for (place, (kind, title)) in kinds.into_iter().enumerate() {
                    button.tab type="button" role="tab" data-kind=(kind) id={ "tab-" (kind) }
                        aria-controls="snippet" aria-selected=(if place == 0 { "true" } else { "false" })
                        tabindex=(if place == 0 { "0" } else { "-1" }) { (title) }
                }
            }
            div.cell.snippet id="snippet" role="tabpanel" aria-labelledby="tab-python" {
                button.quiet type="button" data-copy="" { "Copy" }
                pre.code tabindex="0" aria-label="The same call as code" { code {} }
            }
        }
    }
}

/// Those that the visitor may ask, in the order of the configuration; the stand-in last.
async fn models(console: &Console, limits: &KeyLimits) -> Vec<String> {
    let upstreams = &console.parts().upstreams;
    let listed = timeout(PATIENCE, upstreams.models(&Credentials::default())).await;
    let mut models = match listed {
        Ok(Ok(listed)) => ids(&listed),
        _ => upstreams.names(),
    };
    models.retain(|model| model != LOOPBACK && limits.allows_model(model));
    models.truncate(MOST_MODELS);
    models.push(LOOPBACK.to_owned());
    models
}

fn ids(listed: &Value) -> Vec<String> {
    let all = listed.get("data").and_then(Value::as_array).into_iter().flatten();
    all.filter_map(|model| model.get("id").and_then(Value::as_str)).map(str::to_owned).collect()
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
