//! The one way code runs, whichever door it came through: it is allowed, it is written down, it waits for
//! its owner's share, and only then a sandbox gets it.

mod asker;
mod not_run;
mod process;
mod running;

use std::sync::Arc;

use sandgate_core::{
    BackendError, Container, Containers, ContextId, ContextSpec, ExecuteRequest, Execution, KeyLimits, Share,
};

pub use asker::Asker;
pub use not_run::NotRun;
pub use running::Running;

use crate::approvals::{Approvals, Denial, Question, Verdict};
use crate::ledger::{ApprovalEntry, ExecutionEntry, What};
use crate::metrics::Whereabouts;

/// What code is written in when nobody says.
const USUAL_LANGUAGE: &str = "python";

/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Executions {
    containers: Arc<Containers>,
    approvals: Approvals,
}

/// What a door wants beyond the code itself.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    pub crowd: Crowd,
    /// A named context that is not there is made, in the language of the execution.
    pub makes_context: bool,
}

/// What happens to an execution when its owner has as many under way as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowd {
    /// It waits its turn; the server itself allows this many.
    Wait { most: u32 },
    /// It is refused.
    Refuse,
}

impl Executions {
    #[must_use]
    pub fn new(containers: Arc<Containers>, approvals: Approvals) -> Self {
        Self { containers, approvals }
    }

    /// Runs code in the name of `asker`, who owns the container.
    pub async fn start(
        &self,
        asker: &Asker,
        container: &Arc<Container>,
        run: ExecuteRequest,
        manner: Manner,
    ) -> Result<Running, NotRun> {
        // First of all, so that nobody holds or is sent what could not run anyway.
        let (size, limit) = (run.code.len() as u64, container.spec().limits.code_bytes);
        if size > limit {
            return Err(BackendError::CodeTooLarge { size, limit }.into());
        }
        self.ask(asker, container, &run).await?;
        // On record before anything happens, or nothing happens.
        let mut entry = ExecutionEntry::begin(&asker.call, container, &what(&run)).await?;
        let share = match self.share(asker, manner.crowd).await {
            Ok(share) => share,
            Err(error) => {
                entry.fail(&recorded(&error));
                return Err(error.into());
            }
        };
        // Approved or not: nobody would hear of what it does. The record says that it was cancelled.
        if asker.left.is_cancelled() {
            return Err(Denial::left().into());
        }
        let whereabouts = Whereabouts { id: container.id().as_str(), backend: container.backend() };
        let watch = asker.watch.execution(asker.door, &whereabouts);
        match execute(container, run, &asker.limits, manner.makes_context, &mut entry).await {
            Ok(execution) => Ok(Running::new(execution, share, watch, entry, Arc::clone(container))),
            Err(error) => {
                watch.fail();
                entry.fail(&recorded(&error));
                Err(error.into())
            }
        }
    }

    /// Said early, before a container is made for code that would be refused.
    pub fn check_room(&self, asker: &Asker) -> sandgate_core::Result<()> {
        match asker.limits.executions {
            Some(limit) if self.containers.executions().are_taken(&asker.owner, Some(limit)) => {
                Err(BackendError::TooManyExecutions { limit })
            }
            _ => Ok(()),
        }
    }

    async fn ask(&self, asker: &Asker, container: &Container, run: &ExecuteRequest) -> Result<(), NotRun> {
        let question = Question {
            code: &run.code,
            language: run.language.as_deref().unwrap_or(USUAL_LANGUAGE),
            model: asker.model.as_deref(),
            key: asker.key.as_deref(),
            owner: &asker.owner,
            container: container.id(),
            container_name: container.name(),
            door: asker.door,
            request_id: &asker.request_id,
        };
        let watch = asker.watch.approval();
        let decision = self.approvals.decide(&question);
        let verdict = tokio::select! {
            verdict = ApprovalEntry::over(&asker.call, container.id().as_str(), &run.code, decision) => verdict,
            // The question goes with whoever asked it, and its record says so.
            () = asker.left.cancelled() => return Err(Denial::left().into()),
        };
        watch.decided(&verdict);
        match verdict {
            Verdict::Allowed(_) => Ok(()),
            Verdict::Denied(denial) => Err(denial.into()),
        }
    }

    async fn share(&self, asker: &Asker, crowd: Crowd) -> sandgate_core::Result<Share> {
        let (shares, own) = (self.containers.executions(), asker.limits.executions);
        match crowd {
            Crowd::Wait { most } => {
                // Whichever is less: what the server lets one owner run at once, or what the key does.
                let most = own.map_or(most, |own| own.min(most));
                Ok(shares.wait(&asker.owner, Some(most)).await)
            }
            Crowd::Refuse => shares
                .take(&asker.owner, own)
                .ok_or(BackendError::TooManyExecutions { limit: own.unwrap_or(u32::MAX) }),
        }
    }
}

/// As a key may read it: what the engine says of itself is for the log.
fn recorded(error: &BackendError) -> String {
    match error {
        BackendError::Engine(problem) => {
            tracing::error!(problem, "an execution could not be started");
            "engine_failed".to_owned()
        }
        other => other.to_string(),
    }
}

fn what(run: &ExecuteRequest) -> What<'_> {
    What {
        language: run.language.as_deref().unwrap_or(USUAL_LANGUAGE),
        context: run.context.as_ref().map(ContextId::as_str),
        code: &run.code,
        timeout: run.timeout,
    }
}

async fn execute(
    container: &Container,
    run: ExecuteRequest,
    limits: &KeyLimits,
    makes_context: bool,
    entry: &mut ExecutionEntry,
) -> sandgate_core::Result<Execution> {
    let sandbox = container.sandbox_within(limits).await?;
    entry.starts_in(&sandbox);
    if !makes_context || run.context.is_none() {
        return sandbox.execute(run).await;
    }
    match sandbox.execute(run.clone()).await {
        Err(BackendError::NoSuchContext(id)) => {
            let spec = ContextSpec { id: Some(id), language: run.language.clone(), cwd: None };
            match sandbox.create_context(spec).await {
                Ok(_) | Err(BackendError::ContextExists(_)) => sandbox.execute(run).await,
                Err(error) => Err(error),
            }
        }
        outcome => outcome,
    }
}
