//! What a sandbox sees as its file system: a read-only root with the runtime in it and nothing else of
//! the host, and a few private places to write.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::mounts::{bind, make_dir, make_file, make_private, pivot_into, proc, terminals, tmpfs};
use crate::sys::{self, ATTR_NODEV, ATTR_NOEXEC, ATTR_NOSUID, ATTR_RDONLY, c_string};
use crate::{INNER_USER, Layers, Result, StepError};

/// Places in the engine's own small root, where only its helpers live.
const TEMPLATE: &str = "/template";
const STAGE: &str = "/stage";
const VOLUMES: &str = "/volumes";

const SHARED: u64 = ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV;

/// Host folders shown read-only: what the interpreter and ordinary tools are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeMounts {
    /// Host path and where it is shown.
    pub shown: Vec<(String, String)>,
    /// Folders inside a shown one that are covered with an empty one.
    pub covered: Vec<String>,
}

/// Builds the engine's root on `scratch` with the template of all sandboxes in it, and moves there.
/// `volumes` is the host folder that holds the files of all sandboxes.
pub fn enter_engine_root(scratch: &str, volumes: &str, runtime: &RuntimeMounts) -> Result<()> {
    make_private()?;
    tmpfs(scratch, "mode=755,size=64m")?;
    for folder in [TEMPLATE, STAGE, VOLUMES, "/proc"] {
        make_dir(&format!("{scratch}{folder}"), 0o755)?;
    }
    // The host's, so that the kernel lets this namespace mount process file systems of its own later.
    bind("/proc", &format!("{scratch}/proc"), 0)?;
    bind(volumes, &format!("{scratch}{VOLUMES}"), ATTR_NOSUID | ATTR_NODEV)?;
    build_template(&format!("{scratch}{TEMPLATE}"), runtime)?;
    // The helper runs its own program again in here and needs the loader and the C library for it.
    for folder in ["usr", "lib", "lib64"] {
        link(&format!("template/{folder}"), &format!("{scratch}/{folder}"))?;
    }
    pivot_into(&c_string(scratch)?)
}

fn build_template(root: &str, runtime: &RuntimeMounts) -> Result<()> {
    tmpfs(root, "mode=755,size=64m")?;
    for folder in [
        "/usr",
        "/etc",
        "/proc",
        "/dev",
        "/dev/shm",
        "/dev/pts",
        "/tmp",
        "/mnt/data",
        "/home/user",
        "/workspace",
        "/opt",
        "/run",
        "/var/empty",
    ] {
        make_dir(&format!("{root}{folder}"), 0o755)?;
    }
    link("/tmp", &format!("{root}/var/tmp"))?;
    for (host, inside) in &runtime.shown {
        let target = format!("{root}{inside}");
        make_dir(&target, 0o755)?;
        bind(host, &target, SHARED)?;
    }
    for inside in &runtime.covered {
        let target = format!("{root}{inside}");
        if Path::new(&target).is_dir() {
            bind(&format!("{root}/var/empty"), &target, SHARED)?;
        }
    }
    show_system_folders(root)?;
    devices(root)?;
    etc(root)?;
    sys::set_mount_attributes(&c_string(root)?, SHARED)
}

