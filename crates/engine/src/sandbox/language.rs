//! Which language a context has: whether it is there, in the version that the sandbox asks for.

use std::path::Path;
use std::sync::atomic::Ordering;

use sandgate_core::{BackendError, ContextId, Result, SandboxSpec};

use super::EngineSandbox;
use super::context::Context;
use super::variables::PACKAGES;
use crate::helper::ZYGOTE_FOLDER;
use crate::runtime::VENV_INSIDE;
use crate::runtime::languages::{Edition, LANGUAGES_INSIDE, Language, State, Tool, ready, state, version_of};

/// A language, and which of its runtimes where it needs one.
pub(super) type Chosen = (Language, Option<Edition>);

/// Where code goes that names a language and no context.
pub(super) fn default_context(language: Language) -> ContextId {
    ContextId::default_of(language.name())
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

/// Commands that were installed inside, then those of the runtimes, ours, and the system's. A version that is not there has
/// no commands: those of another would be taken for it.
pub(super) fn path(runtimes: &Path, spec: &SandboxSpec) -> String {
    let of_tool = |tool: Tool| {
        let language = tool.languages().next()?;
        let chosen = match wanted(spec, language) {
            Some((_, wanted)) => choose(runtimes, tool, Some(wanted))?,
            None => tool.into(),
        };
        Some(format!("{LANGUAGES_INSIDE}/{chosen}/bin:"))
    };
    let tools: String = Tool::ALL.into_iter().filter_map(of_tool).collect();
    format!("{PACKAGES}/bin:{VENV_INSIDE}/bin:{tools}{ZYGOTE_FOLDER}/bin:/usr/bin:/bin")
}

/// `JAVA_VERSION` and the like among a sandbox's variables, and what it says.
fn wanted(spec: &SandboxSpec, language: Language) -> Option<(&'static str, &str)> {
    let variable = language.version_variable()?;
    let (_, wanted) = spec.env.iter().rev().find(|(name, _)| name == variable)?;
    Some((variable, wanted.trim())).filter(|(_, wanted)| !wanted.is_empty())
}

fn choose(runtimes: &Path, tool: Tool, wanted: Option<&str>) -> Option<Edition> {
    ready(runtimes, tool)
        .find(|(_, there)| wanted.is_none_or(|wanted| version_of(&there.version, wanted)))
        .map(|(edition, _)| edition)
}

fn how_to_add(edition: Edition) -> String {
    format!("; the operator can add it with: sandgate runtime add {edition}")
}

impl EngineSandbox {
    /// By its name or an alias; its runtime must be there, in the version that the sandbox asks for.
    pub(super) fn language(&self, name: &str) -> Result<Chosen> {
        let Some(language) = Language::parse(name) else { return Err(self.no_such(name, None)) };
        let Some(tool) = language.tool() else { return Ok((language, None)) };
        let wanted = wanted(&self.spec, language);
        if let Some(edition) = choose(&self.shared.runtimes, tool, wanted.map(|(_, wanted)| wanted)) {
            return Ok((language, Some(edition)));
        }
        match wanted {
            Some(wanted) if self.has(tool) => Err(self.no_such_version(language, wanted)),
            _ => Err(self.no_such(name, Some(tool))),
        }
    }

    /// In some version.
    fn installed(&self) -> impl Iterator<Item = &'static str> {
        let there = |language: &Language| language.tool().is_none_or(|tool| self.has(tool));
        Language::ALL.into_iter().filter(there).map(Language::name)
    }

    /// Those that run, in the version that the sandbox asks for.
    pub(super) fn runnable(&self) -> Vec<String> {
        let names = Language::ALL.into_iter().map(Language::name);
        names.filter(|name| self.language(name).is_ok()).map(str::to_owned).collect()
    }

    fn has(&self, tool: Tool) -> bool {
        ready(&self.shared.runtimes, tool).next().is_some()
    }

    /// What there is, and for a language that there could be, how to have it.
    fn no_such(&self, name: &str, tool: Option<Tool>) -> BackendError {
        let mut available = self.installed().collect::<Vec<_>>().join(", ");
        if let Some(tool) = tool {
            available.push_str(&how_to_add(tool.into()));
        }
        BackendError::NoSuchLanguage { language: name.chars().take(100).collect(), available }
    }

    fn no_such_version(&self, language: Language, (variable, wanted): (&str, &str)) -> BackendError {
        let tool = language.tool();
        let there = match tool {
            None => self.shared.python_version.clone(),
            Some(tool) => {
                let all = ready(&self.shared.runtimes, tool).map(|(_, there)| there.version);
                all.collect::<Vec<_>>().join(", ")
            }
        };
        let add = tool.and_then(|tool| Edition::for_version(tool, wanted)).map(how_to_add);
        let (shown, title): (String, _) = (wanted.chars().take(100).collect(), language.title());
        BackendError::Invalid(format!(
            "{variable} asks for {title} {shown}, which is not installed here; there is: {there}{}",
            add.unwrap_or_default()
        ))
    }

    /// Whether a context that is there can run: Python in the version asked for, another with its runtime in place.
    pub(super) fn check_runtime(&self, context: &Context) -> Result<()> {
        let (language, wanted) = (context.language, wanted(&self.spec, context.language));
        match (context.edition, wanted) {
            (Some(edition), _) if !matches!(state(&self.shared.runtimes, edition), State::Ready(_)) => {
                Err(self.no_such(language.name(), Some(edition.tool)))
            }
            (None, Some(wanted)) if !version_of(&self.shared.python_version, wanted.1) => {
                Err(self.no_such_version(language, wanted))
            }
            _ => Ok(()),
        }
    }

    /// Python's default context comes first, those of other languages in the order of their making.
    pub(super) fn number_of_default(&self, language: Language) -> u64 {
        if language == Language::Python { 0 } else { self.made_contexts.fetch_add(1, Ordering::Relaxed) + 1 }
    }
}
