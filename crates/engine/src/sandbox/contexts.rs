//! The contexts of a sandbox, and the way of code into one.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use sandgate_core::{
    BackendError, ContextId, ContextInfo, ContextSpec, ExecuteRequest, Execution, ExecutionHandle, Result,
    SandboxPath, random_hex,
};
use tokio::sync::mpsc;

use super::EngineSandbox;
use super::context::Context;
use super::language::{default_context, language_of_default, other_language};
use crate::runtime::languages::Language;

/// Events that may wait for a slow reader before the code has to.
const EVENTS_AHEAD: usize = 256;
/// Bytes of the variables that one run may bring with it.
const MAX_RUN_ENV: usize = 1 << 20;

/// Variables that no process could have are refused before a kernel meets them.
fn check_env(env: &[(String, String)]) -> Result<()> {
    let size: usize = env.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > MAX_RUN_ENV {
        let text = format!("the variables of a run are {size} bytes long; the limit is {MAX_RUN_ENV}");
        return Err(BackendError::Invalid(text));
    }
    let bad = env
        .iter()
        .find(|(name, value)| name.is_empty() || name.contains(['=', '\0']) || value.contains('\0'));
    match bad {
        Some((name, _)) => {
            let name: String = name.chars().take(100).collect();
            Err(BackendError::Invalid(format!("{name:?} cannot be an environment variable with this value")))
        }
        None => Ok(()),
    }
}

impl EngineSandbox {
    pub(super) fn lock_contexts(&self) -> MutexGuard<'_, HashMap<ContextId, Arc<Context>>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where contexts work that were not given a folder of their own.
    pub(super) fn working_dir(&self) -> &str {
        self.spec.working_dir.as_deref().unwrap_or(SandboxPath::WORKING_DIR)
    }

    /// The context an execution means; the default one of a language is made on first use.
    pub(super) fn context(&self, id: Option<&ContextId>, language: Option<&str>) -> Result<Arc<Context>> {
        if self.stopped.load(Ordering::Acquire) {
            return Err(BackendError::NoSuchSandbox(self.volume.id.clone()));
        }
        let language =
            language.or_else(|| language_of_default(id?)).map(|name| self.language(name)).transpose()?;
        let named = id.filter(|id| **id != ContextId::default_context() && language_of_default(id).is_none());
        let chosen = language.unwrap_or((Language::Python, None));
        let default = default_context(chosen.0);
        let mut contexts = self.lock_contexts();
        let context = match (named, contexts.get(named.unwrap_or(&default))) {
            (_, Some(context)) => Arc::clone(context),
            (None, None) => {
                let (cwd, number) = (None, self.number_of_default(chosen.0));
                let context = Arc::new(Context::new(default.clone(), chosen, cwd, number, self.revived));
                contexts.insert(default, Arc::clone(&context));
                context
            }
            (Some(id), None) => return Err(BackendError::NoSuchContext(id.clone())),
        };
        match language {
            Some((asked, _)) if asked != context.language => Err(other_language(&context, asked)),
            _ => self.check_runtime(&context).map(|()| context),
        }
    }

    pub(super) fn make_context(&self, spec: ContextSpec) -> Result<ContextInfo> {
        let implied = spec.id.as_ref().and_then(language_of_default);
        let language = spec.language.as_deref().or(implied).unwrap_or(Language::Python.name());
        let chosen = self.language(language)?;
        let cwd = spec.cwd.as_deref().map(SandboxPath::parse).transpose()?;
        let id = spec.id.map_or_else(|| ContextId::parse(&format!("ctx_{}", random_hex(8))), Ok)?;
        let mut contexts = self.lock_contexts();
        let limit = self.spec.limits.contexts;
        if contexts.len() >= usize::try_from(limit).unwrap_or(usize::MAX) {
            return Err(BackendError::TooManyContexts { limit });
        }
        if contexts.contains_key(&id) {
            return Err(BackendError::ContextExists(id));
        }
        let number = self.made_contexts.fetch_add(1, Ordering::Relaxed) + 1;
        let cwd = cwd.map(|cwd| cwd.to_string());
        let context = Arc::new(Context::new(id.clone(), chosen, cwd, number, /* had_variables */ false));
        self.check_runtime(&context)?;
        let info = context.info(self);
        contexts.insert(id, context);
        Ok(info)
    }

    pub(super) fn list_contexts(&self) -> Vec<ContextInfo> {
        let mut all: Vec<_> = self.lock_contexts().values().cloned().collect();
        all.sort_by_key(|context| context.number);
        all.iter().map(|context| context.info(self)).collect()
    }

    pub(super) async fn end_context(&self, id: &ContextId) -> Result<()> {
        let context =
            self.lock_contexts().remove(id).ok_or_else(|| BackendError::NoSuchContext(id.clone()))?;
        context.close();
        context.end().await;
        Ok(())
    }

    pub(super) fn start_execution(&self, request: ExecuteRequest) -> Result<Execution> {
        check_env(&request.env)?;
        let size = request.code.len() as u64;
        let limit = self.spec.limits.code_bytes;
        if size > limit {
            return Err(BackendError::CodeTooLarge { size, limit });
        }
        let context = self.context(request.context.as_ref(), request.language.as_deref())?;
        let (events, receiver) = mpsc::channel(EVENTS_AHEAD);
        let (handle, stops) = ExecutionHandle::new();
        let sandbox = self.shared.live(&self.volume.id)?;
        let turn = context.queue_up();
        self.shared.tasks.spawn(async move { context.execute(&sandbox, turn, request, events, stops).await });
        Ok(Execution { events: receiver, handle })
    }
}
