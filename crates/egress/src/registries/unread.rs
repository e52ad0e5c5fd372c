//! Pages that were made for a reader and wait to be read, within a bound for each sandbox and one for the whole server.
//! Who does not read in time loses the page: its connection may wait, but nobody's memory with it.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::fetch::Refused;
use crate::http::BoxError;

/// Of all sandboxes together, and of one, in KiB.
const MOST: usize = 256 << 10;
pub(crate) const MOST_OF_ONE: usize = 32 << 10;
/// Who takes nothing for so long does not want it.
const PATIENCE: Duration = Duration::from_secs(120);
/// Who takes less than this in a second would hold others up for as long as it likes.
const SLOWEST: usize = 64 << 10;
/// For others to read theirs.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub(super) struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST)))
    }
}

/// What a page takes up, of its sandbox's share and of the whole.
#[derive(Debug)]
pub(super) struct Taken {
    _own: OwnedSemaphorePermit,
    _common: OwnedSemaphorePermit,
}

impl Room {
    /// For a page of about this size. Who has no share left waits for its own pages to be read, and is not in the way
    /// of anybody else.
    pub(super) async fn take(&self, share: &Arc<Semaphore>, bytes: usize) -> Result<Taken, Refused> {
        let busy = || {
            let why = "Too many pages of packages wait to be read. Try again in a moment.";
            (StatusCode::SERVICE_UNAVAILABLE, why.to_owned())
        };
        let kib = u32::try_from((bytes >> 10).clamp(1, MOST_OF_ONE)).map_err(|_| busy())?;
        let own = Arc::clone(share).acquire_many_owned(kib).await.map_err(|_| busy())?;
        let common = Arc::clone(&self.0).acquire_many_owned(kib);
        match tokio::time::timeout(LONGEST_WAIT, common).await {
            Ok(Ok(common)) => Ok(Taken { _own: own, _common: common }),
            Ok(Err(_)) | Err(_) => Err(busy()),
        }
    }
}

pub(super) struct Unread(Arc<Mutex<Option<Page>>>);

struct Page {
    rest: Bytes,
    touched: Instant,
    /// When all of it must have been read.
    until: Instant,
    _room: Option<Taken>,
}

impl Unread {
    pub(super) fn new(content: Bytes, room: Option<Taken>) -> Self {
        let touched = Instant::now();
        let until = touched + PATIENCE + Duration::from_secs((content.len() / SLOWEST) as u64);
        let page = Page { rest: content, touched, until, _room: room };
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
            None => Some(Err("it was not read for too long".into())),
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
        let is_over = |page: &Page| page.touched.elapsed() >= PATIENCE || Instant::now() >= page.until;
        if page.as_ref().is_none_or(is_over) {
            *page = None;
            return;
        }
    }
}

#[cfg(test)]
#[path = "unread_tests.rs"]
mod tests;
