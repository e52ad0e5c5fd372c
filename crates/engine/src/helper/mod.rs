//! The helper processes the program starts of itself, chosen by argv\[0\] before any thread exists.

pub(crate) mod client;
mod inside;
mod outside;
mod setup;

pub(crate) use client::Helper;
pub(crate) use setup::{Setup, ZYGOTE_FOLDER, runtime_mounts};

/// argv\[0\] of the process that moves itself into namespaces.
pub(crate) const OUTSIDE: &str = "sandgate-helper";
/// argv\[0\] of the same program once it is inside and makes sandboxes.
const INSIDE: &str = "sandgate-spawner";

/// Call first thing in `main`: plays a helper role and never returns when this process was started as one.
pub fn run_role_if_asked() {
    let Some(name) = std::env::args_os().next() else { return };
    let outcome = match name.to_str() {
        Some(OUTSIDE) => outside::run().map(|never| match never {}),
        Some(INSIDE) => inside::run(),
        _ => return,
    };
    let code = match outcome {
        Ok(()) => 0,
        Err(error) => {
            let _ =
                sandgate_jail::sys::write_all(2, format!("{}: {error}\n", name.to_string_lossy()).as_bytes());
            70
        }
    };
    sandgate_jail::sys::exit_now(code);
}
