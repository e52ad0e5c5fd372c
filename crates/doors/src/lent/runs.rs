//! The way by which code and commands of lent sandboxes run: in the name of whoever was lent them, through the
//! same approvals and onto the same record as everybody's.

use std::sync::Arc;

use axum::extract::Request;
use sandgate_core::{
    BackendError, Container, ExecuteRequest, Joined, KeyLimits, Owner, Principal, Rank, StartProcess,
};
use sandgate_gate::{Asker, Call, Crowd, Executions, Ledger, Manner, NewCall, NotRun, Watch};

use super::running::Running;
use crate::request_id::RequestId;

/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Runs {
    executions: Executions,
    ledger: Ledger,
}

/// What is known of the request that asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    request_id: String,
    path: String,
    watch: Watch,
}

impl Asked {
    pub(crate) fn by(request: &Request) -> Self {
        Self {
            request_id: RequestId::of(request.extensions()),
            path: request.uri().path().to_owned(),
            watch: request.extensions().get::<Watch>().cloned().unwrap_or_default(),
        }
    }
}

/// Whoever was lent the sandbox.
#[derive(Clone, Debug)]
pub(crate) struct Borrower<'a> {
    pub(crate) owner: &'a Owner,
    /// The id of the key that it was made with.
    pub(crate) key: Option<&'a str>,
    pub(crate) limits: &'a Arc<KeyLimits>,
    pub(crate) door: &'static str,
}

impl Runs {
    /// Nothing is asked and nothing recorded.
    #[cfg(test)]
    pub(crate) fn for_tests(containers: &Arc<sandgate_core::Containers>) -> Self {
        let executions = Executions::new(Arc::clone(containers), sandgate_gate::Approvals::none());
        Self::new(executions, Ledger::default())
    }

    #[must_use]
    pub fn new(executions: Executions, ledger: Ledger) -> Self {
        Self { executions, ledger }
    }

    pub(crate) async fn code(
        &self,
        asked: &Asked,
        borrower: &Borrower<'_>,
        container: &Arc<Container>,
        request: ExecuteRequest,
    ) -> sandgate_core::Result<Running> {
        let asker = self.asker(asked, borrower);
        let manner = Manner { crowd: Crowd::Refuse, makes_context: false };
        match self.executions.start(&asker, container, request, manner).await {
            Ok(execution) => Ok(Running { execution, container: Arc::clone(container) }),
            Err(refused) => Err(told(&asker, refused)),
        }
    }

    pub(crate) async fn command(
        &self,
        asked: &Asked,
        borrower: &Borrower<'_>,
        container: &Arc<Container>,
        start: StartProcess,
    ) -> sandgate_core::Result<Joined> {
        let asker = self.asker(asked, borrower);
        match self.executions.start_process(&asker, container, start).await {
            Ok(joined) => {
                // The command has a record of its own, which goes on.
                asker.call.ended("completed");
                Ok(joined)
            }
            Err(refused) => Err(told(&asker, refused)),
        }
    }

    fn asker(&self, asked: &Asked, borrower: &Borrower<'_>) -> Asker {
        let rank = borrower.key.map_or(Rank::Open, |key| Rank::Key(key.to_owned()));
        let who = Principal { owner: borrower.owner.clone(), rank, limits: Arc::clone(borrower.limits) };
        let new = NewCall { who: &who, request_id: &asked.request_id, api: borrower.door, path: &asked.path };
        let call = Call::new(&self.ledger, &new);
        call.begin();
        let asker = Asker::new(&who, asked.request_id.clone(), borrower.door);
        Asker { call, watch: asked.watch.clone(), ..asker }
    }
}

/// As the doors know their errors.
fn told(asker: &Asker, refused: NotRun) -> BackendError {
    match refused {
        NotRun::Denied(denial) => {
            asker.call.failed("execution_denied");
            BackendError::PermissionDenied(format!("it was not run: {denial}"))
        }
        NotRun::Backend(error) => {
            asker.call.failed("backend");
            error
        }
        NotRun::Store(error) => {
            asker.call.failed("not_recorded");
            BackendError::Engine(format!("the record of an execution could not be written: {error}"))
        }
    }
}
