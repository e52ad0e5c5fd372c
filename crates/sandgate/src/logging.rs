//! The log: to standard error, at the level `RUST_LOG` asks for. It never holds code or its output.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// A server tells what it does; a command only what went wrong.
pub(crate) fn start(server: bool) {
    let default = if server { "info" } else { "error" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}
