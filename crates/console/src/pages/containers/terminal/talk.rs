//! Pages that open a terminal, and pages that come back to one.

use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket};
use sandgate_core::{Container, TerminalSize};
use sandgate_gate::Asker;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::live::Terminal;
use super::open::Place;
use super::shell::Shell;
use crate::Console;
use crate::held;
use crate::refused::said;
use crate::sessions::SessionKey;

/// Until the page says how much it has room for.
const SIZE: TerminalSize = TerminalSize { columns: 80, rows: 24 };

/// A page that comes back to a terminal. None: it has ended meanwhile.
pub(super) async fn join(mut socket: WebSocket, terminal: Option<mpsc::Sender<WebSocket>>) {
    let Some(terminal) = terminal else {
        let _ = tell(&mut socket, &json!({"type": "gone"})).await;
        return;
    };
    // One that ends just now closes the page's connection, and the page says so.
    let _ = terminal.send(socket).await;
}

pub(super) async fn refuse(mut socket: WebSocket, text: &str) {
    let _ = tell(&mut socket, &json!({"type": "ended", "text": text})).await;
}

pub(super) async fn serve(
    mut socket: WebSocket,
    console: &Console,
    container: &Arc<Container>,
    asker: &Asker,
    session: &SessionKey,
    place: Place,
) {
    asker.call.begin();
    let told = json!({"type": "asked", "request": crate::pages::requests::link(&asker.request_id)});
    if tell(&mut socket, &told).await.is_err() {
        return;
    }
    let waits = async {
        held::until(console, &asker.request_id).await;
        let _ = tell(&mut socket, &held::event()).await;
        // A person may take long; whoever leaves meanwhile wants no shell.
        closed(&mut socket).await;
    };
    let started = tokio::select! {
        started = Shell::start(console, container, asker, SIZE) => started,
        () = waits => return,
        () = console.parts().gate.cut().cancelled_owned() => return,
    };
    let shell = match started {
        Ok(shell) => shell,
        Err(refused) => {
            let told = json!({"type": "ended", "text": said(asker, refused)});
            let _ = tell(&mut socket, &told).await;
            return;
        }
    };
    asker.call.ended("completed");
    Terminal::new(shell, SIZE, place).talk(socket, console, container, session).await;
}

async fn tell(socket: &mut WebSocket, told: &Value) -> Result<(), axum::Error> {
    socket.send(Message::Text(told.to_string().into())).await
}

/// Reads and drops what comes until the page is gone.
async fn closed(socket: &mut WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if matches!(message, Message::Close(_)) {
            return;
        }
    }
}
