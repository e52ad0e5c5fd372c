//! The helper before it is inside: makes the engine's namespaces, then runs itself again in them.

use std::convert::Infallible;
use std::os::fd::AsFd;

use sandgate_jail::message::Channel;
use sandgate_jail::process::{EngineNamespaces, SingleThreaded, enter_engine_namespaces, run_again_as};
use sandgate_jail::{Result, StepError, sys};

use super::INSIDE;
use super::setup::Setup;

/// The engine's end of the socket is descriptor 0.
pub(super) fn control_channel() -> Result<Channel> {
    let socket = std::io::stdin().as_fd().try_clone_to_owned();
    socket.map(Channel::new).map_err(|error| StepError::new("taking the control socket", error))
}

pub(super) fn run() -> Result<Infallible> {
    let gone = || StepError::new("starting the helper", std::io::ErrorKind::UnexpectedEof.into());
    let channel = control_channel()?;
    // Away from the server's terminal: Ctrl-C there is for the server to handle.
    sys::new_session()?;
    sys::usual_umask();
    // When the host runs out of memory, sandboxes are to go before the server. Not every host lets us say so.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    let setup = Setup::parse(&channel.receive()?.ok_or_else(gone)?)?;
    let engine = EngineNamespaces {
        by_root: setup.by_root,
        scratch: &setup.scratch,
        volumes: &setup.volumes,
        runtime: &setup.mounts,
        layers: setup.layers,
    };
    let alone = SingleThreaded::check()?;
    let entered = enter_engine_namespaces(&alone, &engine, || {
        channel.send(&["map"], &[])?;
        channel.receive()?.ok_or_else(gone).map(drop)
    });
    if let Err(error) = entered {
        channel.send(&["failed", &error.to_string()], &[])?;
        return Err(error);
    }
    let layers = setup.layers.bits().to_string();
    run_again_as(INSIDE, &[&layers])
}
