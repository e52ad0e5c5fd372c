//! A sandbox for the length of a test, on whichever backend.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use sandgate_core::{
    Backend, ContextId, ContextSpec, ExecuteRequest, Execution, Limits, Outcome, Sandbox, SandboxPath,
    SandboxSpec,
};
use tokio::time::timeout;

use super::{LONGEST, Read, Target, runtime};

/// Goes, with its files, when it is dropped.
pub(crate) struct Place {
    sandbox: Arc<dyn Sandbox>,
    backend: Arc<dyn Backend>,
}

impl Deref for Place {
    type Target = dyn Sandbox;
    fn deref(&self) -> &Self::Target {
        &*self.sandbox
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (id, backend) = (self.sandbox.id().clone(), Arc::clone(&self.backend));
        // Some tests delete it themselves.
        runtime().spawn(async move { backend.delete(&id).await.ok() });
    }
}

pub(crate) fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text).expect("a path")
}

pub(crate) async fn finished(execution: Execution) -> Outcome {
    let outcome = timeout(LONGEST, Outcome::collect(execution)).await;
    outcome.expect("the execution ends").expect("the execution says how it ended")
}

impl Target {
    pub(crate) async fn sandbox(&self) -> Place {
        self.sandbox_with(SandboxSpec::default()).await
    }

    pub(crate) async fn limited(&self, limits: Limits) -> Place {
        self.sandbox_with(SandboxSpec { limits, ..SandboxSpec::default() }).await
    }

    pub(crate) async fn sandbox_with(&self, spec: SandboxSpec) -> Place {
        let sandbox = timeout(LONGEST, self.backend.create(spec)).await.expect("in time").expect("a sandbox");
        Place { sandbox, backend: Arc::clone(&self.backend) }
    }
}

impl Place {
    pub(crate) async fn request(&self, request: ExecuteRequest) -> Execution {
        self.execute(request).await.expect("the execution starts")
    }

    pub(crate) async fn start(&self, code: &str) -> Execution {
        self.request(ExecuteRequest { code: code.to_owned(), ..ExecuteRequest::default() }).await
    }

    pub(crate) async fn cell(&self, code: &str) -> Outcome {
        finished(self.start(code).await).await
    }

    pub(crate) async fn cell_within(&self, code: &str, time: Duration) -> Outcome {
        let code = code.to_owned();
        finished(
            self.request(ExecuteRequest { code, timeout: Some(time), ..ExecuteRequest::default() }).await,
        )
        .await
    }

    pub(crate) async fn ok(&self, code: &str) -> Outcome {
        let outcome = self.cell(code).await;
        outcome.assert_ok();
        outcome
    }

    pub(crate) async fn context(&self) -> ContextId {
        self.create_context(ContextSpec::default()).await.expect("a context").id
    }

    pub(crate) async fn in_context(&self, context: &ContextId, code: &str) -> Outcome {
        let (code, context) = (code.to_owned(), Some(context.clone()));
        finished(self.request(ExecuteRequest { code, context, ..ExecuteRequest::default() }).await).await
    }

    pub(crate) async fn put(&self, name: &str, content: &[u8]) {
        self.files().write(&path(name), &mut &*content).await.expect("an upload");
    }

    pub(crate) async fn get(&self, name: &str) -> Vec<u8> {
        self.files().read(&path(name), 1 << 30).await.expect("a download").to_vec()
    }
}
