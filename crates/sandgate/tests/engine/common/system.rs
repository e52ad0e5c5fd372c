//! What the host shows: processes, mounts, control groups.

use std::fs;
use std::path::{Path, PathBuf};

use sandgate_core::SandboxId;

/// A process, told apart from a later one with the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    parent: i32,
    state: String,
    started: String,
}

impl Process {
    fn read(pid: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let [state, parent, started] = [0, 1, 19].map(|at| fields.get(at).copied().unwrap_or_default());
        Some(Self { pid, parent: parent.parse().ok()?, state: state.to_owned(), started: started.to_owned() })
    }

    /// Whether it still runs; a dead one that nobody has asked about yet does not.
    pub(crate) fn lives(&self) -> bool {
        Self::read(self.pid).is_some_and(|now| now.started == self.started && !"ZX".contains(&now.state))
    }
}

pub(crate) fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| Process::read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Everything that `pid` started, and what that started.
pub(crate) fn descendants(pid: i32) -> Vec<Process> {
    let all = processes();
    let mut found = Vec::new();
    let mut above = vec![pid];
    while let Some(parent) = above.pop() {
        for process in all.iter().filter(|process| process.parent == parent) {
            above.push(process.pid);
            found.push(process.clone());
        }
    }
    found
}

/// Processes with `word` among their arguments.
pub(crate) fn with_argument(word: &str) -> Vec<Process> {
    let has_it = |process: &Process| {
        let line = fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
        process.lives() && line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
    };
    processes().into_iter().filter(has_it).collect()
}

/// Processes in a control group below one called `name`.
pub(crate) fn in_group(name: &str) -> Vec<Process> {
    let inside = |process: &Process| {
        let groups = fs::read_to_string(format!("/proc/{}/cgroup", process.pid)).unwrap_or_default();
        process.lives() && groups.split(['/', '\n']).any(|part| part == name)
    };
    processes().into_iter().filter(inside).collect()
}

/// The sandbox whose control group a process is in.
pub(crate) fn sandbox_of(pid: i32) -> Option<String> {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    groups.split(['/', '\n']).find(|part| part.starts_with("sbx_")).map(str::to_owned)
}

/// Control groups called `name`, wherever they are.
pub(crate) fn groups(name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name() == name {
                found.push(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    found
}

/// Mounts of any process that mention `folder`.
pub(crate) fn mounts_of(folder: &Path) -> Vec<String> {
    let folder = folder.to_string_lossy();
    let tables = processes();
    let tables =
        tables.iter().filter_map(|one| fs::read_to_string(format!("/proc/{}/mountinfo", one.pid)).ok());
    tables
        .flat_map(|table| table.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| line.contains(&*folder))
        .collect()
}

/// Where the engine of `home` keeps the files of a sandbox.
pub(crate) fn volume(home: &Path, id: &SandboxId) -> PathBuf {
    let folder = |run: &String| home.join("instances").join(run).join("sandboxes").join(id.as_str());
    let runs = instances(home);
    runs.iter().map(folder).find(|folder| folder.exists()).expect("its files").join("root")
}

/// Names of the runs of an engine that left a folder in `home`.
pub(crate) fn instances(home: &Path) -> Vec<String> {
    let entries = fs::read_dir(home.join("instances")).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("sandgate-")).collect()
}
