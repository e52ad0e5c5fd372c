//! A terminal in a container. The emulation is done here: what programs print, with all its escape sequences, ends
//! in a grid of letters and colours, and only that goes to the page.

mod emulator;
mod keys;
mod live;
mod open;
mod screen;
mod shell;
mod talk;

use axum::Router;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use maud::html;

pub(crate) use open::Terminals;

use super::Which;
use super::one::{Tab, page};
use crate::Console;
use crate::fields::{Asked, Fields};
use crate::guard::is_from_here;
use crate::origin::Origin;
use crate::problem::Problem;
use crate::visitor::Visitor;

const PATH: &str = "/console/containers/terminal";
/// Of what a page sends at once; pasted text is the longest.
const LARGEST_MESSAGE: usize = 256 << 10;

/// Keys that a phone does not have: what is on them, what they are, and whether with Ctrl.
const TOUCH: [(&str, &str, bool); 6] = [
    ("Esc", "Escape", false),
    ("Tab", "Tab", false),
    ("Ctrl C", "c", true),
    ("Ctrl D", "d", true),
    ("↑", "ArrowUp", false),
    ("↓", "ArrowDown", false),
];

pub(super) fn router() -> Router<Console> {
    Router::new().route(PATH, get(show)).route("/console/containers/terminal/socket", get(connect))
}

async fn show(visitor: Visitor, Which(container): Which) -> Result<Response, Problem> {
    let socket = Fields::default().link(
        "/console/containers/terminal/socket",
        &[],
        &[("id", container.id().as_str())],
    );
    let body = html! {
        div.terminal id="terminal" data-socket=(socket) data-container=(container.id()) {
            pre.screen aria-label="Screen of the terminal" {}
            textarea.keys aria-label="Terminal input" autocapitalize="off" autocomplete="off" autocorrect="off"
                spellcheck="false" rows="1" {}
        }
        div.bar-below {
            button.primary type="button" data-open { "Open a shell" }
            span.pill data-terminal-status role="status" aria-live="polite" { "closed" }
            span.touch {
                @for (name, key, is_ctrl) in TOUCH {
                    button type="button" data-send=(key) data-ctrl[is_ctrl] { (name) }
                }
            }
            span.hint {
                kbd { "Shift" } " " kbd { "Tab" } " leaves the terminal, "
                kbd { "Shift" } " " kbd { "PgUp" } " scrolls back. The shell waits some minutes for a page that is closed."
            }
        }
    };
    page(&container, &visitor, Tab::Terminal, &["terminal.js"], &body).await
}

async fn connect(
    State(console): State<Console>,
    visitor: Visitor,
    Which(container): Which,
    Asked(asked): Asked,
    origin: Origin,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Result<Response, Problem> {
    // Browsers open sockets to wherever a page likes, with the cookies of there.
    is_from_here(&headers)?;
    let session = visitor.session.ok_or(Problem::SignedOut)?;
    let upgrade = upgrade.max_message_size(LARGEST_MESSAGE).max_frame_size(LARGEST_MESSAGE);
    if let Some(id) = asked.get("terminal") {
        let found = console.terminals().find(id, container.id(), &visitor);
        return Ok(upgrade.on_upgrade(async move |socket| talk::join(socket, found).await));
    }
    let place = match console.terminals().begin(container.id(), &visitor) {
        Ok(place) => place,
        // A page cannot read why a connection was refused.
        Err(problem) => {
            let text = problem.to_string();
            return Ok(upgrade.on_upgrade(async move |socket| talk::refuse(socket, &text).await));
        }
    };
    let asker = origin.asker(&console, &visitor);
    Ok(upgrade.on_upgrade(async move |socket| {
        talk::serve(socket, &console, &container, &asker, &session, place).await
    }))
}
