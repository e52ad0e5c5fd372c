//! Which models the gate stands in front of: the configuration's, the environment's, or the built-in
//! stand-in.

use std::collections::BTreeMap;
use std::sync::Arc;

use sandgate_gate::upstream::{Member, Routes};

use super::connect::{Connected, connect, loopback};
use super::errors::Problem;
use super::file::{ConfigFile, ModelFile, UpstreamFile};
use super::key_path::KeyPath;
use super::secrets::SecretText;

const OPENAI: &str = "https://api.openai.com/v1";

/// Upstreams, connected, and a line for each that says what it is.
#[derive(Debug)]
pub(crate) struct Upstreams {
    pub(crate) routes: Arc<Routes>,
    pub(crate) said: Vec<String>,
}

impl Upstreams {
    pub(crate) fn of(file: &ConfigFile) -> Result<Self, Problem> {
        if file.upstream.is_some() && !file.upstreams.is_empty() {
            let message = "there is 'upstreams' too; put this one into it, under a name";
            return Err(Problem::at(KeyPath::of("upstream"), message));
        }
        let mut connected = BTreeMap::new();
        for (name, upstream) in &file.upstreams {
            let path = upstream.origin.clone().unwrap_or_else(|| KeyPath::of("upstreams").key(name));
            connected.insert(name.as_str(), connect(upstream, &path)?);
        }
        if let Some(upstream) = &file.upstream {
            connected.insert("upstream", connect(upstream, &KeyPath::of("upstream"))?);
        }
        if connected.is_empty() {
            let (lone, said) = from_environment()?;
            return if file.models.is_empty() {
                Ok(Self { routes: Arc::new(Routes::lone(lone.upstream)), said: vec![said] })
            } else {
                connected.insert("upstream", lone);
                Self::named(&file.models, &connected)
            };
        }
        if !file.models.is_empty() {
            return Self::named(&file.models, &connected);
        }
        let mut all = connected.into_values();
        match (all.next(), all.next()) {
            (Some(lone), None) => Ok(Self {
                said: vec![format!("models come from {}", lone.said)],
                routes: Arc::new(Routes::lone(lone.upstream)),
            }),
            _ => Err(Problem::at(
                KeyPath::of("upstreams"),
                "there are several, so 'models' must say which of them has which model",
            )),
        }
    }

    fn named(models: &[ModelFile], connected: &BTreeMap<&str, Connected>) -> Result<Self, Problem> {
        let mut members = Vec::new();
        let mut said = Vec::new();
        for (number, model) in models.iter().enumerate() {
            let path = KeyPath::of("models").index(number);
            let its = its_upstream(model, connected, &path)?;
            check_name(model, &path)?;
            let known_as = model.model.as_deref().map(|name| format!(" as '{name}'")).unwrap_or_default();
            said.push(format!("model '{}' comes{known_as} from {}", model.name, its.said));
            let member = Member::new(Arc::clone(&its.upstream), model.model.clone(), model.rounds)
                .on_backend(model.backend.clone());
            members.push((model.name.clone(), member));
        }
        let mut all = connected.values();
        let lone = all.next().filter(|_| connected.len() == 1).map(|lone| Arc::clone(&lone.upstream));
        Ok(Self { routes: Arc::new(Routes::named(members, lone)), said })
    }
}

fn its_upstream<'a>(
    model: &ModelFile,
    connected: &'a BTreeMap<&str, Connected>,
    path: &KeyPath,
) -> Result<&'a Connected, Problem> {
    let names = || connected.keys().copied().collect::<Vec<_>>().join(", ");
    match &model.upstream {
        Some(name) => connected.get(name.as_str()).ok_or_else(|| {
            let message = format!("there is no upstream '{name}'; there is: {}", names());
            Problem::at(path.key("upstream"), message)
        }),
        None => connected.values().next().filter(|_| connected.len() == 1).ok_or_else(|| {
            Problem::at(path.clone(), format!("'upstream' must say which upstream has it: {}", names()))
        }),
    }
}

fn check_name(model: &ModelFile, path: &KeyPath) -> Result<(), Problem> {
    let refuse = |key: &str, message: &str| Err(Problem::at(path.key(key), message));
    let starred = |text: &str| text.strip_suffix('*').unwrap_or(text).contains('*');
    if model.name.trim().is_empty() {
        return refuse("name", "a name is wanted");
    }
    if starred(&model.name) {
        return refuse("name", "a star can only stand at the end");
    }
    if let Some(known_as) = &model.model {
        if known_as.trim().is_empty() {
            return refuse("model", "a name is wanted");
        }
        if starred(known_as) || (known_as.ends_with('*') && !model.name.ends_with('*')) {
            return refuse("model", "a star can only stand at the end, and only where 'name' has one");
        }
    }
    if model.rounds == Some(0) {
        return refuse("rounds", "must be at least 1");
    }
    Ok(())
}

/// The upstream, and the sentence that says why it is this one.
fn from_environment() -> Result<(Connected, String), Problem> {
    if std::env::var("OPENAI_API_KEY").is_ok_and(|key| !key.trim().is_empty()) {
        let key = Some(SecretText::new("env:OPENAI_API_KEY"));
        let openai = UpstreamFile { url: Some(OPENAI.to_owned()), key, ..UpstreamFile::default() };
        let connected =
            connect(&openai, &KeyPath::default()).map_err(|problem| Problem::elsewhere(problem.message))?;
        let said = format!("models come from {}", connected.said);
        return Ok((connected, said));
    }
    let said = "no model is configured: answering with loopback, which runs the fenced code of the last \
                message and is no model; set OPENAI_API_KEY or 'upstream' in the configuration for a real one";
    Ok((loopback(), said.to_owned()))
}

#[cfg(test)]
#[path = "upstreams_tests.rs"]
mod tests;
