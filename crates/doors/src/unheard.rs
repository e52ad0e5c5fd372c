//! A container that was just made and whose id nobody outside has heard yet. If the client hangs up,
//! or the code never starts, before the answer is out, the container goes too.

use std::sync::Arc;

use sandgate_core::{Container, Containers};
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

#[derive(Debug)]
pub(crate) struct Unheard {
    container: Option<Arc<Container>>,
    containers: Arc<Containers>,
    tasks: TaskTracker,
}

impl Unheard {
    pub(crate) fn new(container: Arc<Container>, containers: Arc<Containers>, tasks: TaskTracker) -> Self {
        Self { container: Some(container), containers, tasks }
    }

    /// The client has its id now: it stays.
    pub(crate) fn heard(mut self) {
        self.container = None;
    }
}

impl Drop for Unheard {
    fn drop(&mut self) {
        let Some(container) = self.container.take() else { return };
        // Without a runtime the whole server is ending; the container is found again on the next start.
        let Ok(runtime) = Handle::try_current() else { return };
        let containers = Arc::clone(&self.containers);
        let discard = async move {
            if let Err(error) = containers.delete(container.owner(), container.id()).await {
                tracing::warn!(container = %container.id(), %error, "a container nobody uses could not be removed");
            }
        };
        self.tasks.spawn_on(discard, &runtime);
    }
}
