//! SIGTERM and Ctrl-C: the first begins the end, another one hurries it.

use std::time::Duration;

use sandgate_doors::Stopping;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

#[derive(Debug)]
pub(crate) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    /// From now on neither ends the program by itself.
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    pub(crate) async fn next(&mut self) {
        tokio::select! { _ = self.interrupt.recv() => {}, _ = self.terminate.recv() => {} }
    }

    /// The first signal stops new requests; a second one, or the end of the grace, also those under way.
    pub(crate) async fn stop(&mut self, stopping: &Stopping, grace: Duration) {
        self.next().await;
        tracing::info!(
            "stopping; requests under way have {} seconds, a second signal ends them now",
            grace.as_secs()
        );
        stopping.begin();
        tokio::select! {
            () = self.next() => tracing::info!("a second signal: what is under way is cut off"),
            () = sleep(grace) => tracing::info!("the grace is over: what is under way is cut off"),
        }
    }
}
