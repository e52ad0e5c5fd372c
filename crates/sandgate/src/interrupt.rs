//! Ctrl-C while code runs: the first interrupts it, as in Python; the next kills it.

use sandgate_core::ExecutionHandle;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;

/// Watches until it is dropped. Its own task, so that it works while a full pipe holds the output up.
#[derive(Debug)]
pub(crate) struct Watch(JoinHandle<()>);

impl Watch {
    pub(crate) fn start(handle: ExecutionHandle) -> std::io::Result<Self> {
        let presses = signal(SignalKind::interrupt())?;
        Ok(Self(tokio::spawn(pass_on(presses, handle))))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn pass_on(mut presses: Signal, handle: ExecutionHandle) {
    if presses.recv().await.is_some() {
        handle.interrupt();
    }
    while presses.recv().await.is_some() {
        handle.kill();
    }
}
