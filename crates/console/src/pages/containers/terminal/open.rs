//! Terminals that are open on this server. A shell outlives its page for a while, so that a page that is loaded
//! again, or come back to, finds it as it was.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::extract::ws::WebSocket;
use sandgate_core::{ContainerId, random_hex};
use subtle::ConstantTimeEq;
use tokio::sync::{Semaphore, mpsc};

use crate::problem::Problem;
use crate::visitor::Visitor;

/// On this server at one time. Past that, one that nobody looks at makes room.
const MOST: usize = 16;

type All = Arc<Mutex<HashMap<String, Open>>>;

/// Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Terminals {
    all: All,
    /// Their emulation has one thread, for which they take turns.
    turns: Arc<Semaphore>,
}

impl Default for Terminals {
    fn default() -> Self {
        Self { all: All::default(), turns: Arc::new(Semaphore::new(1)) }
    }
}

#[derive(Debug)]
struct Open {
    container: ContainerId,
    /// The session that opened it; nobody else joins it.
    csrf: String,
    pages: mpsc::Sender<WebSocket>,
    /// Since when no page is connected. None: one is.
    alone_since: Option<Instant>,
}

/// A terminal's place among the others, while it lives.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) id: String,
    /// Pages that join it. None: it is to end.
    pub(super) pages: mpsc::Receiver<WebSocket>,
    all: Terminals,
}

impl Terminals {
    pub(super) fn begin(&self, container: &ContainerId, visitor: &Visitor) -> Result<Place, Problem> {
        let (sender, pages) = mpsc::channel(1);
        let id = random_hex(16);
        let open = Open {
            container: container.clone(),
            csrf: visitor.csrf.0.clone(),
            pages: sender,
            alone_since: None,
        };
        let mut all = self.lock();
        if all.len() >= MOST {
            let alone = all.iter().filter_map(|(id, open)| Some((open.alone_since?, id.clone())));
            let (_, oldest) = alone
                .min()
                .ok_or_else(|| Problem::Conflict(format!("There are {MOST} terminals open already.")))?;
            all.remove(&oldest);
        }
        all.insert(id.clone(), open);
        Ok(Place { id, pages, all: self.clone() })
    }

    /// The way into one that the same session has opened in this container.
    pub(super) fn find(
        &self,
        id: &str,
        container: &ContainerId,
        visitor: &Visitor,
    ) -> Option<mpsc::Sender<WebSocket>> {
        let all = self.lock();
        let open = all.get(id).filter(|open| open.container == *container)?;
        let is_theirs = bool::from(open.csrf.as_bytes().ct_eq(visitor.csrf.0.as_bytes()));
        is_theirs.then(|| open.pages.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    pub(super) fn turns(&self) -> Arc<Semaphore> {
        Arc::clone(&self.all.turns)
    }

    pub(super) fn set_alone(&self, is_alone: bool) {
        if let Some(open) = self.all.lock().get_mut(&self.id) {
            open.alone_since = is_alone.then(Instant::now);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.all.lock().remove(&self.id);
    }
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;
