//! One sandbox for the length of one command: made with what the options say, gone afterwards.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use sandgate_core::network::NetworkPolicy;
use sandgate_core::{Backend, BackendError, ExecuteRequest, Execution, Files, Limits, Sandbox, SandboxSpec};
use sandgate_engine::Engine;
use tokio::runtime::Runtime;

use crate::bad_input::BadInput;
use crate::cli::SandboxArgs;
use crate::commands::{Purpose, start_engine};
use crate::inputs::Input;
use crate::interrupt::Watch;

/// What the options ask for, checked before anything starts.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) limits: Limits,
    inputs: Vec<Input>,
    pub(crate) language: Option<String>,
    network: NetworkPolicy,
}

impl Plan {
    pub(crate) fn new(args: &SandboxArgs, default_timeout: Duration) -> Result<Self> {
        let mut limits = Limits { wall: args.timeout.unwrap_or(default_timeout), ..Limits::default() };
        limits.memory_bytes = args.memory.unwrap_or(limits.memory_bytes);
        let inputs = args.files.iter().map(Input::parse).collect::<Result<_>>()?;
        let network = NetworkPolicy::from_words(args.network.iter().map(String::as_str))
            .map_err(|error| BadInput::error(format!("--network: {error}")))?;
        Ok(Self { limits, inputs, language: args.language.clone(), network })
    }
}

#[derive(Debug)]
pub(crate) struct Session {
    engine: Arc<Engine>,
    sandbox: Arc<dyn Sandbox>,
    language: Option<String>,
}

impl Session {
    pub(crate) async fn open(plan: Plan) -> Result<Self> {
        let engine = start_engine(Purpose::OneCommand { network: plan.network.clone() }).await?;
        match furnished(&engine, &plan).await {
            Ok(sandbox) => Ok(Self { engine, sandbox, language: plan.language }),
            Err(error) => {
                engine.shut_down().await;
                Err(error)
            }
        }
    }

    pub(crate) fn files(&self) -> Arc<dyn Files> {
        self.sandbox.files()
    }

    /// Ctrl-C reaches the code for as long as the watch lives.
    pub(crate) async fn execute(&self, code: String) -> Result<(Execution, Watch)> {
        let language = self.language.clone();
        let request = ExecuteRequest { code, language, ..ExecuteRequest::default() };
        let execution = self.sandbox.execute(request).await.map_err(|error| match error {
            BackendError::NoSuchLanguage { .. }
            | BackendError::CodeTooLarge { .. }
            | BackendError::Invalid(_) => BadInput::error(error.to_string()),
            error => error.into(),
        })?;
        let watch = Watch::start(execution.handle.clone())?;
        Ok((execution, watch))
    }

    pub(crate) async fn close(self) {
        if let Err(error) = self.engine.delete(self.sandbox.id()).await {
            tracing::warn!(%error, "the sandbox could not be removed");
        }
        self.engine.shut_down().await;
    }
}

async fn furnished(engine: &Engine, plan: &Plan) -> Result<Arc<dyn Sandbox>> {
    let (limits, network) = (plan.limits.clone(), plan.network.clone());
    let spec = SandboxSpec { limits, network, ..SandboxSpec::default() };
    let sandbox = engine.create(spec).await?;
    let files = sandbox.files();
    for input in &plan.inputs {
        input.put(&*files).await?;
    }
    Ok(sandbox)
}

pub(crate) fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
