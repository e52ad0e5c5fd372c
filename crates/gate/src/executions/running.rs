//! Code under way: its events pass through here on their way to whoever asked.

use std::sync::Arc;
use std::time::Duration;

use sandgate_core::{Container, Ending, Event, Execution, ExecutionHandle, Outcome, OutcomeBuilder, Share};
use tokio::time::sleep;

use crate::ledger::{Call, ExecutionEntry};
use crate::metrics::ExecutionWatch;

/// How often, and with which pauses, a backend is looked at whose interpreter was killed.
const LOOKS: u32 = 10;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Dropping it interrupts the code: nobody is left to read the answer.
#[derive(Debug)]
pub struct Running {
    execution: Execution,
    /// It counts as under way until its last event; then somebody else may have its place.
    share: Option<Share>,
    watch: Option<ExecutionWatch>,
    entry: Option<ExecutionEntry>,
    call: Call,
    container: Arc<Container>,
}

impl Running {
    pub(super) fn new(
        execution: Execution,
        share: Share,
        watch: ExecutionWatch,
        entry: ExecutionEntry,
        container: Arc<Container>,
    ) -> Self {
        let call = entry.call().clone();
        Self { execution, share: Some(share), watch: Some(watch), entry: Some(entry), call, container }
    }

    /// The record of the request that asked for it.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// None after [`Event::Done`], and when the backend broke off without one.
    pub async fn next(&mut self) -> Option<Event> {
        let event = self.execution.events.recv().await;
        if event.as_ref().is_some_and(is_killed) {
            self.wait_for_news_of_the_backend().await;
        }
        self.passes(event)
    }

    /// What is at hand, without waiting; None: nothing is, or it broke off, which [`Self::next`] tells.
    pub fn next_at_hand(&mut self) -> Option<Event> {
        let event = self.execution.events.try_recv().ok()?;
        self.passes(Some(event))
    }

    fn passes(&mut self, event: Option<Event>) -> Option<Event> {
        let event = event.filter(|event| !self.is_loss(event));
        match (&event, &mut self.watch) {
            (Some(event), Some(watch)) => watch.event(event),
            (None, watch) => {
                // It broke off.
                if let Some(watch) = watch.take() {
                    watch.fail();
                }
            }
            (Some(_), None) => {}
        }
        match (&event, &mut self.entry) {
            (Some(event), Some(entry)) => entry.event(event),
            (None, entry) => {
                if let Some(entry) = entry.take() {
                    entry.fail("the execution broke off");
                }
            }
            (Some(_), None) => {}
        }
        if matches!(event, None | Some(Event::Done { .. })) {
            self.share = None;
        }
        event
    }

    /// When a backend dies, its interpreters may be seen to end some moments before it is.
    async fn wait_for_news_of_the_backend(&self) {
        for _ in 0..LOOKS {
            if !self.container.has_healthy_backend() {
                return;
            }
            sleep(LOOK_EVERY).await;
        }
    }

    /// An interpreter that died with all of its backend did not end by what the code did, and nobody is to be
    /// told so.
    fn is_loss(&self, event: &Event) -> bool {
        is_killed(event) && !self.container.has_healthy_backend()
    }

    /// Lets somebody else stop it.
    #[must_use]
    pub fn handle(&self) -> ExecutionHandle {
        self.execution.handle.clone()
    }

    /// Everything it says, as one value.
    pub async fn outcome(mut self) -> sandgate_core::Result<Outcome> {
        let mut builder = OutcomeBuilder::default();
        while let Some(event) = self.next().await {
            builder.add(event);
        }
        builder.finish()
    }
}

fn is_killed(event: &Event) -> bool {
    matches!(event, Event::Done { ending: Ending::Signalled { .. }, .. })
}
