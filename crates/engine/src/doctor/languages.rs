//! The languages beside Python: each that is installed runs a cell in a sandbox of its own.

use std::path::Path;

use sandgate_core::{Backend, Ending, ExecuteRequest, Outcome, Result, SandboxSpec};

use super::Check;
use crate::Engine;
use crate::runtime::languages::{Edition, Language, State, Tool, state};

const GROUP: &str = "runtime";

pub(super) async fn checks(engine: &Engine, runtimes: &Path) -> Vec<Check> {
    let bash = Language::Bash;
    let mut checks = vec![tried(engine, bash, bash.name(), "the system's".to_owned()).await];
    for edition in Tool::ALL.into_iter().flat_map(Edition::of) {
        checks.push(match (state(runtimes, edition), edition.tool.languages().next()) {
            (State::Ready(ready), Some(language)) => {
                tried(engine, language, edition.name(), ready.version).await
            }
            (State::Outdated, _) => not_there(edition, "made by another version of sandgate"),
            (State::Broken, _) => not_there(edition, "not whole"),
            // Versions that nobody asked for are nothing to tell.
            (State::Missing | State::Ready(_), _) if edition != edition.tool.into() => continue,
            (State::Missing | State::Ready(_), _) => not_there(edition, "not installed"),
        });
    }
    checks
}

fn not_there(edition: Edition, why: &str) -> Check {
    let mut check = Check::off(GROUP, edition.name(), why);
    check.remedy = Some(format!("sandgate runtime add {edition}"));
    check
}

async fn tried(engine: &Engine, language: Language, name: &'static str, version: String) -> Check {
    match answers(engine, language, &version).await {
        Ok(outcome) if outcome.ending == Ending::Ok => Check::on(GROUP, name, version),
        Ok(outcome) => {
            Check::missing(GROUP, name, format!("{version}: a cell failed: {}", outcome.text), &again(name))
        }
        Err(error) => Check::missing(GROUP, name, format!("{version}: {error}"), &again(name)),
    }
}

fn again(name: &str) -> String {
    format!("sandgate runtime remove {name} && sandgate runtime add {name}")
}

async fn answers(engine: &Engine, language: Language, version: &str) -> Result<Outcome> {
    let code = match language {
        Language::Bash => "true",
        Language::Python
        | Language::JavaScript
        | Language::TypeScript
        | Language::Java
        | Language::Go
        | Language::R => "6*7",
    };
    // Among several versions, the one that is meant.
    let env = language.version_variable().map(|name| (name.to_owned(), version.to_owned()));
    let spec = SandboxSpec { env: env.into_iter().collect(), ..SandboxSpec::default() };
    let sandbox = engine.create(spec).await?;
    let request = ExecuteRequest {
        code: code.to_owned(),
        language: Some(language.name().to_owned()),
        ..ExecuteRequest::default()
    };
    let outcome = match sandbox.execute(request).await {
        Ok(execution) => Outcome::collect(execution).await,
        Err(error) => Err(error),
    };
    engine.delete(sandbox.id()).await?;
    outcome
}
