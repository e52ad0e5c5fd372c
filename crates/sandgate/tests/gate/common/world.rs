//! A server in front of a scripted model.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use sandgate_testkit::{Request, ScriptedModel, Turn};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::Client;
use super::program::Server;

/// The scripted models live here.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime"));

pub(crate) struct World {
    pub(crate) model: ScriptedModel,
    server: Option<Server>,
    home: TempDir,
}

static SHARED: LazyLock<World> = LazyLock::new(|| World::start("responses", "", true));

/// One for all tests that need nothing special; it goes when this process does.
pub(crate) fn world() -> &'static World {
    &SHARED
}

impl World {
    /// Of one's own, with more lines of configuration.
    pub(crate) fn with(api: &str, more: &str) -> Self {
        Self::start(api, more, false)
    }

    /// For a static, in front of an upstream that speaks something else than the shared one's.
    pub(crate) fn for_good(api: &str) -> Self {
        Self::start(api, "", true)
    }

    fn start(api: &str, more: &str, for_good: bool) -> Self {
        let text = |url: &str| format!("pool: 2\nupstream: {{url: '{url}', api: {api}}}\n{more}\n");
        Self::start_with(text, for_good)
    }

    /// Of one's own, with a configuration of one's own, made from the address of its model.
    pub(crate) fn configured(text: impl FnOnce(&str) -> String) -> Self {
        Self::start_with(text, false)
    }

    /// Of one's own, with a file as it stands; what is particular to the test is in its environment, which is made
    /// from the address of its model.
    pub(crate) fn as_it_stands(
        text: &str,
        variables: impl FnOnce(&str) -> Vec<(&'static str, String)>,
    ) -> Self {
        let model = another_model();
        let (home, config) = written(text);
        let variables = variables(&model.base_url());
        let arguments = ["--config".as_ref(), config.as_os_str()];
        let server = Server::start_in(home.path(), &arguments, &variables);
        Self { model, server: Some(server), home }
    }

    fn start_with(text: impl FnOnce(&str) -> String, for_good: bool) -> Self {
        let model = another_model();
        let (home, config) = written(&text(&model.base_url()));
        let server = if for_good {
            Server::start_for_good(home.path(), &config)
        } else {
            Server::start_with(home.path(), &["--config".as_ref(), config.as_os_str()])
        };
        Self { model, server: Some(server), home }
    }

    /// A client with a key of its own, for which the model has this script.
    #[track_caller]
    pub(crate) fn client(&self, turns: impl IntoIterator<Item = Turn>) -> Client {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let key = format!("sk-test-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        self.model.script(&key, turns);
        Client::new(self.server.as_ref().expect("a server").address, &key)
    }

    /// What the model was asked, after a check that nothing in it broke the rules.
    #[track_caller]
    pub(crate) fn asked(&self, client: &Client) -> Vec<Request> {
        let violations = self.model.violations_of(&client.key);
        assert!(violations.is_empty(), "{violations:?}");
        self.model.requests(&client.key)
    }

    /// The bodies of what the model was asked.
    #[track_caller]
    pub(crate) fn bodies(&self, client: &Client) -> Vec<Value> {
        self.asked(client).into_iter().map(|request| request.body).collect()
    }

    /// The upstream is gone: nothing listens there any more.
    pub(crate) fn lose_model(&mut self) {
        self.model = another_model();
    }

    /// Its data folder.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// What the server has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("server.log")).unwrap_or_default()
    }

    /// Gives the server another configuration and has it read that.
    pub(crate) fn reconfigure(&self, text: &str) {
        std::fs::write(self.home.path().join("config.yaml"), text).expect("a configuration");
        let server = self.server.as_ref().expect("a server");
        kill_process(server.pid(), Signal::HUP).expect("SIGHUP");
    }

    /// Ends the server as the power of a machine does, and starts it again over the same home.
    pub(crate) fn crash_and_restart(&mut self) {
        self.server.take().expect("a server").kill_9();
        let config = self.home.path().join("config.yaml");
        self.server = Some(Server::start_with(self.home.path(), &["--config".as_ref(), config.as_os_str()]));
    }

    pub(crate) fn pid(&self) -> Pid {
        self.server.as_ref().expect("a server").pid()
    }

    /// As an operator, or a machine that goes down, does.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("a signal");
    }

    /// Waits for the server's own end.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        self.server.take().expect("a server").wait()
    }

    /// Starts it again over the same home, after its end.
    pub(crate) fn start_again(&mut self) {
        let config = self.home.path().join("config.yaml");
        self.server = Some(Server::start_with(self.home.path(), &["--config".as_ref(), config.as_os_str()]));
    }

    /// The same client, of a server that has another port now.
    pub(crate) fn again(&self, client: &Client) -> Client {
        Client::new(self.server.as_ref().expect("a server").address, &client.key)
    }
}

/// Besides a world's own.
pub(crate) fn another_model() -> ScriptedModel {
    RUNTIME.block_on(ScriptedModel::start()).expect("a scripted model")
}

/// A data folder and a configuration in it.
fn written(text: &str) -> (TempDir, PathBuf) {
    let home = home();
    let config = home.path().join("config.yaml");
    std::fs::write(&config, text).expect("a configuration");
    (home, config)
}

/// A data folder with the runtime that all tests share.
fn home() -> TempDir {
    let below_target = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-home");
    let shared = std::env::var_os("SANDGATE_TEST_HOME").map_or_else(below_target, PathBuf::from);
    let runtimes = shared.join("runtimes");
    std::fs::create_dir_all(&runtimes).expect("a folder for runtimes");
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
    let runtimes = runtimes.canonicalize().expect("the folder of runtimes");
    symlink(runtimes, home.path().join("runtimes")).expect("a link to the runtimes");
    home
}
