//! What sandboxes connected to, on its way from the engine to the metrics and the ledger. The engine never waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sandgate_core::{Containers, SandboxId};
use sandgate_engine::{Seen, SeenVerdict, Told};
use sandgate_gate::{Connection, Ledger, Metrics};
use tokio::sync::mpsc;

/// Connections that may wait to be counted. Code inside decides how many there are.
const WAITING: usize = 10_000;

#[derive(Debug)]
pub(crate) struct Connections {
    seen: mpsc::Receiver<(SandboxId, Seen)>,
    lost: Arc<AtomicU64>,
}

/// For the engine, and for who counts.
pub(crate) fn channel() -> (Told, Connections) {
    let (sender, seen) = mpsc::channel(WAITING);
    let lost = Arc::new(AtomicU64::new(0));
    let counts = Arc::clone(&lost);
    let told = move |sandbox: &SandboxId, seen: Seen| {
        if sender.try_send((sandbox.clone(), seen)).is_err() {
            counts.fetch_add(1, Ordering::Relaxed);
        }
    };
    (Arc::new(told), Connections { seen, lost })
}

impl Connections {
    /// Goes on for as long as the engine does.
    pub(crate) async fn count(mut self, containers: &Containers, metrics: &Metrics, ledger: &Ledger) {
        while let Some((sandbox, seen)) = self.seen.recv().await {
            let lost = self.lost.swap(0, Ordering::Relaxed);
            if lost > 0 {
                tracing::warn!(lost, "connections came faster than they could be counted");
            }
            let (verdict, why) = match seen.verdict {
                SeenVerdict::Allowed => ("allowed", None),
                SeenVerdict::Failed(why) => ("failed", Some(why)),
                SeenVerdict::Denied(why) => ("denied", Some(why)),
            };
            let connection = Connection {
                way: seen.way.as_str(),
                name: seen.name,
                address: seen.address,
                port: seen.port,
                sent: seen.sent,
                received: seen.received,
                took: seen.took,
                times: seen.times,
                verdict,
                why,
            };
            metrics.connected(&connection);
            if ledger.records_connections()
                && let Some(container) = containers.with_sandbox(&sandbox)
            {
                ledger.connected(container.owner(), container.id().as_str(), &connection);
            }
        }
        std::future::pending().await
    }
}
