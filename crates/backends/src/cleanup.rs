//! What was made at a provider and nobody got: deleted, whichever way it came about.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use tokio::runtime::Handle;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Does its work in the background when it is dropped, unless it was told that all is well.
pub(crate) struct Cleanup(Option<Work>);

impl Cleanup {
    pub(crate) fn new(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(Some(Box::pin(work)))
    }

    pub(crate) fn not_needed(mut self) {
        self.0 = None;
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        // Without a runtime the program is at its end; what is left over is found by its metadata.
        if let (Some(work), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

impl fmt::Debug for Cleanup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cleanup")
    }
}

/// Makes something in a task of its own, so that who hangs up in the middle leaves nothing half made: what
/// comes of it then goes with its [`Cleanup`].
pub(crate) async fn made<T, E>(
    making: impl Future<Output = Result<(T, Cleanup), E>> + Send + 'static,
) -> Option<Result<T, E>>
where
    T: Send + 'static,
    E: Send + 'static,
{
    let (sender, receiver) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        // When nobody waits, the answer is dropped here, and with it the cleanup.
        let _ = sender.send(making.await);
    });
    match receiver.await.ok()? {
        Ok((made, cleanup)) => {
            cleanup.not_needed();
            Some(Ok(made))
        }
        Err(error) => Some(Err(error)),
    }
}
