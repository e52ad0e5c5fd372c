//! The log: to standard error, at the level `RUST_LOG` asks for, else the configuration. It never holds code
//! or its output.

use std::io::IsTerminal;
use std::sync::OnceLock;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Registry, fmt, reload};

static FILTER: OnceLock<reload::Handle<EnvFilter, Registry>> = OnceLock::new();
const USUAL: &str = "info";

/// A server tells what it does; a command only what went wrong.
pub(crate) fn start(server: bool) {
    let default = if server { USUAL } else { "error" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let (filter, handle) = reload::Layer::new(filter);
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    tracing_subscriber::registry().with(filter).with(lines).init();
    let _ = FILTER.set(handle);
}

/// What the configuration asks for; the environment goes before it.
pub(crate) fn set_level(asked: Option<&str>) {
    if EnvFilter::try_from_default_env().is_ok() {
        return;
    }
    let Ok(filter) = EnvFilter::try_new(asked.unwrap_or(USUAL)) else { return };
    if let Some(handle) = FILTER.get() {
        // It fails only when there is no log any more.
        let _ = handle.reload(filter);
    }
}
