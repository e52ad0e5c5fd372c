//! The end of one of the provider's sandboxes: it was lost, is given up, or is not needed any more.

use std::sync::Arc;

use super::sandbox::{At, Inner};
use crate::{Place, PlaceId};

impl Inner {
    /// The provider does not have it any more; or so it was said, perhaps by code that answers in its name. So it is
    /// deleted all the same, and whoever made it say that has not one sandbox more for it. Nobody waits for that.
    pub(super) async fn lose(&self, generation: u64) {
        let Some(place) = self.let_go(generation).await else { return };
        tracing::warn!(sandbox = %self.id, backend = self.shared.name(), "the provider lost a sandbox");
        let (shared, id) = (Arc::clone(&self.shared), self.id.clone());
        tokio::spawn(async move {
            if let Err(error) = shared.ask(shared.provider.delete(place.id())).await {
                tracing::debug!(sandbox = %id, %error, "a lost sandbox could not be deleted");
            }
        });
    }

    async fn let_go(&self, generation: u64) -> Option<Arc<dyn Place>> {
        let mut current = self.current.lock().await;
        let place = if current.generation == generation { current.place.take() } else { None };
        if place.is_some() {
            self.shared.note(&self.id, |known| known.place = None);
        }
        place
    }

    /// It is not used again, and goes.
    pub(super) async fn abandon(&self, at: &At) {
        self.let_go(at.generation).await;
        self.delete(at.place.id()).await;
    }

    /// What cannot be deleted now carries our name, and a later round of the reaper takes it.
    pub(super) async fn delete(&self, place: &PlaceId) {
        if let Err(error) = self.shared.ask(self.shared.provider.delete(place)).await {
            tracing::warn!(sandbox = %self.id, %error, "a remote sandbox could not be deleted");
        }
    }

    /// It is nowhere from now on.
    pub(super) async fn record_end(&self) {
        if let Err(error) = self.save_record(None).await {
            tracing::warn!(sandbox = %self.id, %error, "the end of a remote sandbox could not be recorded");
        }
    }
}
