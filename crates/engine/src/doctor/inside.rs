//! Isolation layers, each tried by code inside a sandbox.

use std::collections::BTreeMap;
use std::fs;

use sandgate_core::{Backend, ExecuteRequest, Outcome, Result, SandboxSpec};
use serde::Deserialize;
use serde_json::Value;

use super::Check;
use crate::Engine;

const GROUP: &str = "isolation";
const PROBE: &str = include_str!("inside.py");

/// Layers in the order they are shown, as the probe names them.
const LAYERS: [&str; 12] = [
    "namespaces",
    "ids",
    "read-only root",
    "nothing of the host",
    "no capabilities",
    "no new privileges",
    "seccomp",
    "Landlock",
    "no network",
    "own processes only",
    "masked /proc",
    "no inherited descriptors",
];

#[derive(Debug, Deserialize)]
struct Told {
    layer: String,
    on: bool,
    detail: Value,
}

pub(super) async fn checks(engine: &Engine) -> Vec<Check> {
    let (output, owner) = match probe(engine).await {
        Ok(told) => told,
        Err(error) => return vec![Check::missing(GROUP, "sandbox", error.to_string(), "")],
    };
    let told: BTreeMap<String, Told> = output
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Told>(line).ok())
        .map(|told| (told.layer.clone(), told))
        .collect();
    LAYERS.iter().map(|layer| judge(layer, told.get(*layer), &output, owner)).collect()
}

/// What the probe said, and the host's id of the user inside, read off a file it made.
async fn probe(engine: &Engine) -> Result<(Outcome, Option<u32>)> {
    let sandbox = engine.create(SandboxSpec::default()).await?;
    let request = ExecuteRequest { code: PROBE.to_owned(), ..ExecuteRequest::default() };
    let outcome = Outcome::collect(sandbox.execute(request).await?).await;
    let owner = engine.host_owner(sandbox.id(), "mnt/data/probe");
    engine.delete(sandbox.id()).await?;
    Ok((outcome?, owner))
}

fn judge(layer: &'static str, told: Option<&Told>, output: &Outcome, owner: Option<u32>) -> Check {
    let Some(told) = told else {
        let error = output.error.as_ref().map_or("the probe did not report it", |error| error.value.as_str());
        return Check::missing(GROUP, layer, error, "");
    };
    let (on, detail) = match (&told.detail, layer) {
        // Only outside can one tell whether a namespace is another one.
        (Value::Object(inside), _) => namespaces(inside),
        (detail, "ids") => {
            let host = owner.map_or("unknown".to_owned(), |id| id.to_string());
            let detail = format!("{}, {host} on the host", detail.as_str().unwrap_or_default());
            (told.on && owner.is_some_and(|id| id != 0), detail)
        }
        (detail, _) => (told.on, detail.as_str().unwrap_or_default().to_owned()),
    };
    if on { Check::on(GROUP, layer, detail) } else { Check::missing(GROUP, layer, detail, "") }
}

fn namespaces(inside: &serde_json::Map<String, Value>) -> (bool, String) {
    let own = |name: &str, link: &Value| {
        let host = fs::read_link(format!("/proc/self/ns/{name}")).unwrap_or_default();
        Some(host.to_string_lossy().as_ref()) != link.as_str()
    };
    let (separate, shared): (Vec<_>, Vec<_>) = inside.iter().partition(|(name, link)| own(name, link));
    let names = |list: &[(&String, &Value)]| {
        list.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    };
    if shared.is_empty() {
        return (true, format!("of its own: {}", names(&separate)));
    }
    (false, format!("shared with the host: {}", names(&shared)))
}
