//! The peer: LiteLLM's proxy with its own interception of `code_interpreter`, one worker, as it comes.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::json;

use super::server::{Server, free_address};
use crate::ground::Ground;
use crate::run::must;
use crate::runtime;
use crate::say::say;

pub(super) const PACKAGE: &str = "litellm[proxy]==1.105.3";
pub(super) const KEY: &str = "sk-bench-7d1f0c52b9e84a36";
const MODELS: [&str; 5] = ["plain-0", "plain-60", "chunks-0", "code-0", "code-60"];

/// Installed if need be. The error says why it cannot be measured here.
pub(super) async fn start(ground: &Ground, mock: SocketAddr) -> Result<Server> {
    let venv = install(ground).context("it could not be installed")?;
    let folder = ground.target.join("bench-gate");
    fs::create_dir_all(&folder)?;
    let config = folder.join("litellm.yaml");
    // JSON is YAML.
    fs::write(&config, configuration(mock).to_string())?;
    let address = free_address()?;
    let mut command = Command::new(venv.join("bin/litellm"));
    command.args(["--host", "127.0.0.1", "--port", &address.port().to_string(), "--num_workers", "1"]);
    command.arg("--config").arg(&config).current_dir(&folder);
    // Neither prices nor news from the network, no debugging output.
    command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("LITELLM_LOG", "ERROR").env("DO_NOT_TRACK", "1");
    command.env_remove("OPENAI_API_KEY").env_remove("DATABASE_URL");
    let started = Server::start(command, &folder.join("litellm.log"), address, "/health/liveliness").await;
    started.context("it could not be started")
}

fn configuration(mock: SocketAddr) -> serde_json::Value {
    let base = format!("http://{mock}/v1");
    let model = |name: &str| {
        json!({"model_name": name, "litellm_params":
            {"model": format!("openai/{name}"), "api_base": base, "api_key": "sk-upstream"}})
    };
    json!({
        "model_list": MODELS.map(model),
        "sandbox_tools": [{"sandbox_tool_name": "instant",
            "litellm_params": {"sandbox_provider": "opensandbox", "api_key": "any", "api_base": base}}],
        "litellm_settings": {
            "callbacks": ["code_interpreter_interception"],
            "code_interpreter_interception_params": {"enabled": true, "sandbox_tool_name": "instant"},
            "telemetry": false,
        },
        "general_settings": {"master_key": KEY},
    })
}

fn install(ground: &Ground) -> Result<PathBuf> {
    let folder = ground.target.join("bench-litellm-venv");
    let mark = folder.join("made-of");
    if fs::read_to_string(&mark).is_ok_and(|text| text == PACKAGE) {
        return Ok(folder);
    }
    say("installing LiteLLM, once");
    let interpreter = runtime::shared(ground)?.interpreter;
    make(&folder, &interpreter)?;
    fs::write(mark, PACKAGE)?;
    Ok(folder)
}

fn make(folder: &Path, interpreter: &Path) -> Result<()> {
    let mut venv = Command::new(interpreter);
    venv.args(["-I", "-m", "venv", "--clear"]).arg(folder);
    must(venv)?;
    let mut pip = Command::new(folder.join("bin/python3"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE]);
    must(pip)
}
