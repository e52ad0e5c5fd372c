//! One piece of code, run in a container in somebody's name: what the client sees of it, what the model
//! is told, and which files came of it. The same for every API that has the tool.

use std::fmt::Display;
use std::sync::Arc;

use sandgate_core::{BackendError, Container, ExecuteRequest, FileChangeKind, Outcome};
use sandgate_store::ContainerFileRecord;
use serde_json::Value;

use crate::config::GateConfig;
use crate::container_files::ContainerFilesError;
use crate::error::{GateError, Result};
use crate::executions::{Asker, Crowd, Manner, NotRun};
use crate::gate::Gate;
use crate::model_text::model_text;
use crate::no_network;
use crate::outputs::outputs;

#[derive(Debug)]
pub(crate) struct Came {
    pub(crate) status: &'static str,
    pub(crate) outputs: Vec<Value>,
    pub(crate) told: String,
    /// What was drawn, kept as files.
    pub(crate) figures: Vec<ContainerFileRecord>,
    /// Paths of the files that the code made or changed.
    pub(crate) written: Vec<String>,
}

impl Came {
    /// A call that the model can mend by itself.
    pub(crate) fn not_run(problem: &dyn Display) -> Self {
        Self {
            status: "failed",
            outputs: Vec::new(),
            told: format!("[the code was not run: {problem}]"),
            figures: Vec::new(),
            written: Vec::new(),
        }
    }

    /// Tells the model one thing more.
    pub(crate) fn tell(&mut self, note: &str) {
        self.told.push_str(&format!("\n[{note}]"));
    }
}

impl Gate {
    /// With too much of its owner's under way the code waits its turn.
    /// `config`: the limits of the request, which stay what they were when it began.
    pub(crate) async fn run_code(
        &self,
        config: &GateConfig,
        asker: &Asker,
        container: &Arc<Container>,
        code: &str,
    ) -> Result<Came> {
        let request = ExecuteRequest {
            code: code.to_owned(),
            timeout: Some(config.execution),
            ..ExecuteRequest::default()
        };
        let most = u32::try_from(config.executions_per_owner).unwrap_or(u32::MAX);
        let manner = Manner { crowd: Crowd::Wait { most }, makes_context: false };
        let running = match self.executions.start(asker, container, request, manner).await {
            Ok(running) => running,
            // The model can mend this by itself; nothing ran.
            Err(problem @ (NotRun::Denied(_) | NotRun::Backend(BackendError::CodeTooLarge { .. }))) => {
                return Ok(Came::not_run(&problem));
            }
            Err(NotRun::Backend(error)) => return Err(error.into()),
            Err(NotRun::Store(error)) => {
                tracing::error!(%error, "an execution could not be written down, so it was not run");
                return Err(GateError::NotRecorded);
            }
        };
        let outcome = running.outcome().await?;
        container.keep_alive();
        let out = outputs(&outcome);
        let mut came = Came {
            status: "completed",
            outputs: out.shown,
            told: model_text(&outcome, config.model_output_bytes),
            figures: Vec::new(),
            written: written(&outcome),
        };
        if let Some(note) = no_network::note(&outcome, &container.network()) {
            came.tell(note);
        }
        for figure in &out.figures {
            match self.files.add_image(container, figure).await {
                Ok(file) => came.figures.push(file),
                // A full disk is the code's own doing, and the client has the figure in the outputs.
                Err(ContainerFilesError::Backend(
                    problem @ (BackendError::File { .. } | BackendError::FileTooLarge { .. }),
                )) => came.tell(&format!("a figure could not be kept as a file: {problem}")),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(came)
    }
}

fn written(outcome: &Outcome) -> Vec<String> {
    let kept = outcome.files.iter().filter(|file| file.kind != FileChangeKind::Removed);
    kept.map(|file| file.path.clone()).collect()
}
