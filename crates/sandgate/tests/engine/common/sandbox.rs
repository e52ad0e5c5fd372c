//! A sandbox for the length of a test.

use std::ops::Deref;
use std::sync::Arc;

use sandgate_core::{
    Backend, ContextId, ContextSpec, ExecuteRequest, Execution, FileStat, Limits, Outcome, Sandbox,
    SandboxPath, SandboxSpec,
};
use tokio::time::timeout;

use super::{LONGEST, Read, engine, runtime};

/// Goes, with its files, when it is dropped.
pub(crate) struct Place(Arc<dyn Sandbox>);

impl Deref for Place {
    type Target = dyn Sandbox;
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let id = self.0.id().clone();
        // Some tests delete it themselves.
        runtime().spawn(async move { engine().await.delete(&id).await.ok() });
    }
}

pub(crate) async fn sandbox() -> Place {
    sandbox_with(Limits::default()).await
}

pub(crate) async fn sandbox_with(limits: Limits) -> Place {
    let spec = SandboxSpec { limits, ..SandboxSpec::default() };
    Place(engine().await.create(spec).await.expect("a sandbox"))
}

/// A path inside.
pub(crate) fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text).expect("a path")
}

impl Place {
    /// Another handle on what runs or ran before.
    pub(crate) fn of(sandbox: Arc<dyn Sandbox>) -> Self {
        Self(sandbox)
    }

    pub(crate) async fn request(&self, request: ExecuteRequest) -> Execution {
        self.execute(request).await.expect("the execution starts")
    }

    pub(crate) async fn start(&self, code: &str) -> Execution {
        self.request(ExecuteRequest { code: code.to_owned(), ..ExecuteRequest::default() }).await
    }

    /// Runs code to its end, whatever the end is.
    pub(crate) async fn cell(&self, code: &str) -> Outcome {
        finished(self.start(code).await).await
    }

    /// The same, with time for it.
    pub(crate) async fn cell_within(&self, code: &str, seconds: f64) -> Outcome {
        let time = std::time::Duration::from_secs_f64(seconds);
        let request =
            ExecuteRequest { code: code.to_owned(), timeout: Some(time), ..ExecuteRequest::default() };
        finished(self.request(request).await).await
    }

    /// Runs code that must end well.
    pub(crate) async fn ok(&self, code: &str) -> Outcome {
        let outcome = self.cell(code).await;
        outcome.assert_ok();
        outcome
    }

    /// The value of code that must end well, as text.
    pub(crate) async fn value(&self, code: &str) -> String {
        self.ok(code).await.value()
    }

    pub(crate) async fn in_context(&self, context: &ContextId, code: &str) -> Outcome {
        finished(self.start_in(context, code).await).await
    }

    pub(crate) async fn start_in(&self, context: &ContextId, code: &str) -> Execution {
        let (code, context) = (code.to_owned(), Some(context.clone()));
        self.request(ExecuteRequest { code, context, ..ExecuteRequest::default() }).await
    }

    pub(crate) async fn context(&self, name: &str) -> ContextId {
        let id = ContextId::parse(name).expect("a name");
        let spec = ContextSpec { id: Some(id), ..ContextSpec::default() };
        self.create_context(spec).await.expect("a context").id
    }

    pub(crate) async fn put(&self, name: &str, content: &[u8]) -> FileStat {
        self.files().write(&path(name), &mut &*content).await.expect("an upload")
    }

    pub(crate) async fn get(&self, name: &str) -> Vec<u8> {
        self.files().read(&path(name), 1 << 30).await.expect("a download").to_vec()
    }
}

pub(crate) async fn finished(execution: Execution) -> Outcome {
    let outcome = timeout(LONGEST, Outcome::collect(execution)).await;
    outcome.expect("the execution ends").expect("the execution says how it ended")
}
