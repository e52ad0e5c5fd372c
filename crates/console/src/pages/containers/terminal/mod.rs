//! A terminal in a container. The emulation is done here: what programs print, with all its escape sequences, ends
//! in a grid of letters and colours, and only that goes to the page.

mod keys;
mod screen;
mod shell;
mod talk;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use maud::html;
use tokio::sync::Semaphore;

use super::named;
use super::one::{Tab, page};
use crate::fields::{Asked, Fields};
use crate::guard::is_from_here;
use crate::origin::Origin;
use crate::problem::Problem;
use crate::visitor::Visitor;
use crate::{Console, cookie};

const PATH: &str = "/console/containers/terminal";
/// On this server at one time.
const MOST: usize = 16;
/// Of what a page sends at once; pasted text is the longest.
const LARGEST_MESSAGE: usize = 256 << 10;

/// The room there is for them.
#[derive(Debug)]
pub(crate) struct Terminals(Arc<Semaphore>);

impl Default for Terminals {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST)))
    }
}

pub(super) fn router() -> Router<Console> {
    Router::new().route(PATH, get(show)).route("/console/containers/terminal/socket", get(connect))
}

async fn show(
    State(console): State<Console>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Response, Problem> {
    let container = named(&console, &asked)?;
    let socket = Fields::default().link(
        "/console/containers/terminal/socket",
        &[],
        &[("id", container.id().as_str())],
    );
    let body = html! {
        div.terminal id="terminal" data-socket=(socket) {
            pre.screen aria-label="Screen of the terminal" {}
            textarea.keys aria-label="Terminal input" autocapitalize="off" autocomplete="off" autocorrect="off"
                spellcheck="false" rows="1" {}
        }
        div.bar-below {
            button type="button" data-open { "Open a shell" }
            span.pill data-terminal-status role="status" aria-live="polite" { "closed" }
            span.hint {
                kbd { "Shift" } " " kbd { "Tab" } " leaves the terminal, "
                kbd { "Shift" } " " kbd { "PgUp" } " scrolls back. The shell ends with this page."
            }
        }
    };
    page(&container, &visitor, Tab::Terminal, &["terminal.js"], &body).await
}

async fn connect(
    State(console): State<Console>,
    visitor: Visitor,
    Asked(asked): Asked,
    origin: Origin,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Result<Response, Problem> {
    // Browsers open sockets to wherever a page likes, with the cookies of there.
    is_from_here(&headers)?;
    let container = named(&console, &asked)?;
    let token = cookie::token(&headers).ok_or(Problem::SignedOut)?.to_owned();
    let room = Arc::clone(&console.terminals().0).try_acquire_owned();
    let room = room.map_err(|_| Problem::Conflict(format!("There are {MOST} terminals open already.")))?;
    let asker = origin.asker(&console, &visitor);
    let upgrade = upgrade.max_message_size(LARGEST_MESSAGE).max_frame_size(LARGEST_MESSAGE);
    Ok(upgrade.on_upgrade(async move |socket| {
        talk::serve(socket, &console, &container, &asker, &token).await;
        drop(room);
    }))
}
