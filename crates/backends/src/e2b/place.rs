//! A sandbox at E2B: where its ports are, and what opens them.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use sandgate_core::{Processes, Secret};
use tokio::io::AsyncRead;

use super::control::Control;
use super::envd::EnvdProcesses;
use super::wire::Sandbox;
use crate::http::{Address, Answer, Call, HttpError};
use crate::under_way::UnderWay;
use crate::{
    Content, ContextWish, Furnished, Gathered, Place, PlaceEntry, PlaceId, ProviderError, ProviderResult,
    Run, Running,
};

pub(super) const ENVD_PORT: u16 = 49983;
pub(super) const CODE_PORT: u16 = 49999;
const ACCESS_TOKEN: HeaderName = HeaderName::from_static("x-access-token");
const TRAFFIC_TOKEN: HeaderName = HeaderName::from_static("e2b-traffic-access-token");
const SANDBOX_ID: HeaderName = HeaderName::from_static("e2b-sandbox-id");
const SANDBOX_PORT: HeaderName = HeaderName::from_static("e2b-sandbox-port");

/// Cheap to clone.
#[derive(Clone)]
pub(super) struct E2bPlace(Arc<Inner>);

pub(super) struct Inner {
    control: Arc<Control>,
    id: PlaceId,
    access: RwLock<Access>,
    /// Milliseconds it was last given.
    life: AtomicU64,
    pub(super) runs: UnderWay,
    /// Processes with a terminal: what is written to them goes another way.
    pub(super) terminals: Mutex<HashSet<u32>>,
}

#[derive(Clone)]
struct Access {
    envd: Address,
    code: Address,
    envd_token: Option<Secret>,
    traffic_token: Option<Secret>,
}

impl std::ops::Deref for E2bPlace {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl E2bPlace {
    pub(super) fn new(
        control: Arc<Control>,
        id: PlaceId,
        sandbox: &Sandbox,
        life: Duration,
    ) -> ProviderResult<Self> {
        let access = RwLock::new(access(&control, &id, sandbox)?);
        let life = AtomicU64::new(millis(life));
        Ok(Self(Arc::new(Inner {
            control,
            id,
            access,
            life,
            runs: UnderWay::default(),
            terminals: Mutex::default(),
        })))
    }

    pub(super) fn patience(&self) -> Duration {
        self.control.settings.deadlines.answer
    }

    pub(super) fn client(&self) -> &crate::http::HttpClient {
        &self.control.client
    }

    /// A request to a port, with what opens it.
    pub(super) fn call(
        &self,
        port: u16,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Call, HttpError> {
        let access = self.access.read().unwrap_or_else(PoisonError::into_inner).clone();
        let address = if port == CODE_PORT { &access.code } else { &access.envd };
        let id =
            HeaderValue::from_str(self.id.as_str()).map_err(|error| HttpError::Ours(error.to_string()))?;
        let mut call = Call::new(method, address, path, query)?
            .plain(SANDBOX_ID, id)
            .plain(SANDBOX_PORT, HeaderValue::from(port));
        if let Some(token) = &access.envd_token {
            call = call.secret(ACCESS_TOKEN, token)?;
        }
        if let Some(token) = access.traffic_token.as_ref().filter(|_| port != ENVD_PORT) {
            call = call.secret(TRAFFIC_TOKEN, token)?;
        }
        Ok(call)
    }

    /// An answer of the code interpreter that is a success.
    pub(super) async fn answer(&self, call: Call) -> ProviderResult<Answer> {
        self.client().demand(call).await.map_err(|error| match error {
            HttpError::Refused { status: StatusCode::NOT_FOUND, message, .. }
                if message.starts_with("Context ") && message.ends_with(" not found") =>
            {
                ProviderError::NoSuchContext
            }
            error => gone_or(error),
        })
    }
}

/// The words that E2B's proxy has for a sandbox that is not there.
pub(super) fn gone_or(error: HttpError) -> ProviderError {
    match error {
        HttpError::Refused { status: StatusCode::BAD_GATEWAY, message, .. }
            if message.contains("was not found") =>
        {
            ProviderError::Lost
        }
        error => error.into(),
    }
}

fn access(control: &Control, id: &PlaceId, sandbox: &Sandbox) -> ProviderResult<Access> {
    let port = |port| control.addresses.port(id, sandbox.domain.as_deref(), port);
    Ok(Access {
        envd: port(ENVD_PORT)?,
        code: port(CODE_PORT)?,
        envd_token: sandbox.envd_token.clone(),
        traffic_token: sandbox.traffic_token.clone(),
    })
}

fn millis(life: Duration) -> u64 {
    u64::try_from(life.as_millis()).unwrap_or(u64::MAX)
}

#[async_trait]
impl Place for E2bPlace {
    fn id(&self) -> &PlaceId {
        &self.0.id
    }

    async fn furnish(&self, folder: &str) -> ProviderResult<Furnished> {
        self.make_folder(folder).await
    }

    async fn extend(&self, life: Duration) -> ProviderResult<()> {
        self.life.store(millis(life), Ordering::Relaxed);
        self.control.extend(&self.id, life).await
    }

    async fn pause(&self) -> ProviderResult<()> {
        self.control.pause(&self.id).await
    }

    async fn resume(&self) -> ProviderResult<()> {
        let life = Duration::from_millis(self.life.load(Ordering::Relaxed));
        let sandbox = self.control.connect(&self.id, life).await?;
        let access = access(&self.control, &self.id, &sandbox)?;
        *self.access.write().unwrap_or_else(PoisonError::into_inner) = access;
        Ok(())
    }

    async fn first_context(&self) -> ProviderResult<Option<String>> {
        self.python_context().await
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

    /// Hanging up is how E2B is told.
    async fn interrupt(&self, context: Option<&str>) -> ProviderResult<()> {
        self.runs.stop(context);
        Ok(())
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
        self.stat_path(path).await
    }

    async fn remove(&self, path: &str) -> ProviderResult<()> {
        self.remove_path(path).await
    }

    async fn make_dir(&self, path: &str) -> ProviderResult<()> {
        self.new_dir(path).await
    }

    async fn rename(&self, from: &str, to: &str) -> ProviderResult<()> {
        self.move_path(from, to).await
    }

    async fn processes(&self) -> ProviderResult<Arc<dyn Processes>> {
        Ok(Arc::new(EnvdProcesses::new(self.clone())))
    }
}

impl fmt::Debug for E2bPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("E2bPlace").field("id", &self.id).finish_non_exhaustive()
    }
}
