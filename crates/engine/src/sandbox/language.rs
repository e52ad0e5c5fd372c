//! Which language a context has: whether it is there, in the version that the sandbox asks for.

use std::sync::atomic::Ordering;

use sandgate_core::{BackendError, ContextId, Result};

use super::EngineSandbox;
use super::context::Context;
use crate::runtime::languages::{Language, State, Tool, state, version_of};

/// Where code goes that names a language and no context. `default` is Python's, and the others stand beside it.
pub(super) fn default_context(language: Language) -> ContextId {
    let plain = ContextId::default_context();
    match language {
        Language::Python => plain,
        other => ContextId::parse(&format!("{plain}-{other}")).unwrap_or(plain),
    }
}

/// The language whose default context has this name.
pub(super) fn language_of_default(id: &ContextId) -> Option<&'static str> {
    Language::ALL.into_iter().find(|language| default_context(*language) == *id).map(Language::name)
}

pub(super) fn other_language(context: &Context, asked: Language) -> BackendError {
    let (id, language) = (context.id(), context.language);
    BackendError::Invalid(format!(
        "context '{id}' runs {language}, not {asked}; name another context, or none"
    ))
}

impl EngineSandbox {
    /// By its name or an alias; its runtime must be there.
    pub(super) fn language(&self, name: &str) -> Result<Language> {
        let Some(language) = Language::parse(name) else { return Err(self.no_such(name, None)) };
        match language.tool() {
            Some(tool) if !matches!(self.runtime(tool), State::Ready(_)) => {
                Err(self.no_such(name, Some(tool)))
            }
            _ => Ok(language),
        }
    }

    fn runtime(&self, tool: Tool) -> State {
        state(&self.shared.runtimes, tool)
    }

    /// What there is, and for a language that there could be, how to have it.
    fn no_such(&self, name: &str, tool: Option<Tool>) -> BackendError {
        let there = |language: &Language| {
            language.tool().is_none_or(|tool| matches!(self.runtime(tool), State::Ready(_)))
        };
        let names: Vec<&str> = Language::ALL.iter().filter(|one| there(one)).map(|one| one.name()).collect();
        let mut available = names.join(", ");
        if let Some(tool) = tool {
            available.push_str(&format!("; the operator can add it with: sandgate runtime add {tool}"));
        }
        BackendError::NoSuchLanguage { language: name.chars().take(100).collect(), available }
    }

    /// `JAVA_VERSION` and the like among the sandbox's variables choose a version of those that are installed.
    pub(super) fn check_version(&self, language: Language) -> Result<()> {
        let Some(variable) = language.version_variable() else { return Ok(()) };
        let asked = self.spec.env.iter().rev().find(|(name, _)| name == variable);
        let Some((_, wanted)) = asked.filter(|(_, wanted)| !wanted.trim().is_empty()) else { return Ok(()) };
        let version = match language.tool().map(|tool| self.runtime(tool)) {
            None => self.shared.python_version.clone(),
            Some(State::Ready(installed)) => installed.version,
            Some(State::Outdated | State::Broken | State::Missing) => {
                return Err(self.no_such(language.name(), language.tool()));
            }
        };
        if version_of(&version, wanted) {
            return Ok(());
        }
        let (wanted, title): (String, _) = (wanted.chars().take(100).collect(), language.title());
        let text =
            format!("{variable} asks for {title} {wanted}, which is not installed here; there is: {version}");
        Err(BackendError::Invalid(text))
    }

    /// Python's default context comes first, those of other languages in the order of their making.
    pub(super) fn number_of_default(&self, language: Language) -> u64 {
        if language == Language::Python { 0 } else { self.made_contexts.fetch_add(1, Ordering::Relaxed) + 1 }
    }
}
