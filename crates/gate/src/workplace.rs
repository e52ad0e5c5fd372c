//! The container of one response: chosen before the model is asked, made only when it really writes
//! code, and never by two calls at once.

use std::sync::Arc;

use sandgate_core::{
    BackendError, Container, ContainerId, Containers, KeyLimits, NewContainer, Owner, SandboxSpec,
};
use sandgate_store::{Store, StoreError};
use tokio::sync::{OwnedMutexGuard, oneshot};
use tokio_util::task::TaskTracker;

use crate::container_files::ContainerFiles;
use crate::container_param::{AutoContainer, CodeTool, ContainerChoice, memory_bytes};
use crate::error::{GateError, Result};
use crate::input_files::InputFile;
use crate::sessions::SessionLocks;

/// So many uploaded files the model is told of; it can look for the others itself.
const MOST_PATHS: usize = 50;

#[derive(Debug)]
pub(crate) struct Workplace {
    owner: Owner,
    containers: Arc<Containers>,
    files: ContainerFiles,
    spec: SandboxSpec,
    allowance: Arc<KeyLimits>,
    auto: AutoContainer,
    inputs: Vec<InputFile>,
    container: Option<Arc<Container>>,
    /// The inputs are in it.
    is_ready: bool,
    /// It was made for this response.
    is_fresh: bool,
    /// Earlier calls ran in a container that is not there any more, and the model does not know yet.
    is_lost: bool,
    /// The session whose container it is to be, if nothing else says which.
    session: Option<String>,
    session_locks: SessionLocks,
    strict: bool,
    tasks: TaskTracker,
}

/// What a workplace is made with.
#[derive(Clone, Debug)]
pub(crate) struct WorkplaceRules {
    pub(crate) containers: Arc<Containers>,
    pub(crate) store: Store,
    pub(crate) files: ContainerFiles,
    pub(crate) spec: SandboxSpec,
    pub(crate) max_memory: u64,
    /// What the key of the request may have.
    pub(crate) allowance: Arc<KeyLimits>,
    /// An idle container is an error, as it is in the original.
    pub(crate) strict: bool,
    /// What the request calls its session.
    pub(crate) session: Option<String>,
    pub(crate) session_locks: SessionLocks,
    pub(crate) tasks: TaskTracker,
}

impl Workplace {
    /// Finds the container, or what is needed to make one. Everything that can be wrong with the
    /// request is said here, before anything is paid for. `seen`: containers that earlier calls in the
    /// conversation ran in, the last one last.
    pub(crate) async fn choose(
        rules: &WorkplaceRules,
        owner: &Owner,
        tool: Option<&CodeTool>,
        seen: &[String],
        inputs: Vec<InputFile>,
    ) -> Result<Self> {
        let mut workplace = Self {
            owner: owner.clone(),
            containers: Arc::clone(&rules.containers),
            files: rules.files.clone(),
            spec: rules.spec.clone(),
            allowance: Arc::clone(&rules.allowance),
            auto: AutoContainer::default(),
            inputs,
            container: None,
            is_ready: false,
            is_fresh: false,
            is_lost: false,
            session: None,
            session_locks: rules.session_locks.clone(),
            strict: rules.strict,
            tasks: rules.tasks.clone(),
        };
        // Who asks for nothing gets what there is.
        let memory = &mut workplace.spec.limits.memory_bytes;
        *memory = rules.allowance.memory_within(*memory);
        match tool.map(|tool| &tool.container) {
            Some(ContainerChoice::Named(id)) => {
                let found = workplace.find(id).ok_or_else(|| GateError::no_such_container(id))?;
                workplace.container = Some(found);
            }
            Some(ContainerChoice::Auto(auto)) => {
                let at = format!("tools[{}].container", tool.map_or(0, |tool| tool.index));
                check_files(rules, owner, &auto.file_ids, &at).await?;
                workplace.set_memory(auto, rules.max_memory, &at)?;
                workplace.auto = auto.clone();
                workplace.container = seen.iter().rev().find_map(|id| workplace.find(id));
                workplace.is_lost = workplace.container.is_none() && !seen.is_empty();
                if workplace.container.is_none() {
                    workplace.session.clone_from(&rules.session);
                    workplace.container = workplace.of_session();
                }
                workplace.check_network(auto, &at)?;
            }
            // No code will run, but a message may still link to what earlier code made.
            None => workplace.container = seen.iter().rev().find_map(|id| workplace.find(id)),
        }
        if rules.strict
            && tool.is_some()
            && workplace.container.as_ref().is_some_and(|container| container.is_expired())
        {
            return Err(GateError::ContainerExpired);
        }
        if tool.is_some() {
            workplace.check_allowance()?;
        }
        Ok(workplace)
    }

