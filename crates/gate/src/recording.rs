//! The events of a background response: kept in memory while it runs, for those who listen, and in the
//! store, for those who come later.

use std::sync::{Mutex, PoisonError};

use sandgate_core::Owner;
use sandgate_store::Store;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::emitter::StreamEvent;
use crate::error::Result;

#[derive(Debug)]
pub(crate) struct Recording {
    response: String,
    pub(crate) owner: Owner,
    store: Store,
    events: Mutex<Vec<StreamEvent>>,
    /// How many events there are, and whether there will be more.
    length: watch::Sender<(usize, bool)>,
    pub(crate) cancel: CancellationToken,
}

impl Recording {
    pub(crate) fn new(response: String, owner: Owner, store: Store, cancel: CancellationToken) -> Self {
        Self {
            response,
            owner,
            store,
            events: Mutex::new(Vec::new()),
            length: watch::Sender::new((0, false)),
            cancel,
        }
    }

    pub(crate) async fn add(&self, event: StreamEvent) -> Result<()> {
        self.store.append_events(&self.response, &[(event.sequence, event.data.clone())]).await?;
        let length = {
            let mut events = self.lock();
            events.push(event);
            events.len()
        };
        self.length.send_modify(|(count, _)| *count = length);
        Ok(())
    }

    /// No event follows.
    pub(crate) fn close(&self) {
        self.length.send_modify(|(_, over)| *over = true);
    }

    pub(crate) fn listen(&self) -> watch::Receiver<(usize, bool)> {
        self.length.subscribe()
    }

    /// The event at this place in the order of the stream.
    pub(crate) fn get(&self, index: usize) -> Option<StreamEvent> {
        self.lock().get(index).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<StreamEvent>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
