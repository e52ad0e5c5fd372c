//! The sandbox a request is for, running.

use std::sync::Arc;

use axum::extract::Request;
use sandgate_core::{Container, Inside, Joined, Processes, Sandbox, StartProcess};

use super::super::route::Target;
use super::refusal::{Kind, Refusal};

#[derive(Clone, Debug)]
pub(super) struct Guest {
    pub(super) id: String,
    pub(super) container: Arc<Container>,
    pub(super) sandbox: Arc<dyn Sandbox>,
    target: Target,
}

impl Guest {
    /// Nothing of the request is held meanwhile: its body cannot be shared.
    pub(super) fn of(request: &Request) -> impl Future<Output = Result<Self, Refusal>> + Send + use<> {
        let target = request.extensions().get::<Target>().cloned();
        async move {
            let target = target.ok_or_else(Refusal::gone)?;
            let sandbox = target.sandbox().await?;
            let (id, container) = (target.lease.id.clone(), Arc::clone(&target.container));
            Ok(Self { id, container, sandbox, target })
        }
    }

    pub(super) fn id_of(request: &Request) -> String {
        request.extensions().get::<Target>().map(|target| target.lease.id.clone()).unwrap_or_default()
    }

    pub(super) async fn inside(&self) -> Result<Arc<dyn Inside>, Refusal> {
        Ok(self.sandbox.inside().await?)
    }

    /// A command in the name of the sandbox's maker.
    pub(super) async fn start(&self, process: StartProcess) -> sandgate_core::Result<Joined> {
        self.target.start(process).await
    }

    pub(super) async fn processes(&self) -> Result<Arc<dyn Processes>, Refusal> {
        Ok(self.sandbox.processes().await?)
    }

    /// A failure of a sandbox that has ended meanwhile is no failure of the server.
    pub(super) fn explain(&self, refusal: Refusal) -> Refusal {
        if refusal.kind == Kind::Internal && !self.sandbox.is_alive() { Refusal::gone() } else { refusal }
    }
}
