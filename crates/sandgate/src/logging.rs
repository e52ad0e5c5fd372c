//! The log: to standard error, at the level `RUST_LOG` asks for, else the configuration, as lines for people
//! or for programs. It never holds code or its output.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing_subscriber::layer::{Layered, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt, reload};

use crate::config::LogFormat;

type Filtered = Layered<reload::Layer<EnvFilter, Registry>, Registry>;
type Lines = Box<dyn Layer<Filtered> + Send + Sync>;

static FILTER: OnceLock<reload::Handle<EnvFilter, Registry>> = OnceLock::new();
static LINES: OnceLock<reload::Handle<Lines, Filtered>> = OnceLock::new();
static IS_JSON: AtomicBool = AtomicBool::new(false);
const USUAL: &str = "info";

/// A server tells what it does; a command only what went wrong.
pub(crate) fn start(server: bool) {
    let default = if server { USUAL } else { "error" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let (filter, filter_handle) = reload::Layer::new(filter);
    let (lines, lines_handle) = reload::Layer::new(lines(LogFormat::Text));
    tracing_subscriber::registry().with(filter).with(lines).init();
    let _ = FILTER.set(filter_handle);
    let _ = LINES.set(lines_handle);
}

fn lines(format: LogFormat) -> Lines {
    let layer = fmt::layer().with_writer(std::io::stderr);
    match format {
        LogFormat::Text => Box::new(layer.with_ansi(std::io::stderr().is_terminal())),
        LogFormat::Json => Box::new(layer.json().flatten_event(true).with_span_list(false)),
    }
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

/// Whether every line is JSON.
pub(crate) fn is_for_programs() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

pub(crate) fn set_format(format: LogFormat) {
    IS_JSON.store(format == LogFormat::Json, Ordering::Relaxed);
    if let Some(handle) = LINES.get() {
        let _ = handle.reload(lines(format));
    }
}
