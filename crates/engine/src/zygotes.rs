//! Which zygote forks next: a new one now and then, because all children of one share its address layout, and
//! a new one at once when it died.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sandgate_core::{BackendError, Result};
use tokio::sync::Mutex;

use crate::StartError;
use crate::helper::Helper;
use crate::shared::{Shared, blocking};
use crate::zygote::{Preload, Zygote};

/// After so many forks, or so long, the next one takes over.
const MAX_FORKS: u64 = 10_000;
const MAX_AGE: Duration = Duration::from_secs(3600);

#[derive(Debug)]
pub(crate) struct Zygotes {
    preload: Preload,
    current: Mutex<Turn>,
    successor_on_its_way: AtomicBool,
    /// A small one that programs are started from: to copy a large one's memory only to give it up again takes
    /// longer than all the rest of a start.
    bare: Mutex<Option<Arc<Zygote>>>,
    bare_on_its_way: AtomicBool,
}

#[derive(Debug)]
struct Turn {
    zygote: Arc<Zygote>,
    forks: u64,
    since: Instant,
}

impl Turn {
    fn new(zygote: Zygote) -> Self {
        Self { zygote: Arc::new(zygote), forks: 0, since: Instant::now() }
    }
}

impl Zygotes {
    /// Starts the first one. Blocks.
    pub(crate) fn start(helper: &Helper, preload: Preload) -> std::result::Result<Self, StartError> {
        let first = Turn::new(Zygote::start(helper, preload)?);
        Ok(Self {
            preload,
            current: Mutex::new(first),
            successor_on_its_way: AtomicBool::new(false),
            bare: Mutex::default(),
            bare_on_its_way: AtomicBool::new(false),
        })
    }

    /// The one to start a program from: the small one, once it is there. The first to ask sets it on its way and does
    /// not wait for it.
    pub(crate) async fn for_programs(&self, shared: &Arc<Shared>) -> Result<Arc<Zygote>> {
        if let Some(bare) = &*self.bare.lock().await
            && !bare.is_gone()
        {
            return Ok(Arc::clone(bare));
        }
        self.expect_programs(shared);
        self.current(shared).await
    }

    /// Sets the small one on its way.
    pub(crate) fn expect_programs(&self, shared: &Arc<Shared>) {
        if !shared.tasks.is_closed() && !self.bare_on_its_way.swap(true, Ordering::AcqRel) {
            let shared = Arc::clone(shared);
            shared.tasks.clone().spawn(async move { shared.zygotes.start_bare(&shared).await });
        }
    }

    async fn start_bare(&self, shared: &Arc<Shared>) {
        match start(shared, Preload::Bare).await {
            Ok(bare) => *self.bare.lock().await = Some(Arc::new(bare)),
            Err(error) => tracing::warn!(%error, "the process to start programs from could not start"),
        }
        self.bare_on_its_way.store(false, Ordering::Release);
    }

    /// The one to fork from now.
    pub(crate) async fn current(&self, shared: &Arc<Shared>) -> Result<Arc<Zygote>> {
        let mut turn = self.current.lock().await;
        if turn.zygote.is_gone() {
            if shared.tasks.is_closed() {
                return Err(BackendError::ShuttingDown);
            }
            tracing::warn!("the process that sandboxes are forked from died; starting another");
            *turn = Turn::new(self.start_next(shared).await?);
        }
        turn.forks += 1;
        let due = turn.forks > MAX_FORKS || turn.since.elapsed() > MAX_AGE;
        if due && !self.successor_on_its_way.swap(true, Ordering::AcqRel) {
            let shared = Arc::clone(shared);
            shared.tasks.clone().spawn(async move { shared.zygotes.succeed(&shared).await });
        }
        Ok(Arc::clone(&turn.zygote))
    }

    /// Imports everything aside, then takes over; the old one ends with the last of its kernels.
    async fn succeed(&self, shared: &Arc<Shared>) {
        match self.start_next(shared).await {
            Ok(next) => *self.current.lock().await = Turn::new(next),
            Err(error) => tracing::warn!(%error, "the next process to fork sandboxes from could not start"),
        }
        self.successor_on_its_way.store(false, Ordering::Release);
    }

    async fn start_next(&self, shared: &Arc<Shared>) -> Result<Zygote> {
        start(shared, self.preload).await
    }
}

async fn start(shared: &Arc<Shared>, preload: Preload) -> Result<Zygote> {
    let shared = Arc::clone(shared);
    let started = blocking(move || Zygote::start(&shared.helper, preload)).await?;
    started.map_err(|error| BackendError::Engine(error.to_string()))
}
