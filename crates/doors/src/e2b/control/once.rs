//! A request to create that is sent twice under one `Idempotency-Key` makes one sandbox.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderMap;
use sandgate_core::Owner;
use sha2::{Digest, Sha256};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::super::error::{E2bError, E2bResult};

const HEADER: &str = "idempotency-key";
const LONGEST: usize = 255;

/// Those under way, so that the second waits for the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Once(Arc<Mutex<UnderWay>>);

/// By owner and key.
type UnderWay = HashMap<(Owner, String), Arc<AsyncMutex<()>>>;

/// Nobody else creates under this key meanwhile.
#[derive(Debug)]
pub(super) struct Turn {
    of: Once,
    key: (Owner, String),
    guard: Option<OwnedMutexGuard<()>>,
}

impl Once {
    pub(super) async fn turn(&self, owner: &Owner, key: &str) -> Turn {
        let key = (owner.clone(), key.to_owned());
        let lock = Arc::clone(self.lock().entry(key.clone()).or_default());
        let guard = Some(lock.lock_owned().await);
        Turn { of: self.clone(), key, guard }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, UnderWay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.guard.take();
        let mut all = self.of.lock();
        if all.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            all.remove(&self.key);
        }
    }
}

/// The key a request came with.
pub(super) fn key(headers: &HeaderMap) -> E2bResult<Option<String>> {
    let Some(value) = headers.get(HEADER) else { return Ok(None) };
    let plain = |text: &&str| {
        !text.is_empty() && text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_graphic())
    };
    match value.to_str().ok().filter(plain) {
        Some(key) => Ok(Some(key.to_owned())),
        None => Err(E2bError::bad_request(format!(
            "the header Idempotency-Key must be 1 to {LONGEST} letters, digits or '-'"
        ))),
    }
}

/// What tells two bodies apart.
pub(super) fn digest(body: &[u8]) -> String {
    Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect()
}
