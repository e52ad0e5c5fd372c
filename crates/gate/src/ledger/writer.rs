//! Records on their way to the store: gathered for a moment and written together, in their order, so that
//! nobody waits for a disk but who has to.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sandgate_store::{LedgerRecord, Store, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

/// How long a record that nobody waits for may wait for others.
const GATHER: Duration = Duration::from_millis(50);
const MOST_AT_ONCE: usize = 500;
/// Records that may wait. A disk that stands still must not take all memory.
const MOST_WAITING: usize = 100_000;
/// Records that are kept to be tried again after the disk refused them.
const MOST_KEPT: usize = 10_000;
/// Between two tries, growing from the first to the last.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(30)];

#[derive(Debug)]
pub(super) struct Writer {
    jobs: mpsc::UnboundedSender<Job>,
    waiting: Arc<AtomicUsize>,
}

#[derive(Debug)]
enum Job {
    Write(Box<LedgerRecord>),
    /// The record is on disk before this is answered, and so is everything before it.
    WriteNow(Box<LedgerRecord>, oneshot::Sender<Result<(), StoreError>>),
    Flush(oneshot::Sender<()>),
}

impl Writer {
    pub(super) fn start(store: Store) -> Self {
        let (jobs, receiver) = mpsc::unbounded_channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        tokio::spawn(write_all(store, receiver, Arc::clone(&waiting)));
        Self { jobs, waiting }
    }

    /// Written soon.
    pub(super) fn write(&self, record: LedgerRecord) {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            tracing::error!(id = record.id, kind = record.kind, "the ledger is far behind; a record is lost");
            return;
        }
        // It fails when the runtime has ended, and then the next start says what was under way.
        let _ = self.jobs.send(Job::Write(Box::new(record)));
    }

    /// Written before this returns.
    pub(super) async fn write_now(&self, record: LedgerRecord) -> Result<(), StoreError> {
        let (sender, receiver) = oneshot::channel();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.jobs.send(Job::WriteNow(Box::new(record), sender)).map_err(|_| StoreError::Closed)?;
        receiver.await.map_err(|_| StoreError::Closed)?
    }

    pub(super) async fn flush(&self) {
        let (sender, receiver) = oneshot::channel();
        if self.jobs.send(Job::Flush(sender)).is_ok() {
            let _ = receiver.await;
        }
    }
}

/// What goes into one transaction.
#[derive(Default)]
struct Batch {
    records: Vec<LedgerRecord>,
    places: HashMap<String, usize>,
    /// How many records came, those that took the place of another too.
    count: usize,
    told: Vec<oneshot::Sender<Result<(), StoreError>>>,
    flushed: Vec<oneshot::Sender<()>>,
}

impl Batch {
    fn add(&mut self, job: Job) {
        match job {
            Job::Write(record) => self.put(*record),
            Job::WriteNow(record, sender) => {
                self.put(*record);
                self.told.push(sender);
            }
            Job::Flush(sender) => self.flushed.push(sender),
        }
    }

    /// What began and ended within one batch is written once.
    fn put(&mut self, record: LedgerRecord) {
        self.count += 1;
        match self.places.get(&record.id) {
            Some(place) => self.records[*place] = record,
            None => {
                self.places.insert(record.id.clone(), self.records.len());
                self.records.push(record);
            }
        }
    }

    fn is_awaited(&self) -> bool {
        !self.told.is_empty() || !self.flushed.is_empty()
    }
}

/// Why is in the log already.
fn unwritten() -> StoreError {
    StoreError::Io(std::io::Error::other("a record could not be written to the ledger"))
}

async fn write_all(store: Store, mut jobs: mpsc::UnboundedReceiver<Job>, waiting: Arc<AtomicUsize>) {
    let mut kept = Kept::default();
    loop {
        let first = match kept.next_try() {
            None => jobs.recv().await,
            Some(due) => match timeout_at(due, jobs.recv()).await {
                Ok(first) => first,
                Err(_) => {
                    kept.put_back(&store, Batch::default()).await;
                    continue;
                }
            },
        };
        let Some(first) = first else { break };
        let mut batch = Batch::default();
        batch.add(first);
        let until = Instant::now() + GATHER;
        while batch.count < MOST_AT_ONCE {
            let next = if batch.is_awaited() {
                jobs.try_recv().ok()
            } else {
                timeout_at(until, jobs.recv()).await.ok().flatten()
            };
            match next {
                Some(job) => batch.add(job),
                None => break,
            }
        }
        let count = batch.count;
        let (told, flushed) = (std::mem::take(&mut batch.told), std::mem::take(&mut batch.flushed));
        let is_awaited = !told.is_empty() || !flushed.is_empty();
        let is_written = if kept.next_try().is_some_and(|due| due > Instant::now()) && !is_awaited {
            kept.keep(batch);
            false
        } else {
            kept.put_back(&store, batch).await
        };
        waiting.fetch_sub(count, Ordering::Relaxed);
        for sender in told {
            let _ = sender.send(if is_written { Ok(()) } else { Err(unwritten()) });
        }
        for sender in flushed {
            let _ = sender.send(());
        }
    }
    if kept.next_try().is_some() {
        kept.put_back(&store, Batch::default()).await;
    }
}

/// What the disk refused, until it takes it.
#[derive(Default)]
struct Kept {
    batch: Batch,
    due: Option<Instant>,
    pause: Duration,
}

impl Kept {
    /// None: nothing is kept.
    fn next_try(&self) -> Option<Instant> {
        self.due
    }

    fn keep(&mut self, new: Batch) {
        for record in new.records {
            if self.batch.records.len() >= MOST_KEPT && !self.batch.places.contains_key(&record.id) {
                tracing::error!(
                    id = record.id,
                    kind = record.kind,
                    "the ledger cannot be written; a record is lost"
                );
            } else {
                self.batch.put(record);
            }
        }
    }

    /// Writes all that is kept, and what is new. Whether it is on disk.
    async fn put_back(&mut self, store: &Store, new: Batch) -> bool {
        let records = if self.batch.records.is_empty() {
            new.records
        } else {
            self.keep(new);
            self.batch.records.clone()
        };
        if records.is_empty() {
            return true;
        }
        let copy = if self.batch.records.is_empty() { records.clone() } else { Vec::new() };
        match store.put_ledger(records).await {
            Ok(()) => {
                *self = Self::default();
                true
            }
            Err(error) => {
                copy.into_iter().for_each(|record| self.batch.put(record));
                let kept = self.batch.records.len();
                tracing::error!(%error, kept, "records could not be written to the ledger; they are tried again");
                self.pause = (self.pause * 2).clamp(PAUSES[0], PAUSES[1]);
                self.due = Some(Instant::now() + self.pause);
                false
            }
        }
    }
}
