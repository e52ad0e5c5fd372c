//! The shell behind a terminal: started like any command, and ended when its pages are gone for good.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sandgate_core::{
    Container, Input, ProcessEvent, ProcessRef, Processes, StartProcess, TerminalSize, random_hex,
};
use sandgate_gate::{Asker, NotRun};
use tokio::sync::mpsc;

use crate::Console;

const HANG_UP: i32 = 1;
const KILL: i32 = 9;
/// For a shell that was told to end.
const PATIENCE: Duration = Duration::from_secs(2);
/// Pieces of input that wait for the shell to read.
const WAITING: usize = 64;

pub(super) struct Shell {
    pub(super) events: mpsc::Receiver<ProcessEvent>,
    input: mpsc::Sender<Bytes>,
    processes: Arc<dyn Processes>,
    which: ProcessRef,
}

impl Shell {
    pub(super) async fn start(
        console: &Console,
        container: &Arc<Container>,
        asker: &Asker,
        size: TerminalSize,
    ) -> Result<Self, NotRun> {
        let start = StartProcess {
            program: "/bin/bash".to_owned(),
            args: vec!["-i".to_owned()],
            env: vec![
                ("TERM".to_owned(), "xterm-256color".to_owned()),
                ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ],
            tag: Some(format!("console-{}", random_hex(8))),
            input: Input::Terminal(size),
            ..StartProcess::default()
        };
        // First, so that nothing can fail between the start and the one who ends it.
        let processes = container.sandbox().await?.processes().await?;
        let joined = console.parts().executions.start_process(asker, container, start).await?;
        let which = ProcessRef::Pid(joined.pid);
        let (input, waiting) = mpsc::channel(WAITING);
        tokio::spawn(write(Arc::clone(&processes), which.clone(), waiting));
        Ok(Self { events: joined.events, input, processes, which })
    }

    /// Whether it was taken: a shell that does not read takes only so much.
    pub(super) fn write(&self, bytes: Vec<u8>) -> bool {
        self.input.try_send(bytes.into()).is_ok()
    }

    pub(super) async fn resize(&self, columns: u16, rows: u16) {
        // One that has ended has no size.
        let _ = self.processes.resize(&self.which, TerminalSize { columns, rows }).await;
    }

    /// With what it started, unless that went into the background for good.
    pub(super) fn end(self, console: &Console) {
        let Self { events, processes, which, .. } = self;
        drop(events);
        console.parts().tasks.spawn(async move {
            if processes.signal(&which, HANG_UP).await.is_ok() {
                tokio::time::sleep(PATIENCE).await;
                let _ = processes.signal(&which, KILL).await;
            }
        });
    }
}

async fn write(processes: Arc<dyn Processes>, which: ProcessRef, mut waiting: mpsc::Receiver<Bytes>) {
    while let Some(bytes) = waiting.recv().await {
        if processes.write(&which, bytes).await.is_err() {
            return;
        }
    }
}
