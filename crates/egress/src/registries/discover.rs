//! Which registries the operator's own tools use: asked of the tools themselves, so that sandboxes get packages from
//! where the operator does, mirrors and all.

use std::process::{Command, Stdio};

use super::RegistriesConfig;

/// pip's own words on where it looks: what is configured, else what it was built with.
const ASK_PIP: &str = "
import os, subprocess, sys
from pip._internal.models.index import PyPI
found = os.environ.get('PIP_INDEX_URL')
if not found:
    listed = subprocess.run([sys.executable, '-m', 'pip', 'config', 'list'], capture_output=True, text=True).stdout
    for place in (':env:', 'install', 'global'):
        for line in listed.splitlines():
            if not found and line.startswith(place + '.index-url='):
                found = line.split('=', 1)[1].strip('\\'\"')
print(found or PyPI.simple_url)
";

/// What npm and Go are built with. Sandboxes may have them where the host has not.
const NPM: &str = "https://registry.npmjs.org/";
const GO: &str = "https://proxy.golang.org";

/// Fills in what the configuration leaves open. Blocks while tools are asked: a second or so.
#[must_use]
pub fn discover(config: RegistriesConfig) -> RegistriesConfig {
    let web = |url: String| {
        // Go's is a list, of which the first is asked first.
        let first = url.split([',', '|']).next().unwrap_or_default().trim().to_owned();
        first.starts_with("http").then_some(first)
    };
    let ask = |program: &str, arguments: &[&str], usual: Option<&str>| {
        said(program, arguments).or_else(|| usual.map(ToOwned::to_owned)).and_then(web)
    };
    let told = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    RegistriesConfig {
        pip: config.pip.or_else(|| ask("python3", &["-c", ASK_PIP], None)),
        npm: config.npm.or_else(|| {
            let usual = told("NPM_CONFIG_REGISTRY");
            ask("npm", &["config", "get", "registry"], Some(usual.as_deref().unwrap_or(NPM)))
        }),
        go: config.go.or_else(|| {
            let usual = told("GOPROXY");
            ask("go", &["env", "GOPROXY"], Some(usual.as_deref().unwrap_or(GO)))
        }),
        ..config
    }
}

/// The one line a tool answers with; None if it is not there or has nothing to say.
fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let answer = Command::new(program)
        .args(arguments)
        .current_dir("/")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let line = String::from_utf8(answer.stdout).ok()?.trim().to_owned();
    (answer.status.success() && !line.is_empty()).then_some(line)
}
