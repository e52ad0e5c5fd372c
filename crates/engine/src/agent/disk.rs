//! Watches the disk of a sandbox while commands run in it, and ends them when they write past the limit.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::sandbox::EngineSandbox;

/// As often as during an execution.
const INTERVAL: Duration = Duration::from_millis(250);
/// At most one part in so many of the time goes into looking.
const SHARE: u32 = 20;

impl EngineSandbox {
    /// One watch at a time, as long as there are processes.
    pub(super) fn watch_disk_of_processes(self: &Arc<Self>) {
        if self.disk_is_watched.swap(true, Ordering::AcqRel) {
            return;
        }
        let sandbox = Arc::clone(self);
        self.spawn(async move {
            sandbox.watch_while_processes_run().await;
            sandbox.disk_is_watched.store(false, Ordering::Release);
            // One may have been started after the last look and before this.
            if !sandbox.processes.is_empty() && !sandbox.is_stopped() {
                sandbox.watch_disk_of_processes();
            }
        });
    }

    async fn watch_while_processes_run(&self) {
        // One that is over the limit already may still run commands that make room.
        let mut least = self.disk_used().await;
        while !self.processes.is_empty() && !self.is_stopped() {
            let started = Instant::now();
            let now = self.disk_used().await;
            if let (Some(least), Some(now)) = (&mut least, now) {
                if self.is_over(now) && (now.bytes > least.bytes || now.entries > least.entries) {
                    self.end_agent("the disk limit was passed, and all commands were ended").await;
                    return;
                }
                least.bytes = least.bytes.min(now.bytes);
                least.entries = least.entries.min(now.entries);
            }
            tokio::time::sleep(INTERVAL.max(started.elapsed() * SHARE)).await;
        }
    }

    /// Ends the agent and whatever it started.
    pub(crate) async fn end_agent(&self, why: &str) {
        if let Some(agent) = self.agent.running().await {
            tracing::warn!(sandbox = %self.volume.id, why, "commands of a sandbox were ended");
            agent.end(why).await;
        }
    }
}
