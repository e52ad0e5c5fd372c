//! A sandbox of OpenSandbox's.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use http::{Method, StatusCode};
use tokio::io::AsyncRead;

use super::endpoint::Endpoint;
use super::lifecycle::Lifecycle;
use crate::http::{Answer, Call, HttpError};
use crate::under_way::UnderWay;
use crate::{
    Content, ContextWish, Furnished, Gathered, Place, PlaceEntry, PlaceId, PlaceState, ProviderError,
    ProviderResult, Run, Running,
};

/// Between two looks whether it is ready.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct OpenSandboxPlace {
    pub(super) control: Arc<Lifecycle>,
    id: PlaceId,
    endpoint: RwLock<Option<Endpoint>>,
    pub(super) runs: UnderWay,
    /// The name of the context that code runs in when it names none, once that is known.
    pub(super) default_context: Arc<Mutex<Option<String>>>,
}

impl OpenSandboxPlace {
    pub(super) fn new(control: Arc<Lifecycle>, id: PlaceId) -> Self {
        Self {
            control,
            id,
            endpoint: RwLock::default(),
            runs: UnderWay::default(),
            default_context: Arc::default(),
        }
    }

    /// Until it is known where execd is; who calls bounds the time.
    pub(super) async fn find_way_in(&self, state: PlaceState) -> ProviderResult<()> {
        match state {
            PlaceState::Running => {}
            PlaceState::Broken => return Err(ProviderError::Failed("the sandbox has failed".to_owned())),
            PlaceState::Paused | PlaceState::Changing => {
                self.control.wait_for(&self.id, PlaceState::Running).await?;
            }
        }
        let endpoint = loop {
            match self.control.endpoint(&self.id).await? {
                Some(endpoint) => break endpoint,
                // A sandbox that is gone has none either.
                None => self.control.state(&self.id).await?,
            };
            tokio::time::sleep(PAUSE).await;
        };
        *self.endpoint.write().unwrap_or_else(PoisonError::into_inner) = Some(endpoint);
        Ok(())
    }

    /// Bounded by who calls, too.
    pub(super) async fn until_it_answers(&self) -> ProviderResult<()> {
        loop {
            match self.control.client.demand(self.call(Method::GET, "/ping", &[])?).await {
                Ok(answer) => {
                    answer.done().await;
                    return Ok(());
                }
                Err(
                    error @ HttpError::Refused {
                        status: StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN,
                        ..
                    },
                ) => {
                    return Err(error.into());
                }
                Err(error) => {
                    tracing::debug!(%error, sandbox = %self.id, "a sandbox does not answer yet");
                    self.control.state(&self.id).await?;
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// A request to execd, with what opens it.
    pub(super) fn call(&self, method: Method, path: &str, query: &[(&str, &str)]) -> Result<Call, HttpError> {
        let endpoint = self.endpoint.read().unwrap_or_else(PoisonError::into_inner).clone();
        let endpoint = endpoint.ok_or_else(|| HttpError::Unreachable("it was never ready".to_owned()))?;
        Ok(Call::new(method, &endpoint.address, path, query)?.with(&endpoint.headers))
    }

    pub(super) async fn demand(&self, call: Call) -> ProviderResult<Answer> {
        self.control.client.demand(call).await.map_err(|error| match error.code() {
            Some("CONTEXT_NOT_FOUND") => ProviderError::NoSuchContext,
            _ => gone_or(error),
        })
    }
}

/// What the server says when the sandbox behind a way in is not there.
pub(super) fn gone_or(error: HttpError) -> ProviderError {
    match error.code() {
        Some(code) if code.ends_with("::SANDBOX_NOT_FOUND") => ProviderError::Lost,
        _ => error.into(),
    }
}

#[async_trait]
impl Place for OpenSandboxPlace {
    fn id(&self) -> &PlaceId {
        &self.id
    }

    async fn furnish(&self, folder: &str) -> ProviderResult<Furnished> {
        let found = match self.info(folder).await {
            Ok(_) => Furnished::AtOnce,
            Err(error @ (ProviderError::Lost | ProviderError::Unauthorized(_))) => return Err(error),
            Err(ProviderError::NoSuchFile(_)) => Furnished::Later,
            Err(error) => {
                tracing::debug!(%error, sandbox = %self.id, "a new sandbox does not answer yet");
                self.until_it_answers().await?;
                Furnished::Later
            }
        };
        self.make_folder(folder).await?;
        Ok(found)
    }

    async fn extend(&self, life: Duration) -> ProviderResult<()> {
        self.control.extend(&self.id, life).await
    }

    async fn pause(&self) -> ProviderResult<()> {
        self.control.change(&self.id, "pause").await?;
        self.within(self.control.wait_for(&self.id, PlaceState::Paused)).await
    }

    /// It may be somewhere else then.
    async fn resume(&self) -> ProviderResult<()> {
        self.control.change(&self.id, "resume").await?;
        let ready = async {
            self.find_way_in(PlaceState::Changing).await?;
            self.until_it_answers().await
        };
        self.within(ready).await
    }

    /// Known from the first run on.
    async fn first_context(&self) -> ProviderResult<Option<String>> {
        Ok(self.default_context.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    async fn create_context(&self, wish: &ContextWish) -> ProviderResult<String> {
        self.new_context(wish).await
    }

    async fn delete_context(&self, id: &str) -> ProviderResult<()> {
        self.end_context(id).await
    }

    async fn execute(&self, run: Run) -> ProviderResult<Running> {
        self.start(run).await
    }

    async fn interrupt(&self, context: Option<&str>) -> ProviderResult<()> {
        self.stop(context).await
    }

    async fn read(&self, path: &str) -> ProviderResult<Content> {
        self.download(path).await
    }

    async fn write(
        &self,
        path: &str,
        content: Box<dyn AsyncRead + Send + Unpin>,
        size: u64,
    ) -> ProviderResult<()> {
        self.upload(path, content, size).await
    }

    async fn list(&self, path: &str, depth: u32, most: usize) -> ProviderResult<Gathered> {
        self.list_dir(path, depth, most).await
    }

    async fn stat(&self, path: &str) -> ProviderResult<PlaceEntry> {
        self.info(path).await.map(Into::into)
    }

    async fn remove(&self, path: &str) -> ProviderResult<()> {
        self.remove_path(path).await
    }

    async fn make_dir(&self, path: &str) -> ProviderResult<()> {
        self.new_dir(path, 755).await
    }

    async fn rename(&self, from: &str, to: &str) -> ProviderResult<()> {
        self.move_path(from, to).await
    }
}

impl OpenSandboxPlace {
    async fn within(&self, change: impl Future<Output = ProviderResult<()>> + Send) -> ProviderResult<()> {
        let after = self.control.settings.deadlines.create;
        let late =
            |_| ProviderError::TimedOut { what: "the sandbox did not change its state".to_owned(), after };
        tokio::time::timeout(after, change).await.map_err(late)?
    }
}