/// `/bin`, `/lib` and the like: links into `/usr` on today's systems, folders of their own on older ones.
fn show_system_folders(root: &str) -> Result<()> {
    for folder in ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"] {
        let target = format!("{root}{folder}");
        match fs::symlink_metadata(folder) {
            Ok(meta) if meta.is_symlink() => {
                let to =
                    fs::read_link(folder).map_err(|error| StepError::new("readlink", error).on(folder))?;
                link(&to.to_string_lossy(), &target)?;
            }
            Ok(meta) if meta.is_dir() => {
                make_dir(&target, 0o755)?;
                bind(folder, &target, SHARED)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn devices(root: &str) -> Result<()> {
    for device in ["null", "zero", "full", "random", "urandom", "tty"] {
        let target = format!("{root}/dev/{device}");
        make_file(&target, b"")?;
        bind(&format!("/dev/{device}"), &target, ATTR_NOSUID | ATTR_NOEXEC)?;
    }
    link("/proc/self/fd", &format!("{root}/dev/fd"))?;
    // Each sandbox has terminals of its own there.
    link("pts/ptmx", &format!("{root}/dev/ptmx"))?;
    for (number, name) in ["stdin", "stdout", "stderr"].iter().enumerate() {
        link(&format!("/proc/self/fd/{number}"), &format!("{root}/dev/{name}"))?;
    }
    Ok(())
}

const SHELL_PROMPT: &str = "[ -n \"$PS1\" ] && PS1='\\u@\\h:\\w\\$ '\ntrue\n";

/// Public facts of the distribution that programs of `/usr` need to work.
const COPIED: [&str; 6] = [
    "ld.so.cache",
    "mime.types",
    "protocols",
    "services",
    "ssl/certs/ca-certificates.crt",
    "ssl/openssl.cnf",
];

/// Which distribution `/usr` is of: installers and programs that were built for one ask.
const RELEASE: [&str; 8] =
    ["NAME", "ID", "ID_LIKE", "VERSION", "VERSION_ID", "VERSION_CODENAME", "UBUNTU_CODENAME", "PLATFORM_ID"];

fn os_release(host: &str) -> String {
    let known = |line: &&str| line.split_once('=').is_some_and(|(name, _)| RELEASE.contains(&name));
    let mut lines: Vec<&str> = host.lines().filter(known).collect();
    if !lines.iter().any(|line| line.starts_with("ID=")) {
        lines.push("ID=linux");
    }
    lines.push("PRETTY_NAME=\"Sandgate sandbox\"");
    lines.join("\n") + "\n"
}

/// An `/etc` of our own: the host's holds names, hosts and secrets that are nobody's business inside.
fn etc(root: &str) -> Result<()> {
    let passwd = format!(
        "root:x:0:0:root:/root:/bin/sh\nuser:x:{INNER_USER}:{INNER_USER}:user:/home/user:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/false\n"
    );
    let group = format!("root:x:0:\nuser:x:{INNER_USER}:\nnogroup:x:65534:\n");
    let release = os_release(&fs::read_to_string("/etc/os-release").unwrap_or_default());
    let files: [(&str, &str); 9] = [
        ("passwd", &passwd),
        ("group", &group),
        ("hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n"),
        ("hostname", "sandbox\n"),
        ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
        // Whoever may have names answered finds us there; for the others nobody listens.
        ("resolv.conf", "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n"),
        // The PATH stays the sandbox's own, also in a login shell.
        ("profile", SHELL_PROMPT),
        ("bash.bashrc", SHELL_PROMPT),
        ("os-release", &release),
    ];
    for (name, content) in files {
        make_file(&format!("{root}/etc/{name}"), content.as_bytes())?;
    }
    // Copied, so that no mount leads out.
    for name in COPIED {
        if let Ok(content) = fs::read(format!("/etc/{name}")) {
            let target = format!("{root}/etc/{name}");
            if let Some((folder, _)) = target.rsplit_once('/') {
                make_dir(folder, 0o755)?;
            }
            make_file(&target, &content)?;
        }
    }
    make_dir(&format!("{root}/etc/alternatives"), 0o755)?;
    for entry in fs::read_dir("/etc/alternatives").into_iter().flatten().flatten() {
        if let Ok(to) = fs::read_link(entry.path()) {
            link(
                &to.to_string_lossy(),
                &format!("{root}/etc/alternatives/{}", entry.file_name().to_string_lossy()),
            )?;
        }
    }
    Ok(())
}

fn link(to: &str, at: &str) -> Result<()> {
    symlink(to, at).map_err(|error| StepError::new("symlink", error).on(at))
}

/// The root of the process that sandboxes are forked from: the template, so that libraries have the same
/// paths in it as in every sandbox.
pub fn enter_zygote_root() -> Result<()> {
    make_private()?;
    bind(TEMPLATE, STAGE, 0)?;
    bind("/proc", &format!("{STAGE}/proc"), 0)?;
    tmpfs(&format!("{STAGE}/tmp"), "mode=1777,size=16m")?;
    tmpfs(&format!("{STAGE}/home/user"), "mode=755,size=1m")?;
    pivot_into(c"/stage")
}

/// Terminals that one sandbox may have open. The host has a few thousand for all.
const MAX_TERMINALS: u32 = 32;

/// Folders of a volume, and where a sandbox has them. Programs that came with other sandboxes in mind work in
/// `/workspace`, so the working folder is to be found there too.
const FOLDERS: [(&str, &str); 3] =
    [("/mnt/data", "/mnt/data"), ("/home/user", "/home/user"), ("/mnt/data", "/workspace")];

/// What is private to one sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxRoot {
    /// Folder below the volumes folder.
    pub volume: String,
    pub tmp_bytes: u64,
}

/// The root of one sandbox, built by its PID 1 in its fresh namespaces.
pub fn enter_sandbox_root(root: &SandboxRoot, layers: Layers) -> Result<()> {
    make_private()?;
    bind(TEMPLATE, STAGE, 0)?;
    let ids = format!("uid={INNER_USER},gid={INNER_USER}");
    let inodes = (root.tmp_bytes / 4096).clamp(1024, 200_000);
    tmpfs(&format!("{STAGE}/tmp"), &format!("mode=1777,size={},nr_inodes={inodes},{ids}", root.tmp_bytes))?;
    tmpfs(
        &format!("{STAGE}/dev/shm"),
        &format!("mode=1777,size={},nr_inodes={inodes},{ids}", root.tmp_bytes),
    )?;
    for (kept, shown) in FOLDERS {
        bind(
            &format!("{VOLUMES}/{}/root{kept}", root.volume),
            &format!("{STAGE}{shown}"),
            ATTR_NOSUID | ATTR_NODEV,
        )?;
    }
    terminals(
        &format!("{STAGE}/dev/pts"),
        &format!("mode=620,ptmxmode=666,gid={INNER_USER},max={MAX_TERMINALS}"),
    )?;
    proc(&format!("{STAGE}/proc"))?;
    // Counted for everybody up to the host's root, so one sandbox must not have all of them.
    for (name, most) in [("max_inotify_instances", "16"), ("max_inotify_watches", "8192")] {
        let path = format!("{STAGE}/proc/sys/user/{name}");
        fs::write(&path, most).map_err(|error| StepError::new("limiting watches", error).on(path))?;
    }
    if layers.proc_masks {
        mask_proc()?;
    }
    boot_id()?;
    pivot_into(c"/stage")
}

/// A boot of its own: programs tell by it whether the machine is still the one they knew, and the host's is
/// nobody's business inside.
fn boot_id() -> Result<()> {
    let target = format!("{STAGE}/proc/sys/kernel/random/boot_id");
    let mut bytes = [0; 16];
    sys::fill_random(&mut bytes)?;
    // As the kernel writes them: a random UUID.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let id = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
    let file = format!("{STAGE}/tmp/.boot_id");
    make_file(&file, format!("{id}\n").as_bytes())?;
    bind(&file, &target, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC)?;
    // The mount holds it.
    fs::remove_file(&file).map_err(|error| StepError::new("unlink", error).on(file))
}

/// Files and folders of `/proc` that speak of the host or switch something in it.
const MASKED_FILES: [&str; 20] = [
    "cmdline",
    "config.gz",
    "kallsyms",
    "kcore",
    "keys",
    "key-users",
    "kmsg",
    "kpagecount",
    "kpageflags",
    "kpagecgroup",
    "latency_stats",
    "modules",
    "partitions",
    "sched_debug",
    "sysrq-trigger",
    "timer_list",
    "timer_stats",
    "interrupts",
    "iomem",
    "version_signature",
];
const MASKED_FOLDERS: [&str; 9] = ["acpi", "asound", "bus", "driver", "fs", "irq", "scsi", "sysvipc", "tty"];

fn mask_proc() -> Result<()> {
    for file in MASKED_FILES {
        let target = format!("{STAGE}/proc/{file}");
        if Path::new(&target).exists() {
            bind(&format!("{STAGE}/dev/null"), &target, 0)?;
        }
    }
    for folder in MASKED_FOLDERS {
        let target = format!("{STAGE}/proc/{folder}");
        if Path::new(&target).exists() {
            bind(&format!("{STAGE}/var/empty"), &target, 0)?;
        }
    }
    bind(
        &format!("{STAGE}/proc/sys"),
        &format!("{STAGE}/proc/sys"),
        ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV | ATTR_NOEXEC,
    )
}

#[cfg(test)]
#[path = "root_tests.rs"]
mod tests;
