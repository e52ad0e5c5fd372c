//! All backends of a server as one: a new sandbox goes to the one that is asked for, an existing one is where it
//! is. Nothing goes anywhere else unless the configuration says so, by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sandgate_core::network::NetworkPolicy;
use sandgate_core::{
    Backend, BackendCheck, BackendError, BackendReport, BackendStats, CheckBackends, ExecuteRequest, Files,
    NetworkBy, Outcome, Result, Sandbox, SandboxId, SandboxSpec,
};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::RemoteBackend;

/// The name of the engine in this program.
pub const EMBEDDED: &str = "embedded";
/// What a backend has to work out to be well.
const QUESTION: &str = "print(6 * 7)";
const ANSWER: &str = "42";
/// For a new sandbox, and again for the run in it.
const LONGEST_CHECK: Duration = Duration::from_secs(150);

#[derive(Default)]
pub struct Fleet {
    default: String,
    embedded: Option<Arc<dyn Backend>>,
    /// How often the embedded one could not give a sandbox.
    embedded_failures: AtomicU64,
    remotes: BTreeMap<String, Remote>,
}

struct Remote {
    backend: Arc<RemoteBackend>,
    /// Who is asked in its place when it is not available, in this order.
    fallback: Vec<String>,
}

impl Fleet {
    /// `default`: where sandboxes go for which nobody names a backend.
    #[must_use]
    pub fn new(default: String, embedded: Option<Arc<dyn Backend>>) -> Self {
        Self { default, embedded, embedded_failures: AtomicU64::new(0), remotes: BTreeMap::new() }
    }

    pub fn add(&mut self, backend: Arc<RemoteBackend>, fallback: Vec<String>) {
        self.remotes.insert(backend.called().to_owned(), Remote { backend, fallback });
    }

    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let embedded = self.embedded.is_some().then_some(EMBEDDED);
        embedded.into_iter().chain(self.remotes.keys().map(String::as_str)).collect()
    }

    fn named(&self, name: &str) -> Result<&dyn Backend> {
        let remote = self.remotes.get(name).map(|remote| &*remote.backend as &dyn Backend);
        let embedded = self.embedded.as_deref().filter(|_| name == EMBEDDED);
        remote.or(embedded).ok_or_else(|| BackendError::NoSuchBackend {
            name: name.chars().take(80).collect(),
            available: self.names().join(", "),
        })
    }

    /// Where the sandbox is.
    fn of(&self, id: &SandboxId) -> Result<&dyn Backend> {
        let remote = self.remotes.values().find(|remote| remote.backend.has(id));
        let remote = remote.map(|remote| &*remote.backend as &dyn Backend);
        remote.or(self.embedded.as_deref()).ok_or_else(|| BackendError::NoSuchSandbox(id.clone()))
    }

    /// Remote ones count what goes wrong by themselves.
    fn counted<T>(&self, name: &str, made: Result<T>) -> Result<T> {
        if name == EMBEDDED && matches!(made, Err(BackendError::Engine(_))) {
            self.embedded_failures.fetch_add(1, Ordering::Relaxed);
        }
        // A client cannot mend a key, a template or an image that the configuration names; who reads the log can.
        if let Err(error @ (BackendError::Unavailable { .. } | BackendError::Invalid(_))) = &made
            && name != EMBEDDED
        {
            tracing::warn!(backend = name, %error, "a sandbox could not be made");
        }
        made
    }

    /// Keeps remote sandboxes alive and removes what is left over; does not end.
    pub async fn keep(&self) {
        let mut all = JoinSet::new();
        for remote in self.remotes.values() {
            let backend = Arc::clone(&remote.backend);
            all.spawn(async move { backend.keep().await });
        }
        all.join_all().await;
        std::future::pending::<()>().await;
    }

    /// Each in a task that goes on when nobody waits for it any more: what it makes, it also removes.
    async fn check(self: &Arc<Self>, spec: &SandboxSpec) -> Vec<BackendCheck> {
        let checks: Vec<_> = self
            .names()
            .into_iter()
            .map(|name| {
                let (fleet, name, spec) = (Arc::clone(self), name.to_owned(), spec.clone());
                tokio::spawn(async move { fleet.check_one(name, spec).await })
            })
            .collect();
        let mut checked = Vec::with_capacity(checks.len());
        for check in checks {
            match check.await {
                Ok(one) => checked.push(one),
                Err(error) => tracing::error!(%error, "the check of a backend was cut short"),
            }
        }
        checked
    }

    async fn check_one(&self, name: String, mut spec: SandboxSpec) -> BackendCheck {
        let began = Instant::now();
        let outcome = match self.named(&name) {
            Ok(backend) => {
                // A network that its provider refuses is to be found out here.
                if let NetworkBy::Backend(own) = backend.network(None) {
                    spec.network = own;
                }
                try_out(backend, spec).await
            }
            Err(error) => Err(error),
        };
        let kind = self.remotes.get(&name).map_or(EMBEDDED, |remote| remote.backend.kind());
        let problem = outcome.err().map(|error| error.to_string());
        BackendCheck { kind, is_default: name == self.default, took: began.elapsed(), problem, name }
    }
}

