//! A page that is connected to a terminal: keys one way, rows the other.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use sandgate_core::{Container, ProcessEnd, ProcessEvent, TerminalSize};
use sandgate_gate::Asker;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, interval, sleep_until};

use super::keys::{Key, bytes, pasted};
use super::screen::Screen;
use super::shell::Shell;
use crate::Console;
use crate::refused::said;

/// Rows go out at most so often; a program that floods costs no more than one that writes a line.
const PAUSE: Duration = Duration::from_millis(25);
/// How often it is looked whether whoever is signed in still is.
const LOOK_EVERY: Duration = Duration::from_secs(10);
const SIZE: TerminalSize = TerminalSize { columns: 80, rows: 24 };

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Asked {
    Key(Key),
    /// Typed, such as by an input method.
    Text {
        text: String,
    },
    Paste {
        text: String,
    },
    Resize {
        columns: u16,
        rows: u16,
    },
    Back {
        rows: usize,
    },
}

pub(super) async fn serve(
    mut socket: WebSocket,
    console: &Console,
    container: &Arc<Container>,
    asker: &Asker,
    token: &str,
) {
    asker.call.begin();
    let told = json!({"type": "asked", "request": crate::pages::requests::link(&asker.request_id)});
    if tell(&mut socket, &told).await.is_err() {
        return;
    }
    let started = tokio::select! {
        started = Shell::start(console, container, asker, SIZE) => started,
        // Approval may take long; whoever leaves meanwhile wants no shell.
        () = closed(&mut socket) => return,
        () = console.parts().gate.cut().cancelled_owned() => return,
    };
    let mut shell = match started {
        Ok(shell) => shell,
        Err(refused) => {
            let told = json!({"type": "ended", "text": said(asker, refused)});
            let _ = tell(&mut socket, &told).await;
            return;
        }
    };
    asker.call.ended("completed");
    let end = talk(&mut socket, console, container, &mut shell, token).await;
    shell.end(console);
    if let Ok(text) = end {
        let _ = tell(&mut socket, &json!({"type": "ended", "text": text})).await;
    }
}

/// Why it ends, for the page; or the page has gone.
async fn talk(
    socket: &mut WebSocket,
    console: &Console,
    container: &Container,
    shell: &mut Shell,
    token: &str,
) -> Result<String, axum::Error> {
    let mut screen = Screen::new(SIZE.columns, SIZE.rows);
    let cut = console.parts().gate.cut();
    let mut looks = interval(LOOK_EVERY);
    // When the page is told what changed; None: nothing did.
    let mut due = Some(Instant::now());
    loop {
        tokio::select! {
            event = shell.events.recv() => match event {
                Some(ProcessEvent::Terminal(bytes) | ProcessEvent::Stdout(bytes) | ProcessEvent::Stderr(bytes)) => {
                    screen.feed(&bytes);
                    due.get_or_insert_with(|| Instant::now() + PAUSE);
                }
                Some(ProcessEvent::Ended(end)) => {
                    show(socket, &mut screen).await?;
                    return Ok(ended(&end));
                }
                None => return Ok("The sandbox went away.".to_owned()),
            },
            () = until(due), if due.is_some() => {
                due = None;
                show(socket, &mut screen).await?;
            }
            message = socket.recv() => match message {
                None | Some(Ok(Message::Close(_))) => return Err(axum::Error::new(Left)),
                Some(message) => {
                    if let Message::Text(text) = message?
                        && let Ok(asked) = serde_json::from_str(&text)
                    {
                        container.keep_alive();
                        follow(asked, shell, &mut screen).await;
                        due.get_or_insert_with(|| Instant::now() + PAUSE);
                    }
                }
            },
            _ = looks.tick() => {
                if !is_signed_in(console, token).await {
                    return Ok("Signed out.".to_owned());
                }
                socket.send(Message::Ping(bytes::Bytes::new())).await?;
            }
            () = cut.cancelled() => return Ok("The server stops.".to_owned()),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the page was closed")]
struct Left;

async fn until(due: Option<Instant>) {
    if let Some(due) = due {
        sleep_until(due).await;
    }
}

async fn follow(asked: Asked, shell: &Shell, screen: &mut Screen) {
    let typed = match asked {
        Asked::Key(key) => bytes(&key, screen.is_application_cursor()),
        Asked::Text { text } => Some(pasted(&text, false)),
        Asked::Paste { text } => Some(pasted(&text, screen.is_bracketed_paste())),
        Asked::Resize { columns, rows } => {
            let (columns, rows) = screen.resize(columns, rows);
            shell.resize(columns, rows).await;
            None
        }
        Asked::Back { rows } => {
            screen.look_back(rows);
            None
        }
    };
    if let Some(typed) = typed {
        screen.look_back(0);
        if !shell.write(typed) {
            tracing::debug!("a shell does not read, and what was typed for it is dropped");
        }
    }
}

async fn show(socket: &mut WebSocket, screen: &mut Screen) -> Result<(), axum::Error> {
    let Some(update) = screen.update() else { return Ok(()) };
    let text = serde_json::to_string(&update).unwrap_or_default();
    socket.send(Message::Text(text.into())).await
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

async fn is_signed_in(console: &Console, token: &str) -> bool {
    let Some(session) = console.0.sessions.find(token, false) else { return false };
    matches!(console.parts().access.still_operator(&session.rank).await, Ok(Some(_)))
}

fn ended(end: &ProcessEnd) -> String {
    match end {
        ProcessEnd::Exited { code: 0 } => "The shell has ended.".to_owned(),
        ProcessEnd::Exited { code } => format!("The shell has ended with {code}."),
        ProcessEnd::Signalled { reason: Some(reason), .. } => format!("The shell was ended: {reason}."),
        ProcessEnd::Signalled { signal, .. } => format!("The shell was ended by signal {signal}."),
        ProcessEnd::TimedOut => "The shell's time was over.".to_owned(),
    }
}
