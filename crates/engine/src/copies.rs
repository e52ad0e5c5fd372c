//! A new sandbox over a copy of the files of another. That one stands still meanwhile, so that what is copied was
//! there at one moment.

use std::sync::Arc;

use sandgate_core::{BackendError, Limits, Result, SandboxId};
use tokio::sync::oneshot;

use crate::files::copy::{Bounds, CopyError};
use crate::shared::{Shared, blocking};
use crate::volume::Volume;

/// In a task of its own: whoever asked may leave, and then neither a frozen sandbox nor a copy may stay.
pub(crate) async fn copy(shared: &Arc<Shared>, from: Volume, limits: Limits) -> Result<SandboxId> {
    let (sender, receiver) = oneshot::channel();
    let work = Arc::clone(shared);
    shared.tasks.spawn(async move {
        let made = make_copy(&work, from, limits).await;
        if let Err(Ok(unwanted)) = sender.send(made) {
            remove(work, unwanted).await;
        }
    });
    let made = receiver.await.map_err(|_| BackendError::Engine("a copy was abandoned".to_owned()))??;
    let claimed = shared.volumes.claim(&made);
    if let Err(error) = claimed {
        remove(Arc::clone(shared), made).await;
        return Err(BackendError::Engine(error.to_string()));
    }
    Ok(made.id)
}

async fn make_copy(shared: &Arc<Shared>, from: Volume, limits: Limits) -> Result<Volume> {
    let live = shared.live(&from.id).ok();
    let is_held = match &live {
        Some(sandbox) => sandbox.hold_still().await?,
        None => false,
    };
    let work = Arc::clone(shared);
    let copied = blocking(move || {
        let is_stopped = || work.tasks.is_closed();
        let bounds =
            Bounds { bytes: limits.disk_bytes, entries: limits.disk_entries, is_stopped: &is_stopped };
        work.volumes.copy(&from, bounds)
    })
    .await;
    if is_held && let Some(sandbox) = live {
        sandbox.let_go().await;
    }
    copied?.map_err(|error| match error {
        CopyError::TooLarge(_) | CopyError::TooMany(_) | CopyError::DiskIsShort => {
            BackendError::NoSpace(error.to_string())
        }
        CopyError::Changing => BackendError::Invalid(error.to_string()),
        CopyError::Stopped => BackendError::ShuttingDown,
        CopyError::System(_) => BackendError::Engine(error.to_string()),
    })
}

async fn remove(shared: Arc<Shared>, volume: Volume) {
    let removed = blocking(move || shared.volumes.remove(&volume)).await;
    if !matches!(removed, Ok(Ok(()))) {
        tracing::warn!("the files of a copy that nobody wants are left until the next start");
    }
}
