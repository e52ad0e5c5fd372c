//! The one thread that owns the connection. SQLite blocks, so no task of the runtime may touch it; and
//! with one writer there is nothing to wait for inside the database.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::{Result, StoreError};

pub(crate) type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// Jobs that may wait before callers do.
const QUEUE: usize = 256;

/// It ends when every sender is gone and the queue is empty.
pub(crate) fn start(mut connection: Connection) -> io::Result<mpsc::Sender<Job>> {
    let (jobs, mut queue) = mpsc::channel::<Job>(QUEUE);
    let thread = std::thread::Builder::new().name("sandgate-store".to_owned());
    thread.spawn(move || {
        while let Some(job) = queue.blocking_recv() {
            job(&mut connection);
        }
    })?;
    Ok(jobs)
}

/// A panic becomes an error for the one who asked. Unwinding drops the transaction, which takes it
/// back, so the connection is as good as before.
pub(crate) fn job<T: Send + 'static>(
    work: impl FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    answer: oneshot::Sender<Result<T>>,
) -> Job {
    Box::new(move |connection| {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(connection)));
        // Nobody waiting any more is no reason not to have done it.
        let _ = answer.send(outcome.unwrap_or(Err(StoreError::Panicked)));
    })
}

#[cfg(test)]
#[path = "thread_tests.rs"]
mod tests;