    /// Later, code of this request waits its turn. Said now, while it is still a status of its own and nothing is paid for.
    fn check_allowance(&self) -> Result<()> {
        if let Some(limit) = self.allowance.executions
            && self.containers.executions().are_taken(&self.owner, Some(limit))
        {
            return Err(BackendError::TooManyExecutions { limit }.into());
        }
        if self.container.is_none() {
            self.containers.check_allowance(&self.owner, &self.allowance)?;
        }
        Ok(())
    }

    fn find(&self, id: &str) -> Option<Arc<Container>> {
        let id = ContainerId::parse(id).ok()?;
        self.containers.get(&self.owner, &id).ok()
    }

    /// One that may not be used any more is as good as none: the session gets a fresh one.
    fn of_session(&self) -> Option<Arc<Container>> {
        let found = self.containers.in_session(&self.owner, self.session.as_deref()?)?;
        (!self.strict || !found.is_expired()).then_some(found)
    }

    fn set_memory(&mut self, auto: &AutoContainer, most: u64, at: &str) -> Result<()> {
        let Some(name) = &auto.memory_limit else { return Ok(()) };
        let bytes = memory_bytes(name).unwrap_or(self.spec.limits.memory_bytes);
        let (who, most) = match self.allowance.memory_bytes {
            Some(own) if own < most => ("This key", own),
            _ => ("This server", most),
        };
        if bytes > most {
            let most = sandgate_core::human_bytes(most);
            let message = format!("{who} gives a container at most {most} of memory.");
            return Err(GateError::bad_value(format!("{at}.memory_limit"), message));
        }
        self.spec.limits.memory_bytes = bytes;
        Ok(())
    }

    fn check_network(&self, auto: &AutoContainer, at: &str) -> Result<()> {
        let Some(asked) = &auto.network else { return Ok(()) };
        let policy = Some(asked.policy.clone());
        let granted = match &self.container {
            // On the backend that it has, which need not be the one of a new container.
            Some(container) => self.containers.check_network(container, policy, &self.allowance),
            None => self.containers.network_within(policy, &self.allowance).map(|_| ()),
        };
        match granted {
            Ok(()) => Ok(()),
            Err(refused) => Err(GateError::bad_value(format!("{at}.network_policy"), format!("{refused}."))),
        }
    }

    /// The container if there is one already.
    pub(crate) fn known(&self) -> Option<&Arc<Container>> {
        self.container.as_ref()
    }

