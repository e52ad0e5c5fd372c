//! E2B's protocol, as a client: its cloud, a server of one's own, or whatever speaks as it does.

mod addresses;
mod code;
mod control;
mod envd;
mod place;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use self::control::Control;
use self::place::E2bPlace;
use crate::cleanup::create_within;
use crate::{
    Capabilities, E2bSettings, Found, Interpreter, NetworkControl, Place, PlaceId, PlaceState, Provider,
    ProviderResult, Wish,
};

/// One account at E2B.
#[derive(Clone, Debug)]
pub struct E2b(Arc<Control>);

impl E2b {
    pub fn new(settings: E2bSettings) -> ProviderResult<Self> {
        Ok(Self(Arc::new(Control::new(settings)?)))
    }

    #[must_use]
    pub fn capabilities() -> Capabilities {
        Capabilities {
            interpreter: Interpreter::IPython,
            last_value: true,
            strips_quotes: true,
            display: true,
            structured_errors: true,
            languages: &["python", "javascript", "typescript", "r", "java", "bash"],
            stateless: &[],
            first_context: true,
            contexts: true,
            run_env: true,
            interrupt: true,
            interrupt_by_hanging_up: true,
            run_timeout: false,
            pause: true,
            pause_stops_clock: true,
            extend: true,
            metadata: true,
            memory_limit: false,
            cpu_limit: false,
            disk_limit: false,
            network: NetworkControl::Rules,
            processes: true,
            inside: false,
            longest_life: None,
            shortest_life: Duration::from_secs(1),
        }
    }
}

#[async_trait]
impl Provider for E2b {
    fn kind(&self) -> &'static str {
        "e2b"
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
            let sandbox = control.create(&wish).await?;
            let id = sandbox.id()?;
            cleanup.arm(id.clone());
            let place = E2bPlace::new(control, id, &sandbox, wish.life)?;
            Ok((Arc::new(place) as Arc<dyn Place>, cleanup))
        })
        .await
    }

    async fn attach(&self, id: &PlaceId, life: Duration) -> ProviderResult<Arc<dyn Place>> {
        let sandbox = self.0.connect(id, life).await?;
        Ok(Arc::new(E2bPlace::new(Arc::clone(&self.0), id.clone(), &sandbox, life)?))
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
#[path = "e2b_tests.rs"]
mod tests;
