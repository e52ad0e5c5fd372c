//! Events on their way to whoever reads them, at his own pace: a slow reader must not slow down the code, nor keep
//! the gate from seeing that its time is up. What waits is bounded by the output limit, which counts all of it.

use std::collections::VecDeque;

use sandgate_core::Event;
use tokio::sync::mpsc;

/// So many pieces wait before no more is taken from the provider. Texts that follow each other are one.
const MOST_WAITING: usize = 4096;

#[derive(Debug)]
pub(super) struct Outgoing {
    sender: mpsc::Sender<Event>,
    waiting: VecDeque<Event>,
}

impl Outgoing {
    pub(super) fn new(sender: mpsc::Sender<Event>) -> Self {
        Self { sender, waiting: VecDeque::new() }
    }

    pub(super) fn sender(&self) -> mpsc::Sender<Event> {
        self.sender.clone()
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= MOST_WAITING
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn push(&mut self, event: Event) {
        match (self.waiting.back_mut(), event) {
            (Some(Event::Stdout { text: before }), Event::Stdout { text })
            | (Some(Event::Stderr { text: before }), Event::Stderr { text }) => before.push_str(&text),
            (Some(_), event) => self.waiting.push_back(event),
            // Who has left needs nothing more.
            (None, event) => match self.sender.try_send(event) {
                Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => {}
                Err(mpsc::error::TrySendError::Full(event)) => self.waiting.push_back(event),
            },
        }
    }

    /// The reader has room, or is gone.
    pub(super) fn send_next(&mut self, room: Result<mpsc::Permit<'_, Event>, mpsc::error::SendError<()>>) {
        match room {
            Ok(room) => {
                if let Some(event) = self.waiting.pop_front() {
                    room.send(event);
                }
            }
            Err(_) => self.waiting.clear(),
        }
    }

    /// Whatever waits, in its order, and this as the last.
    pub(super) async fn finish(mut self, last: Event) {
        self.waiting.push_back(last);
        for event in self.waiting {
            if self.sender.send(event).await.is_err() {
                return;
            }
        }
    }
}