    /// Paths of the user's files that are in it, or will be.
    pub(crate) async fn input_paths(&self, store: &Store) -> Result<Vec<String>> {
        let mut paths = Vec::new();
        if let Some(container) = &self.container {
            let uploaded = store.container_files(container.id()).await?;
            let uploaded = uploaded.into_iter().filter(|file| file.source == "user").map(|file| file.path);
            paths.extend(uploaded.take(MOST_PATHS));
        }
        for id in &self.auto.file_ids {
            let file = store.file(&self.owner, id).await?;
            let path = InputFile::Stored { id: file.id, filename: file.filename }.path();
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        for input in &self.inputs {
            let path = input.path();
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        Ok(paths)
    }

    /// The container, made now if it has to be, with the files of the request in it.
    pub(crate) async fn ready(&mut self) -> Result<Arc<Container>> {
        let container = match &self.container {
            Some(container) => {
                self.apply_network(container).await?;
                Arc::clone(container)
            }
            None => {
                let container = match self.session.clone() {
                    Some(session) => self.share(&session).await?,
                    None => {
                        let made = self.make(self.new_container(), None).await?;
                        self.is_fresh = true;
                        made
                    }
                };
                self.container = Some(Arc::clone(&container));
                container
            }
        };
        if !self.is_ready {
            for id in &self.auto.file_ids {
                self.files.place(&container, &self.owner, id).await?;
            }
            for input in &self.inputs {
                input.place(&container, &self.owner, &self.files).await?;
            }
            self.is_ready = true;
        }
        Ok(container)
    }

    fn new_container(&self) -> NewContainer {
        NewContainer {
            owner: self.owner.clone(),
            name: Some("auto".to_owned()),
            spec: self.spec.clone(),
            memory_limit: self.auto.memory_limit.clone(),
            network: self.auto.network.as_ref().map(|asked| asked.policy.clone()),
            network_policy: self.auto.network.as_ref().map(|asked| asked.said.clone()),
            session: self.session.clone(),
            allowance: Arc::clone(&self.allowance),
            ..NewContainer::default()
        }
    }

    /// The container of a session, made now unless another request of the session was faster.
    async fn share(&self, session: &str) -> Result<Arc<Container>> {
        let lock = self.session_locks.lock(&self.owner, session).await;
        match self.of_session() {
            Some(found) => {
                self.apply_network(&found).await?;
                Ok(found)
            }
            None => self.make(self.new_container(), Some(lock)).await,
        }
    }

    /// A container of earlier calls reaches what this request says, once it says anything.
    async fn apply_network(&self, container: &Arc<Container>) -> Result<()> {
        let Some(asked) = self.auto.network.as_ref().filter(|_| !self.is_ready) else { return Ok(()) };
        let (policy, said) = (Some(asked.policy.clone()), Some(asked.said.clone()));
        Ok(self.containers.set_network(container, policy, said, &self.allowance).await?)
    }

    /// For the model, once: what it made before is gone.
    pub(crate) fn take_loss(&mut self) -> Option<&'static str> {
        let lost = std::mem::take(&mut self.is_lost);
        lost.then_some("the container of the earlier calls is gone: this is a new one, without their variables and files")
    }

    /// Makes it in a task of its own: a run that is stopped meanwhile must not leave half a sandbox, nor
    /// a whole one that nobody knows of. One of a session stays: other requests may have found it by now.
    /// `lock`: of that session, held until there is something to be found.
    async fn make(&self, new: NewContainer, lock: Option<OwnedMutexGuard<()>>) -> Result<Arc<Container>> {
        let (sender, receiver) = oneshot::channel();
        let containers = Arc::clone(&self.containers);
        let owner = self.owner.clone();
        self.tasks.spawn(async move {
            let is_shared = new.session.is_some();
            let made = containers.create(new).await;
            drop(lock);
            if let Err(Ok(unwanted)) = sender.send(made)
                && !is_shared
                && let Err(error) = containers.delete(&owner, unwanted.id()).await
            {
                tracing::warn!(container = %unwanted.id(), %error, "a container nobody uses could not be removed");
            }
        });
        Ok(receiver.await.map_err(|_| GateError::Cancelled)??)
    }

    /// The client left before it could hear of a container that was made for it alone: it goes.
    pub(crate) async fn abandon(self) {
        if let (true, Some(container)) = (self.is_fresh, self.container)
            && let Err(error) = self.containers.delete(&self.owner, container.id()).await
            && !matches!(error, BackendError::NoSuchContainer(_))
        {
            tracing::warn!(container = %container.id(), %error, "a container nobody uses could not be removed");
        }
    }
}

async fn check_files(rules: &WorkplaceRules, owner: &Owner, ids: &[String], at: &str) -> Result<()> {
    for (index, id) in ids.iter().enumerate() {
        match rules.store.file(owner, id).await {
            Ok(_) => {}
            Err(StoreError::NotFound) => {
                return Err(GateError::Invalid {
                    message: format!("File with id '{id}' not found."),
                    param: Some(format!("{at}.file_ids[{index}]")),
                    code: Some("file_not_found"),
                });
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "workplace_tests.rs"]
mod tests;
