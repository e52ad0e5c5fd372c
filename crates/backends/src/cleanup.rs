//! What was made at a provider and nobody got: deleted, whichever way it came about.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::{Place, PlaceId, PlaceState, Provider, ProviderError, ProviderResult};

/// Deletes a sandbox in the background when it is dropped.
#[derive(Debug)]
pub(crate) struct Cleanup<P: Provider + 'static> {
    provider: Option<Arc<P>>,
    id: Option<PlaceId>,
}

impl<P: Provider + 'static> Cleanup<P> {
    fn new(provider: P) -> Self {
        Self { provider: Some(Arc::new(provider)), id: None }
    }

    /// From here on there is something to delete.
    pub(crate) fn arm(&mut self, id: PlaceId) {
        self.id = Some(id);
    }
}

impl<P: Provider + 'static> Drop for Cleanup<P> {
    fn drop(&mut self) {
        let (Some(provider), Some(id)) = (self.provider.take(), self.id.take()) else { return };
        // Without a runtime the program is at its end; what is left over is found by its metadata.
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Err(error) = provider.delete(&id).await {
                tracing::warn!(%error, sandbox = %id, "a sandbox that nobody got is still there");
            }
        });
    }
}

/// Makes a sandbox. Who hangs up in the middle, or waited for too long, drops the making where it stands and with it
/// the cleanup, and leaves nothing half made.
pub(crate) async fn create_within<P, F>(
    deadline: Duration,
    provider: P,
    making: impl FnOnce(Cleanup<P>) -> F,
) -> ProviderResult<Arc<dyn Place>>
where
    P: Provider + 'static,
    F: Future<Output = ProviderResult<(Arc<dyn Place>, Cleanup<P>)>>,
{
    let late = |_| ProviderError::TimedOut { what: "a sandbox was not ready".to_owned(), after: deadline };
    let making = making(Cleanup::new(provider));
    let (place, mut cleanup) = tokio::time::timeout(deadline, making).await.map_err(late)??;
    cleanup.id = None;
    Ok(place)
}

/// Finds a sandbox again, within the time that a new one would have. One that has failed is of no use: it goes.
pub(crate) async fn attach_within<P: Provider>(
    deadline: Duration,
    provider: &P,
    id: &PlaceId,
    attaching: impl Future<Output = ProviderResult<Arc<dyn Place>>>,
) -> ProviderResult<Arc<dyn Place>> {
    let late = |_| ProviderError::TimedOut { what: "a sandbox was not ready".to_owned(), after: deadline };
    if provider.state(id).await? == PlaceState::Broken {
        provider.delete(id).await?;
        return Err(ProviderError::Lost);
    }
    tokio::time::timeout(deadline, attaching).await.map_err(late)?
}
