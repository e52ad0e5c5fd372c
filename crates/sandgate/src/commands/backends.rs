//! How a command gets its backends: the engine of this program, and those of the configuration.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use sandgate_backends::{Fleet, Records, RemoteBackend};
use sandgate_core::Backend;
use sandgate_engine::lock_containers;

use super::{Purpose, start_engine};
use crate::config::BackendSettings;

/// All backends of a server, and what must be held while it lives.
#[derive(Debug)]
pub(crate) struct Backends {
    pub(crate) fleet: Arc<Fleet>,
    /// Without an engine, which holds it by itself, nothing else keeps a second server from the home.
    _lock: Option<File>,
}

pub(crate) async fn start_backends(
    home: &Path,
    settings: &BackendSettings,
    purpose: Purpose,
) -> Result<Backends> {
    let mut lock = None;
    let engine = if settings.embedded {
        Some(start_engine(purpose).await? as Arc<dyn Backend>)
    } else {
        lock = Some(lock_containers(home)?);
        None
    };
    let fleet = Arc::new(fleet(home, settings, engine).await?);
    Ok(Backends { fleet, _lock: lock })
}

/// The remote ones beside `embedded`.
pub(crate) async fn fleet(
    home: &Path,
    settings: &BackendSettings,
    embedded: Option<Arc<dyn Backend>>,
) -> Result<Fleet> {
    let mut fleet = Fleet::new(settings.default.clone(), embedded);
    if settings.remotes.is_empty() {
        return Ok(fleet);
    }
    let gate = Records::new(home).gate_id().await.context("cannot give this gate a name")?;
    for (name, remote) in &settings.remotes {
        let config = remote.config(name, &gate, home);
        let backend = RemoteBackend::open(Arc::clone(&remote.provider), config).await;
        let backend = backend.with_context(|| format!("cannot use backend '{name}'"))?;
        fleet.add(Arc::new(backend), remote.fallback.clone());
    }
    Ok(fleet)
}
