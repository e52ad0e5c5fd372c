//! The engines that are measured: they differ in what they keep ready.

use std::fs;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use sandgate_core::Backend;
use sandgate_engine::runtime::Silent;
use sandgate_engine::{Engine, EngineConfig, NetworkConfig, Preload};

use crate::ground::Ground;

/// Kept ready by the engine with a pool, as a server has it by default: sandboxes with a kernel, and namespaces.
const POOL: usize = 4;
const SHELLS: usize = 2 * POOL;

#[derive(Debug)]
pub(super) struct BenchEngine {
    pub(super) engine: Arc<Engine>,
    pool: usize,
}

/// Kernels come out of the pool.
pub(super) async fn pooled(ground: &Ground) -> Result<BenchEngine> {
    start(ground, "pool", POOL, SHELLS).await
}

/// Every kernel is forked and confined when asked for, in namespaces that wait.
pub(super) async fn on_demand(ground: &Ground) -> Result<BenchEngine> {
    start(ground, "on-demand", 0, SHELLS).await
}

/// Not even namespaces wait.
pub(super) async fn nothing_ready(ground: &Ground) -> Result<BenchEngine> {
    start(ground, "nothing-ready", 0, 0).await
}

/// Nothing waits, and sandboxes may be given a network.
pub(super) async fn with_network(ground: &Ground, network: NetworkConfig) -> Result<Arc<Engine>> {
    let config = EngineConfig { network: Some(network), ..config(ground, "network")? };
    Engine::start(config, &Silent).await.context("the engine with a network did not start")
}

async fn start(ground: &Ground, name: &str, pool: usize, shells: usize) -> Result<BenchEngine> {
    let config = EngineConfig { pool, shells, ..config(ground, name)? };
    let engine =
        Engine::start(config, &Silent).await.with_context(|| format!("the engine '{name}' did not start"))?;
    Ok(BenchEngine { engine, pool })
}

fn config(ground: &Ground, name: &str) -> Result<EngineConfig> {
    // A home each, because host ids go by home; the runtime is shared with the tests.
    let home = ground.target.join("bench-home").join(name);
    fs::create_dir_all(&home)?;
    match std::os::unix::fs::symlink(ground.test_home().join("runtimes"), home.join("runtimes")) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.into()),
        _ => {}
    }
    Ok(EngineConfig {
        preload: Preload::Full,
        pool: 0,
        shells: 0,
        ..EngineConfig::new(home, ground.target.join("release/sandgate"))
    })
}

impl BenchEngine {
    /// Until what is made ahead is there again, so that one sample does not pay for another.
    pub(super) async fn settled(&self) {
        while self.engine.pool_ready() < self.pool {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // Namespaces are made ahead too, a little later, and nobody can ask how many there are.
        tokio::time::sleep(Duration::from_millis(80)).await;
    }

    pub(super) async fn end(&self) {
        self.engine.shut_down().await;
    }
}
