//! How a command starts the embedded engine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use sandgate_core::SandboxSpec;
use sandgate_core::network::NetworkPolicy;
use sandgate_engine::{
    EgressConfig, Engine, EngineConfig, LimitsBy, NetworkConfig, Preload, RegistriesConfig, discover,
};

use crate::bad_input::BadInput;
use crate::config::{PACKAGES, RegistriesFile};
use crate::home;
use crate::progress::StartProgress;

#[derive(Clone, Debug)]
pub(crate) enum Purpose {
    /// One sandbox, wanted now: nothing is kept ready or imported ahead.
    OneCommand { network: NetworkPolicy },
    /// Many sandboxes, each to be there in milliseconds, and most of them like `usual`.
    Server { pool: usize, usual: SandboxSpec, network: Box<NetworkConfig> },
}

pub(crate) async fn start_engine(purpose: Purpose) -> Result<Arc<Engine>> {
    let mut config = EngineConfig { limits_by: limits_by()?, ..EngineConfig::new(home::open()?, helper()?) };
    match purpose {
        // What is not asked for is not prepared either.
        Purpose::OneCommand { network } if network.is_disabled() => config.network = None,
        Purpose::OneCommand { network } if !network.registries => {}
        Purpose::OneCommand { .. } => {
            config.network =
                Some(NetworkConfig { egress: with_packages(&config.home), ..NetworkConfig::default() });
        }
        Purpose::Server { pool, usual, network } => {
            config.network = Some(*network);
            config.preload = Preload::Full;
            config.pool = pool;
            // Twice as many namespaces as kernels: they cost little, and a burst finds them.
            config.shells = 2 * pool;
            config.ephemeral = false;
            config.usual = usual;
        }
    }
    let progress = StartProgress::new(!config.ephemeral);
    Ok(Engine::start(config, &progress).await?)
}

/// What `registries` means on this host. Asks its tools.
fn with_packages(home: &Path) -> EgressConfig {
    let RegistriesFile { pip, npm, go, cache_bytes } = RegistriesFile::default();
    let given = RegistriesConfig { pip, npm, go, cache: home.join(PACKAGES), cache_bytes };
    let registries = Some(tokio::task::block_in_place(|| discover(given)));
    EgressConfig { registries, ..EgressConfig::default() }
}

/// Control groups, unless the operator accepts the weaker kind by name.
pub(crate) fn limits_by() -> Result<LimitsBy> {
    match std::env::var("SANDGATE_LIMITS") {
        Ok(word) if word == "rlimits" => Ok(LimitsBy::Rlimits),
        Ok(word) if word == "cgroups" => Ok(LimitsBy::Cgroups),
        Ok(word) => {
            Err(BadInput::error(format!("SANDGATE_LIMITS is '{word}'; it can be 'cgroups' or 'rlimits'")))
        }
        Err(_) => Ok(LimitsBy::Cgroups),
    }
}

/// This program, which plays the engine's helper roles too.
pub(crate) fn helper() -> Result<PathBuf> {
    std::env::current_exe().context("cannot find the path of this program")
}
