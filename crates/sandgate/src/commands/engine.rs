//! How a command starts the embedded engine.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use sandgate_engine::{Engine, EngineConfig, Layers, LimitsBy, Preload};

use crate::bad_input::BadInput;
use crate::home;
use crate::progress::StartProgress;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// One sandbox, wanted now: nothing is kept ready or imported ahead.
    OneCommand,
    /// Many sandboxes, each to be there in milliseconds.
    Server { pool: usize },
}

pub(crate) async fn start_engine(purpose: Purpose) -> Result<Arc<Engine>> {
    let (preload, pool, shells, ephemeral) = match purpose {
        Purpose::OneCommand => (Preload::Lean, 0, 0, true),
        Purpose::Server { pool } => (Preload::Full, pool, 2 * pool, false),
    };
    let config = EngineConfig {
        home: home::open()?,
        helper: helper()?,
        preload,
        pool,
        shells,
        ephemeral,
        limits_by: limits_by()?,
        layers: Layers::ALL,
    };
    let progress = StartProgress::new(!ephemeral);
    Ok(Engine::start(config, &progress).await?)
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
