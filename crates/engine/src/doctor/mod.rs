//! What this machine gives, tried out rather than asked for: a real engine is started, and code inside real
//! sandboxes reports what it can and cannot do.

mod host;
mod inside;
mod languages;
mod limits;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use sandgate_core::Backend;

use crate::runtime::Progress;
use crate::{Engine, EngineConfig, LimitsBy, StartError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    On,
    /// Not there, and not required; or not tried because something before it is missing.
    Off,
    /// Required, and not there.
    Missing,
}

#[derive(Clone, Debug)]
pub struct Check {
    pub name: Cow<'static, str>,
    pub group: &'static str,
    pub state: State,
    pub detail: String,
    pub remedy: Option<String>,
}

impl Check {
    fn on(group: &'static str, name: &'static str, detail: impl Into<String>) -> Self {
        Self { name: name.into(), group, state: State::On, detail: detail.into(), remedy: None }
    }

    fn missing(group: &'static str, name: &'static str, detail: impl Into<String>, remedy: &str) -> Self {
        let remedy = (!remedy.is_empty()).then(|| remedy.to_owned());
        Self { name: name.into(), group, state: State::Missing, detail: detail.into(), remedy }
    }

    fn off(group: &'static str, name: &'static str, detail: impl Into<String>) -> Self {
        Self { name: name.into(), group, state: State::Off, detail: detail.into(), remedy: None }
    }
}

/// Runs every check; takes a few seconds. To be called in a multi-threaded runtime.
pub async fn run(home: &Path, helper: &Path, limits_by: LimitsBy, progress: &dyn Progress) -> Vec<Check> {
    let mut checks = host::checks(limits_by);
    let config = EngineConfig { limits_by, ..EngineConfig::new(home.to_owned(), helper.to_owned()) };
    match Engine::start(config, progress).await {
        Ok(engine) => {
            checks.push(Check::on("runtime", "python", engine.runtime().why.clone()));
            checks.extend(languages::checks(&engine, &home.join("runtimes")).await);
            let backend: Arc<dyn Backend> = Arc::clone(&engine) as Arc<dyn Backend>;
            checks.extend(inside::checks(&engine).await);
            checks.extend(limits::checks(&backend, limits_by).await);
            engine.shut_down().await;
        }
        Err(StartError::Runtime(error)) => {
            checks.push(Check::missing("runtime", "python", error.to_string(), ""));
            checks.push(Check::off("isolation", "sandbox", "not tried: there is no runtime to try it with"));
        }
        Err(error) => checks.push(Check::missing("isolation", "sandbox", error.to_string(), "")),
    }
    checks
}
