//! OpenSandbox's protocol, as a client: the lifecycle of sandboxes at its server, and execd inside each.

mod code;
mod endpoint;
mod files;
mod lifecycle;
mod place;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use self::lifecycle::Lifecycle;
use self::place::OpenSandboxPlace;
use crate::cleanup::{attach_within, create_within};
use crate::{
    Capabilities, Found, Interpreter, NetworkControl, OpenSandboxSettings, Place, PlaceId, PlaceState,
    Provider, ProviderResult, Wish,
};

/// One account at a server of OpenSandbox's.
#[derive(Clone, Debug)]
pub struct OpenSandbox(Arc<Lifecycle>);

impl OpenSandbox {
    pub fn new(settings: OpenSandboxSettings) -> ProviderResult<Self> {
        Ok(Self(Arc::new(Lifecycle::new(settings)?)))
    }

    #[must_use]
    pub fn capabilities() -> Capabilities {
        Capabilities {
            interpreter: Interpreter::IPython,
            last_value: true,
            strips_quotes: false,
            display: false,
            structured_errors: true,
            languages: &["python", "java", "go", "typescript", "javascript", "bash"],
            stateless: &[],
            first_context: true,
            contexts: true,
            run_env: false,
            interrupt: true,
            interrupt_by_hanging_up: false,
            run_timeout: false,
            pause: true,
            pause_stops_clock: false,
            extend: true,
            metadata: true,
            memory_limit: true,
            cpu_limit: true,
            disk_limit: false,
            network: NetworkControl::Rules,
            processes: false,
            inside: false,
            longest_life: None,
            shortest_life: Duration::from_secs(60),
        }
    }
}

#[async_trait]
impl Provider for OpenSandbox {
    fn kind(&self) -> &'static str {
        "opensandbox"
    }

    fn capabilities(&self) -> Capabilities {
        Self::capabilities()
    }

    fn longest_create(&self) -> Duration {
        self.0.settings.deadlines.create
    }

    async fn create(&self, wish: &Wish) -> ProviderResult<Arc<dyn Place>> {
        let (control, wish) = (Arc::clone(&self.0), wish.clone());
        create_within(self.0.settings.deadlines.create, self.clone(), |mut cleanup| async move {
            let (id, state) = control.create(&wish).await?;
            cleanup.arm(id.clone());
            let place = OpenSandboxPlace::new(control, id);
            place.find_way_in(state).await?;
            Ok((Arc::new(place) as Arc<dyn Place>, cleanup))
        })
        .await
    }

    async fn attach(&self, id: &PlaceId, life: Duration) -> ProviderResult<Arc<dyn Place>> {
        let attaching = async {
            let state = self.0.state(id).await?;
            let place = OpenSandboxPlace::new(Arc::clone(&self.0), id.clone());
            if state == PlaceState::Paused {
                place.resume().await?;
            } else {
                place.find_way_in(state).await?;
                place.until_it_answers().await?;
            }
            place.extend(life).await?;
            Ok(Arc::new(place) as Arc<dyn Place>)
        };
        attach_within(self.0.settings.deadlines.create, self, id, attaching).await
    }

    async fn state(&self, id: &PlaceId) -> ProviderResult<PlaceState> {
        self.0.state(id).await
    }

    async fn delete(&self, id: &PlaceId) -> ProviderResult<()> {
        self.0.delete(id).await
    }

    async fn find(&self, metadata: &BTreeMap<String, String>) -> ProviderResult<Vec<Found>> {
        self.0.find(metadata).await
    }
}

#[cfg(test)]
#[path = "opensandbox_tests.rs"]
mod tests;
