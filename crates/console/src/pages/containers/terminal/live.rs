//! A shell, its screen, and the page that it is shown on: keys one way, rows the other. The page may leave and come
//! back.

use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use sandgate_core::{Container, ProcessEnd, ProcessEvent, TerminalSize};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, interval, sleep_until};

use super::emulator::Emulator;
use super::keys::{Key, bytes, pasted};
use super::open::Place;
use super::screen::Screen;
use super::shell::Shell;
use crate::Console;
use crate::sessions::SessionKey;

/// Rows go out at most so often.
const PAUSE: Duration = Duration::from_millis(25);
/// How often it is looked whether whoever is signed in still is.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// How long a shell waits for a page to come back.
const ALONE: Duration = Duration::from_secs(5 * 60);

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

pub(super) struct Terminal {
    shell: Shell,
    emulator: Emulator,
    place: Place,
    /// The page that it is shown on now.
    page: Option<WebSocket>,
}

impl Terminal {
    pub(super) fn new(shell: Shell, size: TerminalSize, place: Place) -> Self {
        let emulator = Emulator::new(Screen::new(size.columns, size.rows), place.turns());
        Self { shell, emulator, place, page: None }
    }

    /// Until it ends, which the page is told with the reason.
    pub(super) async fn talk(
        mut self,
        page: WebSocket,
        console: &Console,
        container: &Container,
        session: &SessionKey,
    ) {
        self.show_on(page).await;
        let Over { text, is_good } = self.until_it_ends(console, container, session).await;
        self.tell(&json!({"type": "ended", "text": text, "is_good": is_good})).await;
        self.shell.end(console);
    }

    /// Why it ends.
    async fn until_it_ends(
        &mut self,
        console: &Console,
        container: &Container,
        session: &SessionKey,
    ) -> Over {
        let cut = console.parts().gate.cut();
        let mut looks = interval(LOOK_EVERY);
        // When the page is told what changed; None: nothing did.
        let mut due = Some(Instant::now());
        let mut alone_since = Instant::now();
        loop {
            let was_alone = self.page.is_none();
            tokio::select! {
                // A program that prints faster than it is emulated waits.
                event = self.shell.events.recv(), if !self.emulator.is_busy() => match event {
                    Some(ProcessEvent::Terminal(bytes) | ProcessEvent::Stdout(bytes) | ProcessEvent::Stderr(bytes)) => {
                        self.emulator.take(bytes);
                    }
                    Some(ProcessEvent::Ended(end)) => {
                        self.show().await;
                        return ended(&end);
                    }
                    None => return Over::bad("The sandbox went away."),
                },
                () = self.emulator.rested(), if self.emulator.is_busy() => {
                    self.emulator.go_on().await;
                    due.get_or_insert_with(|| Instant::now() + PAUSE);
                }
                () = until(due), if due.is_some() => {
                    due = None;
                    self.show().await;
                }
                said = heard(&mut self.page), if self.page.is_some() => match said {
                    Heard::Asked(asked) => {
                        container.keep_alive();
                        // Whoever types is there, as somebody who clicks is.
                        if !matches!(asked, Asked::Resize { .. }) {
                            console.0.sessions.find(session, true);
                        }
                        follow(asked, &self.shell, &mut self.emulator.screen).await;
                        due.get_or_insert_with(|| Instant::now() + PAUSE);
                    }
                    Heard::Nothing => {}
                    Heard::Left => self.page = None,
                },
                page = self.place.pages.recv() => match page {
                    Some(page) => self.show_on(page).await,
                    None => return Over::bad("It made room for another terminal."),
                },
                () = sleep_until(alone_since + ALONE), if self.page.is_none() => {
                    return Over::bad("Nobody looked at it any more.");
                }
                _ = looks.tick() => {
                    if !is_signed_in(console, session).await {
                        return Over::bad("Signed out.");
                    }
                    self.send(Message::Ping(bytes::Bytes::new())).await;
                }
                () = cut.cancelled() => return Over::bad("The server stops."),
            }
            if was_alone != self.page.is_none() {
                alone_since = Instant::now();
                self.place.set_alone(self.page.is_none());
            }
        }
    }

    /// From here on it is shown there, and nowhere else.
    async fn show_on(&mut self, page: WebSocket) {
        self.tell(&json!({"type": "elsewhere"})).await;
        self.page = Some(page);
        self.tell(&json!({"type": "open", "terminal": self.place.id})).await;
        self.emulator.screen.forget();
        self.show().await;
    }

    async fn show(&mut self) {
        if self.page.is_some()
            && let Some(update) = self.emulator.update().await
        {
            self.send(Message::Text(update.into())).await;
        }
    }

    async fn tell(&mut self, told: &Value) {
        self.send(Message::Text(told.to_string().into())).await;
    }

    /// A page that does not take it has left.
    async fn send(&mut self, message: Message) {
        if let Some(page) = &mut self.page
            && page.send(message).await.is_err()
        {
            self.page = None;
        }
    }
}

enum Heard {
    Asked(Asked),
    Nothing,
    Left,
}

async fn heard(page: &mut Option<WebSocket>) -> Heard {
    let Some(page) = page else { return Heard::Left };
    match page.recv().await {
        Some(Ok(Message::Text(text))) => serde_json::from_str(&text).map_or(Heard::Nothing, Heard::Asked),
        None | Some(Ok(Message::Close(_)) | Err(_)) => Heard::Left,
        Some(Ok(_)) => Heard::Nothing,
    }
}

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

async fn is_signed_in(console: &Console, session: &SessionKey) -> bool {
    let Some(session) = console.0.sessions.find(session, false) else { return false };
    matches!(console.parts().access.still_operator(&session.rank).await, Ok(Some(_)))
}

/// Why a terminal is over, and whether somebody wanted it so.
struct Over {
    text: String,
    is_good: bool,
}

impl Over {
    fn bad(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_good: false }
    }
}

fn ended(end: &ProcessEnd) -> Over {
    match end {
        ProcessEnd::Exited { code: 0 } => Over { text: "The shell has ended.".to_owned(), is_good: true },
        // Its last command's, as shells do.
        ProcessEnd::Exited { code } => {
            Over { text: format!("The shell has ended with {code}."), is_good: true }
        }
        ProcessEnd::Signalled { reason: Some(reason), .. } => {
            Over::bad(format!("The shell was ended: {reason}."))
        }
        ProcessEnd::Signalled { signal, .. } => Over::bad(format!("The shell was ended by signal {signal}.")),
        ProcessEnd::TimedOut => Over::bad("The shell's time was over."),
    }
}
