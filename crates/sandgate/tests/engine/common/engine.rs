//! The engine that the tests of one process share, and engines of their own for tests that end them.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use sandgate_engine::runtime::Silent;
use sandgate_engine::{Engine, EngineConfig, Preload};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::OnceCell;
use tokio::time::timeout;

/// No single step takes this long, however busy the machine: what does has hung.
pub(crate) const LONGEST: Duration = Duration::from_secs(150);

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().enable_all().build().expect("a runtime for the tests"));
static ENGINE: OnceCell<Arc<Engine>> = OnceCell::const_new();

pub(crate) fn runtime() -> &'static Runtime {
    &RUNTIME
}

/// One test, on the runtime that the engine lives on.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    RUNTIME.block_on(async { timeout(2 * LONGEST, Box::pin(test)).await.expect("the test hangs") })
}

/// Where the shared engine and the command line keep their data, and where the prepared runtime is.
pub(crate) fn home() -> PathBuf {
    let below_target = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-home");
    let home = std::env::var_os("SANDGATE_TEST_HOME").map_or_else(below_target, PathBuf::from);
    std::fs::create_dir_all(&home).expect("a folder for the tests");
    home.canonicalize().expect("the folder of the tests")
}

pub(crate) async fn engine() -> &'static Arc<Engine> {
    let start = async || {
        let config = EngineConfig { preload: Preload::Full, pool: 4, shells: 4, ..config(home()) };
        Engine::start(config, &Silent).await.expect("the engine starts")
    };
    ENGINE.get_or_init(start).await
}

/// The runtime is there when this returns, for programs that use the same home.
pub(crate) fn prepared() {
    run(async {
        engine().await;
    });
}

/// A home of its own with the runtime that is prepared already.
pub(crate) async fn scratch_home() -> TempDir {
    engine().await;
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
    symlink(home().join("runtimes"), scratch.path().join("runtimes")).expect("a link to the runtime");
    scratch
}

/// An engine that starts quickly and keeps the files of its sandboxes, as a server's does.
pub(crate) async fn lean_engine(home: &Path) -> Arc<Engine> {
    let config = EngineConfig { ephemeral: false, ..config(home.to_owned()) };
    Engine::start(config, &Silent).await.expect("another engine starts")
}

fn config(home: PathBuf) -> EngineConfig {
    EngineConfig::new(home, env!("CARGO_BIN_EXE_sandgate").into())
}