/// A fleet, and the kind of sandbox to try its backends with.
#[derive(Debug)]
pub struct FleetCheck {
    pub fleet: Arc<Fleet>,
    pub spec: SandboxSpec,
}

#[async_trait]
impl CheckBackends for FleetCheck {
    async fn check_all(&self) -> Vec<BackendCheck> {
        self.fleet.check(&self.spec).await
    }
}

/// A real execution, and nothing left of it. To be waited for to its end: it is the run that has a deadline, and
/// not what comes after it.
async fn try_out(backend: &dyn Backend, spec: SandboxSpec) -> Result<()> {
    let late = || BackendError::Engine(format!("no answer within {} s", LONGEST_CHECK.as_secs()));
    // A backend removes by itself what it has made for somebody who does not wait any more.
    let sandbox = timeout(LONGEST_CHECK, backend.create(spec)).await.map_err(|_| late())??;
    let ran = async {
        let request = ExecuteRequest { code: QUESTION.to_owned(), ..ExecuteRequest::default() };
        Outcome::collect(sandbox.execute(request).await?).await
    };
    let ran = timeout(LONGEST_CHECK, ran).await.unwrap_or_else(|_| Err(late()));
    let stopped = sandbox.stop().await;
    backend.delete(sandbox.id()).await?;
    stopped?;
    let said = ran?;
    if said.stdout.trim() != ANSWER {
        let text = if said.text.is_empty() { said.stdout } else { said.text };
        let text: String = text.chars().take(200).collect();
        return Err(BackendError::Engine(format!("'{QUESTION}' came to '{text}'")));
    }
    Ok(())
}

#[async_trait]
impl Backend for Fleet {
    fn name(&self) -> &'static str {
        self.embedded.as_ref().map_or("remote", |embedded| embedded.name())
    }

    fn is_healthy(&self) -> bool {
        self.named(&self.default).is_ok_and(Backend::is_healthy)
    }

    fn stats(&self) -> BackendStats {
        self.embedded.as_ref().map(|embedded| embedded.stats()).unwrap_or_default()
    }

    fn reports(&self) -> Vec<BackendReport> {
        let embedded = self.embedded.as_ref().map(|embedded| BackendReport {
            name: EMBEDDED.to_owned(),
            is_available: embedded.is_healthy(),
            failures: self.embedded_failures.load(Ordering::Relaxed),
        });
        let remotes = self.remotes.values().map(|remote| remote.backend.report());
        embedded.into_iter().chain(remotes).collect()
    }

    fn network(&self, backend: Option<&str>) -> NetworkBy {
        match self.named(backend.unwrap_or(&self.default)) {
            Ok(backend) => backend.network(None),
            Err(_) => NetworkBy::Backend(NetworkPolicy::disabled()),
        }
    }

    fn decides_memory(&self, backend: Option<&str>) -> bool {
        self.named(backend.unwrap_or(&self.default)).is_ok_and(|backend| backend.decides_memory(None))
    }

    async fn create(&self, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        let name = spec.backend.clone().unwrap_or_else(|| self.default.clone());
        let mut made = self.counted(&name, self.named(&name)?.create(spec.clone()).await);
        let remote = self.remotes.get(&name).filter(|_| !spec.pinned);
        let fallback = remote.map(|remote| remote.fallback.as_slice()).unwrap_or_default();
        for next in fallback {
            let Err(BackendError::Unavailable { reason, .. }) = &made else { break };
            tracing::warn!(
                backend = name,
                reason,
                next,
                "a sandbox is made elsewhere, as the configuration says"
            );
            let backend = self.named(next)?;
            let mut spec = spec.clone();
            if backend.network(None) == NetworkBy::Policy {
                // What it was granted is another backend's network, which no ceiling was asked about here.
                spec.network = NetworkPolicy::disabled();
            }
            made = self.counted(next, backend.create(spec).await);
        }
        made
    }

    async fn revive(&self, id: &SandboxId, spec: SandboxSpec) -> Result<Arc<dyn Sandbox>> {
        self.of(id)?.revive(id, spec).await
    }

    async fn copy(&self, from: &SandboxId, spec: &SandboxSpec) -> Result<SandboxId> {
        self.of(from)?.copy(from, spec).await
    }

    async fn delete(&self, id: &SandboxId) -> Result<()> {
        self.of(id)?.delete(id).await
    }

    async fn files(&self, id: &SandboxId, spec: &SandboxSpec) -> Result<Arc<dyn Files>> {
        self.of(id)?.files(id, spec).await
    }

    async fn shut_down(&self) {
        let mut ends = JoinSet::new();
        for remote in self.remotes.values() {
            let backend = Arc::clone(&remote.backend);
            ends.spawn(async move { backend.shut_down().await });
        }
        if let Some(embedded) = &self.embedded {
            embedded.shut_down().await;
        }
        ends.join_all().await;
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").field("default", &self.default).field("names", &self.names()).finish()
    }
}

#[cfg(test)]
#[path = "fleet_tests.rs"]
mod tests;
