//! The contexts of a remote sandbox, and the end of their interpreters.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use sandgate_core::{BackendError, ContextId, ExecuteRequest, Result, SandboxPath};

use super::context::{Context, DEFAULT_LANGUAGE, Interpreted};
use super::look::Looked;
use super::record::ContextRecord;
use super::sandbox::{At, Inner};
use crate::ProviderError;

/// What an interpreter that had to end took with it.
#[derive(Debug)]
pub(super) enum Ended {
    Interpreter,
    /// It could not be ended in any other way. The last look at its files, where there was one.
    Sandbox(Option<Looked>),
}

impl Ended {
    pub(super) fn text(&self) -> &'static str {
        match self {
            Self::Interpreter | Self::Sandbox(Some(_)) => "variables are gone, files are kept",
            Self::Sandbox(None) => "variables are gone, and so are files that this run made",
        }
    }
}

impl Inner {
    pub(super) fn lock_contexts(&self) -> MutexGuard<'_, BTreeMap<ContextId, Arc<Context>>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn context(&self, id: &ContextId) -> Result<Arc<Context>> {
        self.lock_contexts().get(id).cloned().ok_or_else(|| BackendError::NoSuchContext(id.clone()))
    }

    /// As they are written down: the oldest first.
    pub(super) fn recorded_contexts(&self, with_interpreters: bool) -> Vec<ContextRecord> {
        let mut contexts: Vec<_> = self.lock_contexts().values().cloned().collect();
        contexts.sort_by_key(|context| context.number);
        contexts.iter().map(|context| context.record(with_interpreters)).collect()
    }

    pub(super) fn language(&self, asked: Option<&str>) -> Result<String> {
        let there = self.shared.provider.capabilities().languages;
        let language = asked.unwrap_or(DEFAULT_LANGUAGE);
        if there.contains(&language) {
            return Ok(language.to_owned());
        }
        Err(BackendError::NoSuchLanguage { language: language.to_owned(), available: there.join(", ") })
    }

    pub(super) fn add_context(
        &self,
        id: Option<ContextId>,
        language: String,
        cwd: Option<String>,
    ) -> Result<Arc<Context>> {
        let mut contexts = self.lock_contexts();
        let id = match id {
            Some(id) if contexts.contains_key(&id) => return Err(BackendError::ContextExists(id)),
            Some(id) => id,
            None => ContextId::parse(&format!("ctx_{}", sandgate_core::random_hex(8)))?,
        };
        if !self.shared.provider.capabilities().contexts && !contexts.is_empty() {
            return Err(BackendError::Unsupported("a second context"));
        }
        let limit = self.spec.limits.contexts;
        if contexts.len() >= limit as usize {
            return Err(BackendError::TooManyContexts { limit });
        }
        let number = contexts.values().map(|context| context.number + 1).max().unwrap_or_default();
        let usual = || self.spec.working_dir.as_deref().unwrap_or(SandboxPath::WORKING_DIR).to_owned();
        let context = Arc::new(Context::new(id.clone(), language, cwd.unwrap_or_else(usual), number));
        contexts.insert(id, Arc::clone(&context));
        Ok(context)
    }

    /// The one that a request means.
    pub(super) fn meant(&self, request: &ExecuteRequest) -> Result<Arc<Context>> {
        if let Some(id) = &request.context
            && *id != ContextId::default_context()
        {
            let context = self.context(id)?;
            return match &request.language {
                Some(language) if *language != context.language => Err(BackendError::Invalid(format!(
                    "context '{id}' runs {}, not {language}",
                    context.language
                ))),
                _ => Ok(context),
            };
        }
        let language = self.language(request.language.as_deref())?;
        let id = if language == DEFAULT_LANGUAGE {
            ContextId::default_context()
        } else {
            ContextId::parse(&format!("default-{language}"))?
        };
        if let Ok(context) = self.context(&id) {
            return Ok(context);
        }
        match self.add_context(Some(id), language, None) {
            // Somebody else was first meanwhile.
            Err(BackendError::ContextExists(id)) => self.context(&id),
            added => added,
        }
    }

    /// Ends the interpreter of a context. What runs in it is stopped.
    pub(super) async fn end_interpreter(&self, context: &Context) {
        let Some(Interpreted { remote, generation, .. }) = context.take_interpreter() else { return };
        let Some(at) = self.current().await.filter(|at| at.generation == generation) else { return };
        let ended = match &remote {
            Some(id) => at.place.delete_context(id).await,
            None => at.place.interrupt(None).await,
        };
        if let Err(error) = ended {
            tracing::debug!(sandbox = %self.id, %error, "a context could not be ended at the provider");
        }
    }

    /// The same for code that must not run on: where there is no other way, its sandbox goes with it.
    pub(super) async fn end_by_force(&self, at: &At, remote: Option<&str>) -> Ended {
        let ended = match remote {
            Some(context) => at.place.delete_context(context).await,
            // Programs without an interpreter end by themselves, when their time is over.
            None if !self.shared.provider.capabilities().stateless.is_empty() => Ok(()),
            None => Err(ProviderError::Unsupported("ending the only interpreter")),
        };
        match ended {
            // It is gone already.
            Ok(()) | Err(ProviderError::NoSuchContext) => Ended::Interpreter,
            Err(ProviderError::Lost) => {
                self.lose(at.generation).await;
                Ended::Sandbox(None)
            }
            Err(error) => {
                tracing::warn!(sandbox = %self.id, %error, "an interpreter could not be ended, so its sandbox is");
                let looked = self.last_look(at).await;
                self.abandon(at).await;
                Ended::Sandbox(looked)
            }
        }
    }
}

#[cfg(test)]
#[path = "contexts_tests.rs"]
mod tests;
