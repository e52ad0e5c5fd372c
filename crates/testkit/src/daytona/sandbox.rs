//! One sandbox: a folder that its Python sees as `/mnt` and `/tmp`, and its interpreters.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::process::Command;

use super::World;
use super::check::Refused;
use super::control::Create;
use super::lock;
use super::worker::Worker;

/// Its own view of the file system, and nothing more: this is a test's stand-in, no jail.
const ENTER: &str = r#"set -e
mount -t tmpfs none /opt; mkdir /opt/venv; mount --bind "$VENV" /opt/venv
mount --bind "$ROOT/mnt" /mnt; mount --bind "$ROOT/tmp" /tmp
cd "${START_IN:-/tmp}"
exec "$@""#;
const SEEN: [&str; 2] = ["mnt", "tmp"];

#[derive(Debug)]
pub(crate) struct Sandbox {
    pub(crate) id: String,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) labels: BTreeMap<String, String>,
    root: PathBuf,
    venv: PathBuf,
    started: AtomicBool,
    without_network: bool,
    /// By their id; the empty one is the default.
    pub(crate) workers: Mutex<BTreeMap<String, Arc<Worker>>>,
}

impl Sandbox {
    pub(crate) fn make(world: &World, body: Create) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let id = format!("{:08x}-0000-4000-8000-{number:012x}", std::process::id());
        let root = world.folder.join(&id);
        for name in SEEN {
            std::fs::create_dir_all(root.join(name))?;
        }
        Ok(Self {
            id,
            env: body.env,
            labels: body.labels,
            root,
            venv: world.venv.clone(),
            started: AtomicBool::new(false),
            without_network: body.network_block_all,
            workers: Mutex::default(),
        })
    }

    pub(crate) fn is_started(&self) -> bool {
        self.started.load(Ordering::Relaxed)
    }

    pub(crate) fn set_started(&self) {
        self.started.store(true, Ordering::Relaxed);
    }

    /// Where a path of its own is on the host.
    pub(crate) fn host_path(&self, path: &str) -> Result<PathBuf, Refused> {
        let path = Path::new(path);
        let plain = path.is_absolute()
            && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        let seen = SEEN.iter().any(|name| path.starts_with(Path::new("/").join(name)));
        if !plain || !seen {
            return Err(Refused::no(format!(
                "only what is below /mnt and /tmp is kept here: {}",
                path.display()
            )));
        }
        Ok(self.root.join(path.strip_prefix("/").unwrap_or(path)))
    }

    /// Where on the host its user may make or replace something: not beside the folders at the top, which are root's.
    pub(crate) fn writable_path(&self, path: &str) -> Result<PathBuf, Refused> {
        let host = self.host_path(path)?;
        let there = host.ancestors().find(|above| above.exists());
        if there.is_none_or(|above| above == self.root || above == self.root.join("mnt")) {
            return Err(Refused::no(format!("{path}: permission denied")));
        }
        Ok(host)
    }

    /// A program that sees what this sandbox sees.
    pub(crate) fn program(&self, words: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private"]);
        if self.without_network {
            command.arg("--net");
        }
        if !is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["sh", "-c", ENTER, "sh"]).args(words);
        command.env_clear().envs(&self.env).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command
            .env("VENV", &self.venv)
            .env("ROOT", &self.root)
            .env("MPLCONFIGDIR", "/tmp")
            .env("HOME", "/tmp");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        command
    }

    /// The one of this context, started on its first use.
    pub(crate) fn worker(self: &Arc<Self>, context: Option<&str>) -> Result<Arc<Worker>, Refused> {
        let mut workers = lock(&self.workers);
        match context {
            Some(id) => {
                let found = workers.get(id).cloned();
                found.ok_or_else(|| Refused::missing(format!("context {id} not found")))
            }
            None => {
                Ok(Arc::clone(workers.entry(String::new()).or_insert_with(|| Arc::new(Worker::new(None)))))
            }
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // Nothing of it is left, as nothing is at Daytona.
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| std::os::unix::fs::MetadataExt::uid(&process) == 0)
}
