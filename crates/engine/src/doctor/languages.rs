//! The languages beside Python: each that is installed runs a cell in a sandbox of its own.

use std::path::Path;

use sandgate_core::{Backend, Ending, ExecuteRequest, Outcome, Result, SandboxSpec};

use super::Check;
use crate::Engine;
use crate::runtime::languages::{Language, State, Tool, state};

const GROUP: &str = "runtime";

pub(super) async fn checks(engine: &Engine, runtimes: &Path) -> Vec<Check> {
    let mut checks = vec![tried(engine, Language::Bash, "the system's".to_owned()).await];
    for tool in Tool::ALL {
        checks.push(match (state(runtimes, tool), tool.languages().next()) {
            (State::Ready(ready), Some(language)) => tried(engine, language, ready.version).await,
            (State::Outdated, _) => not_there(tool, "made by another version of sandgate"),
            (State::Broken, _) => not_there(tool, "not whole"),
            (State::Missing | State::Ready(_), _) => not_there(tool, "not installed"),
        });
    }
    checks
}

fn not_there(tool: Tool, why: &str) -> Check {
    let mut check = Check::off(GROUP, tool.name(), why);
    check.remedy = Some(format!("sandgate runtime add {tool}"));
    check
}

async fn tried(engine: &Engine, language: Language, version: String) -> Check {
    let name = language.tool().map_or(language.name(), Tool::name);
    match answers(engine, language).await {
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

async fn answers(engine: &Engine, language: Language) -> Result<Outcome> {
    let code = match language {
        Language::Bash => "true",
        Language::Python
        | Language::JavaScript
        | Language::TypeScript
        | Language::Java
        | Language::Go
        | Language::R => "6*7",
    };
    let sandbox = engine.create(SandboxSpec::default()).await?;
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
