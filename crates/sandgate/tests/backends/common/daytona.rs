//! The stand-in for Daytona.

use std::path::PathBuf;

use sandgate_testkit::Daytona;
use tokio::sync::OnceCell;

use super::{engine, home};

pub(crate) const KEY: &str = "dtn_a-key-of-this-test";
static DAYTONA: OnceCell<Daytona> = OnceCell::const_new();

/// The prepared Python, which has everything that code expects.
fn venv() -> PathBuf {
    let runtimes = std::fs::read_dir(home().join("runtimes")).expect("the runtimes").flatten();
    let ready = runtimes.map(|entry| entry.path()).filter(|path| path.join("ready.json").exists());
    let python = ready.filter(|path| path.join("venv/bin/python").symlink_metadata().is_ok());
    python.max().expect("a prepared Python").join("venv").canonicalize().expect("its place")
}

pub(crate) async fn daytona() -> &'static Daytona {
    let start = async || {
        engine().await;
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder").keep();
        Daytona::start(KEY, &folder, &venv()).await.expect("the stand-in")
    };
    DAYTONA.get_or_init(start).await
}
