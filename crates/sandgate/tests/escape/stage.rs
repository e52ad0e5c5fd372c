//! What the attempts aim at: files, sockets and processes of the host, all made for this run alone.

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use sandgate_core::random_hex;
use tempfile::TempDir;

use crate::attempt::{self, Attempt};

/// The variable of the secret, in every environment that is to be kept from the attempts.
pub(crate) const SECRET: &str = "SANDGATE_ESCAPE_SECRET";

pub(crate) struct Stage {
    pub(crate) secret: String,
    prelude: String,
    placeholders: Vec<(&'static str, String)>,
    host_process: Child,
    writable: PathBuf,
    folder: TempDir,
    /// Whatever this process starts inherits them.
    _left_open: [OwnedFd; 2],
    _sockets: (UnixListener, UnixListener),
}

/// What differs from run to run.
pub(crate) struct Aims {
    pub(crate) inside: bool,
    pub(crate) server_port: u16,
    pub(crate) neighbour: Neighbour,
}

/// Another container, as the host sees it.
pub(crate) struct Neighbour {
    pub(crate) file: PathBuf,
    pub(crate) pid: u32,
}

impl Stage {
    pub(crate) fn set_up() -> Result<Self> {
        ensure!(
            rustix::process::geteuid().is_root(),
            "the control run needs root, and an engine of root to compare"
        );
        let secret = format!("SGSECRET{}", random_hex(12));
        let folder = TempDir::with_prefix("sandgate-escape-")?;
        fs::set_permissions(&folder, Permissions::from_mode(0o755))?;
        let (file, writable) = (folder.path().join("host-file"), folder.path().join("writable"));
        fs::write(&file, format!("{secret}\n"))?;
        fs::create_dir(&writable)?;
        fs::set_permissions(&writable, Permissions::from_mode(0o1777))?;

        let listener = TcpListener::bind("127.0.0.1:0")?;
        let left_open = [leave_open(&File::open(&file)?)?, leave_open(&listener)?];
        let (socket, abstract_name) =
            (folder.path().join("socket"), format!("sandgate-escape-{}", random_hex(6)));
        let sockets = (
            UnixListener::bind(&socket)?,
            UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name)?)?,
        );
        fs::set_permissions(&socket, Permissions::from_mode(0o777))?;
        let (key, queue) =
            (0x5a00_0000 | (std::process::id() & 0xff_ffff), format!("sandgate-{}", random_hex(6)));
        let host_process = start_host_process(&secret, [&key.to_string(), &queue, &queue])?;

        let text = |path: &Path| path.display().to_string();
        let placeholders = vec![
            ("HOST_FILE", text(&file)),
            ("HOST_SECRET_REVERSED", secret.chars().rev().collect()),
            ("HOST_WRITABLE", text(&writable)),
            ("HOST_SOCKET", text(&socket)),
            ("ABSTRACT_SOCKET", abstract_name),
            ("HOST_PORT", listener.local_addr()?.port().to_string()),
            ("HOST_PID", host_process.id().to_string()),
            ("HOST_NS", own_namespaces()?),
            ("HOSTNAME", fs::read_to_string("/proc/sys/kernel/hostname")?.trim().to_owned()),
            ("SYSV_KEY", key.to_string()),
            ("SHM_NAME", queue.clone()),
            ("MQ_NAME", queue),
        ];
        let prelude = fs::read_to_string(attempt::folder().join("prelude.py"))?;
        let (_left_open, _sockets) = (left_open, sockets);
        Ok(Self { secret, prelude, placeholders, host_process, writable, folder, _left_open, _sockets })
    }

    /// The whole program of an attempt.
    pub(crate) fn program(&self, attempt: &Attempt, aims: &Aims) -> Result<String> {
        let init = if aims.inside { 1 } else { self.host_process.id() };
        let differing = [
            ("INIT_PID", init.to_string()),
            ("SERVER_PORT", aims.server_port.to_string()),
            ("NEIGHBOUR_FILE", aims.neighbour.file.display().to_string()),
            ("NEIGHBOUR_PID", aims.neighbour.pid.to_string()),
        ];
        let mut program = format!("{}{}", self.prelude, attempt.text);
        for (name, value) in self.placeholders.iter().chain(&differing) {
            program = program.replace(&format!("{{{{{name}}}}}"), value);
        }
        ensure!(!program.contains("{{"), "{}: a placeholder is not known", attempt.name);
        Ok(program)
    }

    /// An empty home for an engine, apart from the runtime, which all tests share.
    pub(crate) fn home(&self, name: &str) -> Result<PathBuf> {
        let below_target = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-home");
        let shared = std::env::var_os("SANDGATE_TEST_HOME").map_or_else(below_target, PathBuf::from);
        let runtimes = shared.join("runtimes");
        fs::create_dir_all(&runtimes)?;
        let home = self.folder.path().join(name);
        fs::create_dir(&home)?;
        std::os::unix::fs::symlink(runtimes.canonicalize()?, home.join("runtimes"))?;
        Ok(home)
    }

    /// Nothing was left where everybody may write.
    pub(crate) fn is_clean(&self) -> Result<bool> {
        Ok(fs::read_dir(&self.writable)?.next().is_none())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // It ends with its input and takes away what it made.
        drop(self.host_process.stdin.take());
        let _ = self.host_process.wait();
    }
}

/// A copy without close-on-exec, at a number that no helper of the engine puts something else at.
fn leave_open(file: &impl AsFd) -> Result<OwnedFd> {
    let copy = fcntl_dupfd_cloexec(file, 100)?;
    fcntl_setfd(&copy, FdFlags::empty())?;
    Ok(copy)
}

fn start_host_process(secret: &str, arguments: [&str; 3]) -> Result<Child> {
    let mut process = Command::new("/usr/bin/python3")
        .arg(attempt::folder().join("host.py"))
        .args(arguments)
        .env(SECRET, secret)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut said = String::new();
    BufReader::new(process.stdout.take().context("no output")?).read_line(&mut said)?;
    ensure!(said == "ready\n", "the host's process did not start; its last words are above");
    Ok(process)
}

fn own_namespaces() -> Result<String> {
    let names = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"];
    let links = names.map(|name| fs::read_link(format!("/proc/self/ns/{name}")));
    let links = links.into_iter().collect::<std::io::Result<Vec<_>>>()?;
    Ok(links.iter().map(|link| link.display().to_string()).collect::<Vec<_>>().join(" "))
}

/// Runs in another container and then stands still, so that there is somebody to look for.
pub(crate) const NEIGHBOUR: &str = "import ctypes\nctypes.CDLL(None).prctl(15, b'sg-neighbour')\n\
     with open('neighbour.txt', 'w') as file:\n    file.write('of the neighbour')";

impl Neighbour {
    /// Finds, below `home`, the one that ran [`NEIGHBOUR`].
    pub(crate) fn find(home: &Path) -> Result<Self> {
        let file = find_file(home, "neighbour.txt").context("the neighbour's file is not there")?;
        let named =
            |path: &Path| fs::read_to_string(path.join("comm")).is_ok_and(|name| name == "sg-neighbour\n");
        let processes = fs::read_dir("/proc")?.flatten().filter(|entry| named(&entry.path()));
        // Another harness may run beside this one: the youngest is ours, or as good.
        let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        Ok(Self { file, pid: pids.max().context("the neighbour's process is not there")? })
    }
}

fn find_file(folder: &Path, name: &str) -> Option<PathBuf> {
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        let found = match entry.file_type() {
            Ok(kind) if kind.is_dir() => find_file(&path, name),
            Ok(_) if entry.file_name() == name => Some(path),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}
