//! Pages that were made for a reader and wait to be read, within a bound for the whole server. Who does not read in time
//! loses the page: its connection may wait, but nobody's memory with it.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::http::BoxError;

/// Of all sandboxes together, in KiB.
const MOST: usize = 256 << 10;
/// Who takes nothing for so long does not want it.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Clone, Debug)]
pub(super) struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST)))
    }
}

impl Room {
    /// For a page of about this size; waits until there is some.
    pub(super) async fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let kib = u32::try_from((bytes >> 10).clamp(1, MOST)).ok()?;
        Arc::clone(&self.0).acquire_many_owned(kib).await.ok()
    }
}

pub(super) struct Unread(Arc<Mutex<Option<Page>>>);

struct Page {
    rest: Bytes,
    touched: Instant,
    _room: Option<OwnedSemaphorePermit>,
}

impl Unread {
    pub(super) fn new(content: Bytes, room: Option<OwnedSemaphorePermit>) -> Self {
        let page = Page { rest: content, touched: Instant::now(), _room: room };
        let page = Arc::new(Mutex::new(Some(page)));
        tokio::spawn(forget(Arc::downgrade(&page)));
        Self(page)
    }

    /// Somebody asks for more.
    pub(super) fn touch(&self) {
        if let Some(page) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            page.touched = Instant::now();
        }
    }

    pub(super) fn next(&self, most: usize) -> Option<Result<Bytes, BoxError>> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Some(Err("nobody read it for too long".into())),
            Some(page) if page.rest.is_empty() => None,
            Some(page) => Some(Ok(page.rest.split_to(page.rest.len().min(most)))),
        }
    }
}

async fn forget(page: Weak<Mutex<Option<Page>>>) {
    loop {
        tokio::time::sleep(PATIENCE / 4).await;
        let Some(page) = page.upgrade() else { return };
        let mut page = page.lock().unwrap_or_else(PoisonError::into_inner);
        if page.as_ref().is_none_or(|page| page.touched.elapsed() >= PATIENCE) {
            *page = None;
            return;
        }
    }
}

#[cfg(test)]
#[path = "unread_tests.rs"]
mod tests;
