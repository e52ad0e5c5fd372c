//! A client that is connected to a terminal.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use bytes::Bytes;
use sandgate_core::{Processes, TerminalSize};
use tokio::sync::{OwnedMutexGuard, mpsc};
use tokio::time::{Instant, interval_at};

use super::super::guest::Guest;
use super::frames::{Asked, Word, output, read, replay};
use super::terminal::Terminal;

const PING: Duration = Duration::from_secs(30);
/// Somebody else is connected now; a client that comes back by itself would only fight with him.
const TAKEN_OVER: u16 = 4001;
/// Pieces of input that wait for the shell to read.
const WAITING: usize = 16;

pub(super) enum Entry {
    Alone(OwnedMutexGuard<()>),
    TakesOver,
}

pub(super) struct Wished {
    pub(super) entry: Entry,
    /// From where what was said is told again.
    pub(super) since: u64,
    pub(super) is_pipe: bool,
}

/// Whoever goes away, or is cut off, leaves the shell as it is.
pub(super) async fn serve(mut socket: WebSocket, guest: Guest, terminal: Arc<Terminal>, wished: Wished) {
    let alone = match wished.entry {
        Entry::Alone(alone) => Some(alone),
        Entry::TakesOver => terminal.take_over().await,
    };
    let Some(_alone) = alone else {
        let word =
            Word::error("ALREADY_CONNECTED", format!("takeover timed out for pty session {}", terminal.id));
        let _ = socket.send(word.message()).await;
        return;
    };
    let mut connected = match Connected::new(&guest, terminal, wished.since).await {
        Ok(connected) => connected,
        Err(refusal) => return say(&mut socket, &Word::error("START_FAILED", refusal)).await,
    };
    let is_pipe = match connected.terminal.start(&guest, wished.is_pipe).await {
        Ok(is_pipe) => is_pipe,
        Err(refusal) => return say(&mut socket, &Word::error("START_FAILED", refusal.to_string())).await,
    };
    let close = match connected.talk(&mut socket, is_pipe).await {
        Ok(close) => close,
        // The client is gone.
        Err(_) => return,
    };
    let _ = socket.send(Message::Close(Some(close))).await;
}

async fn say(socket: &mut WebSocket, word: &Word<'_>) {
    let _ = socket.send(word.message()).await;
}

struct Connected {
    terminal: Arc<Terminal>,
    processes: Arc<dyn Processes>,
    /// How far the client has heard.
    heard: u64,
    input: mpsc::Sender<Bytes>,
    /// Told when the shell takes no more input.
    refused: mpsc::Receiver<String>,
}

impl Connected {
    async fn new(guest: &Guest, terminal: Arc<Terminal>, since: u64) -> Result<Self, String> {
        let processes = guest.processes().await.map_err(|refusal| refusal.to_string())?;
        let (input, waiting) = mpsc::channel(WAITING);
        let (refusing, refused) = mpsc::channel(1);
        tokio::spawn(write(Arc::clone(&terminal), Arc::clone(&processes), waiting, refusing));
        Ok(Self { terminal, processes, heard: since, input, refused })
    }

    /// Why it ends.
    async fn talk(&mut self, socket: &mut WebSocket, is_pipe: bool) -> Result<CloseFrame, axum::Error> {
        let mut taken_over = self.terminal.taken_over.subscribe();
        let mut changed = self.terminal.changed.subscribe();
        let (begins, missed, end) = self.terminal.after(self.heard);
        if !missed.is_empty() {
            socket.send(replay(begins, &missed)).await?;
        }
        self.heard = end;
        let mode = Some(if is_pipe { "pipe" } else { "pty" });
        let word = Word { kind: "connected", session_id: Some(&self.terminal.id), mode, ..Word::default() };
        socket.send(word.message()).await?;
        let mut ping = interval_at(Instant::now() + PING, PING);
        let mut waiting: Option<Bytes> = None;
        loop {
            // The end is looked for before what was said is told, so nothing that was said before it is lost.
            let ended = self.terminal.end();
            self.tell(socket).await?;
            if let Some(code) = ended {
                socket
                    .send(Word { kind: "exit", exit_code: Some(code), ..Word::default() }.message())
                    .await?;
                return Ok(CloseFrame { code: close_code::NORMAL, reason: "process exited".into() });
            }
            tokio::select! {
                _ = changed.changed() => {}
                _ = taken_over.changed() => {
                    return Ok(CloseFrame { code: TAKEN_OVER, reason: "TAKEN_OVER".into() });
                }
                Some(why) = self.refused.recv() => {
                    socket.send(Word::error("STDIN_WRITE_FAILED", why).message()).await?;
                    return Ok(CloseFrame { code: close_code::ERROR, reason: "STDIN_WRITE_FAILED".into() });
                }
                _ = ping.tick() => socket.send(Message::Ping(Bytes::new())).await?,
                room = self.input.reserve(), if waiting.is_some() => {
                    if let (Ok(room), Some(bytes)) = (room, waiting.take()) {
                        room.send(bytes);
                    }
                }
                message = socket.recv(), if waiting.is_none() => {
                    let left = CloseFrame { code: close_code::NORMAL, reason: "".into() };
                    let Some(message) = message else { return Ok(left) };
                    match read(message?) {
                        Asked::Input(bytes) => waiting = Some(bytes),
                        Asked::Leave => return Ok(left),
                        asked => self.answer(socket, asked).await?,
                    }
                }
            }
        }
    }

    /// What was said since.
    async fn tell(&mut self, socket: &mut WebSocket) -> Result<(), axum::Error> {
        let (begins, pieces, end) = self.terminal.after(self.heard);
        if begins > self.heard {
            // More was said than is kept: the client learns where it goes on.
            socket.send(replay(begins, &pieces)).await?;
        } else {
            for (source, piece) in &pieces {
                socket.send(output(*source, piece)).await?;
            }
        }
        self.heard = end;
        Ok(())
    }

    async fn answer(&self, socket: &mut WebSocket, asked: Asked) -> Result<(), axum::Error> {
        let process = self.terminal.process();
        let done = match (asked, process) {
            (Asked::Signal(number), Some(process)) => self.processes.signal(&process, number).await,
            (Asked::Resize { columns, rows }, Some(process)) => {
                self.processes.resize(&process, TerminalSize { columns, rows }).await
            }
            (Asked::Ping, _) => {
                return socket.send(Word { kind: "pong", ..Word::default() }.message()).await;
            }
            (Asked::Unknown(kind), _) => {
                let why = format!("unknown frame type \"{kind}\"");
                return socket.send(Word::error("INVALID_FRAME", why).message()).await;
            }
            (Asked::Signal(_) | Asked::Resize { .. }, None)
            | (Asked::Input(_) | Asked::Nothing | Asked::Leave, _) => Ok(()),
        };
        if let Err(error) = done {
            tracing::debug!(%error, "a terminal could not be sent a signal or a size");
        }
        Ok(())
    }
}

/// Beside the rest: a shell that does not read must not keep its client from hearing it.
async fn write(
    terminal: Arc<Terminal>,
    processes: Arc<dyn Processes>,
    mut waiting: mpsc::Receiver<Bytes>,
    refusing: mpsc::Sender<String>,
) {
    while let Some(bytes) = waiting.recv().await {
        let Some(process) = terminal.process() else { continue };
        if let Err(error) = processes.write(&process, bytes).await {
            let _ = refusing.send(error.to_string()).await;
            return;
        }
    }
}
