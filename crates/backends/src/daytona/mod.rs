//! Daytona's protocol, as a client: the control API for sandboxes, the toolbox inside each.

mod control;
mod files;
mod interpreter;
mod place;
mod shell;
mod stateless;
mod toolbox;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use self::control::Control;
use self::place::DaytonaPlace;
use crate::cleanup::{attach_within, create_within};
use crate::{
    Capabilities, DaytonaSettings, Found, Interpreter, NetworkControl, Place, PlaceId, PlaceState, Provider,
    ProviderError, ProviderResult, Wish,
};

/// One account at Daytona.
#[derive(Clone, Debug)]
pub struct Daytona(Arc<Control>);

impl Daytona {
    pub fn new(settings: DaytonaSettings) -> ProviderResult<Self> {
        Ok(Self(Arc::new(Control::new(settings)?)))
    }

    /// `sized`: sandboxes are made from an image; those from a snapshot have its sizes.
    #[must_use]
    pub fn capabilities(sized: bool) -> Capabilities {
        Capabilities {
            interpreter: Interpreter::Plain,
            last_value: false,
            strips_quotes: false,
            display: false,
            structured_errors: true,
            languages: &["python", "javascript", "typescript"],
            stateless: &["javascript", "typescript"],
            first_context: false,
            contexts: true,
            run_env: true,
            interrupt: false,
            interrupt_by_hanging_up: false,
            run_timeout: true,
            pause: false,
            pause_stops_clock: false,
            extend: true,
            metadata: true,
            memory_limit: sized,
            cpu_limit: sized,
            disk_limit: sized,
            network: NetworkControl::Rules,
            processes: false,
            inside: false,
            longest_life: None,
            shortest_life: Duration::from_secs(60),
        }
    }
}

#[async_trait]
impl Provider for Daytona {
    fn kind(&self) -> &'static str {
        "daytona"
    }

    fn capabilities(&self) -> Capabilities {
        Self::capabilities(self.0.settings.image.is_some())
    }

    fn longest_create(&self) -> Duration {
        self.0.settings.deadlines.create
    }

    async fn create(&self, wish: &Wish) -> ProviderResult<Arc<dyn Place>> {
        let (control, wish) = (Arc::clone(&self.0), wish.clone());
        create_within(self.0.settings.deadlines.create, self.clone(), |mut cleanup| async move {
            let sandbox = control.create(&wish).await?;
            cleanup.arm(sandbox.id()?);
            let sandbox = control.started(sandbox).await?;
            let place = DaytonaPlace::new(control, &sandbox).await?;
            Ok((Arc::new(place) as Arc<dyn Place>, cleanup))
        })
        .await
    }

    async fn attach(&self, id: &PlaceId, life: Duration) -> ProviderResult<Arc<dyn Place>> {
        let attaching = async {
            let sandbox = self.0.get(id).await?;
            let sandbox = match sandbox.state() {
                None => return Err(ProviderError::Lost),
                // Files are there, whatever ran is not.
                Some(PlaceState::Paused) => self.0.start(id).await?,
                Some(_) => sandbox,
            };
            let sandbox = self.0.started(sandbox).await?;
            let place = DaytonaPlace::new(Arc::clone(&self.0), &sandbox).await?;
            place.extend(life).await?;
            Ok(Arc::new(place) as Arc<dyn Place>)
        };
        attach_within(self.0.settings.deadlines.create, self, id, attaching).await
    }

    async fn state(&self, id: &PlaceId) -> ProviderResult<PlaceState> {
        self.0.get(id).await?.state().ok_or(ProviderError::Lost)
    }

    async fn delete(&self, id: &PlaceId) -> ProviderResult<()> {
        self.0.delete(id).await
    }

    async fn find(&self, metadata: &BTreeMap<String, String>) -> ProviderResult<Vec<Found>> {
        self.0.find(metadata).await
    }
}

#[cfg(test)]
#[path = "daytona_tests.rs"]
mod tests;
