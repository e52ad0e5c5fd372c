//! Which files version 2 writes and reads, on plain folders: test hosts have version 1.

use std::fs;
use std::path::Path;

use super::V2;
use crate::cgroup::{CgroupError, GroupEvents, GroupLimits};

const LIMITS: GroupLimits = GroupLimits { memory_bytes: (1 << 20) + 5, processes: 7, cpu_millis: 1500 };

fn own_group(controllers: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cgroup.controllers"), controllers).unwrap();
    folder
}

fn open(own: &Path, name: &str) -> crate::cgroup::Result<V2> {
    V2::open_within(own, own, name)
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap()
}

#[test]
fn controllers_are_handed_down_and_limits_written() {
    let own = own_group("cpuset cpu io memory pids\n");
    let groups = open(own.path(), "sandgate-x").unwrap();
    let base = own.path().join("sandgate-x");
    assert_eq!(read(own.path(), "cgroup.subtree_control"), "+memory +pids +cpu");
    assert_eq!(read(&base, "cgroup.subtree_control"), "+memory +pids +cpu");
    groups.make("sbx", LIMITS).unwrap();
    let sandbox = base.join("sbx");
    assert_eq!(read(&sandbox, "memory.max"), "1048576");
    assert_eq!(read(&sandbox, "pids.max"), "7");
    assert_eq!(read(&sandbox, "cpu.max"), "150000 100000");
    // Limits are the sandbox's; contexts below it are only for finding and ending processes.
    assert!(groups.make_context("sbx", "context-a").unwrap().is_empty());
    assert!(!sandbox.join("cgroup.subtree_control").exists());
    groups.kill_context("sbx", "context-a").unwrap();
    assert_eq!(read(&sandbox.join("context-a"), "cgroup.kill"), "1");
    groups.freeze("sbx", true).unwrap();
    assert_eq!(read(&sandbox, "cgroup.freeze"), "1");
}

#[test]
fn a_limit_that_did_not_take_is_an_error() {
    let own = own_group("cpu memory pids");
    let groups = open(own.path(), "s").unwrap();
    let sandbox = own.path().join("s/sbx");
    fs::create_dir_all(&sandbox).unwrap();
    // Takes every write and keeps none of it.
    std::os::unix::fs::symlink("/dev/null", sandbox.join("pids.max")).unwrap();
    assert!(matches!(groups.make("sbx", LIMITS), Err(CgroupError::NotConfirmed { .. })));
}

#[test]
fn events_and_usage_are_read() {
    let own = own_group("cpu memory pids");
    let groups = open(own.path(), "s").unwrap();
    groups.make("sbx", LIMITS).unwrap();
    let sandbox = own.path().join("s/sbx");
    fs::write(sandbox.join("memory.events"), "low 0\nhigh 0\nmax 4\noom 2\noom_kill 1\noom_group_kill 0\n")
        .unwrap();
    fs::write(sandbox.join("pids.events"), "max 3\n").unwrap();
    fs::write(sandbox.join("memory.current"), "4096\n").unwrap();
    fs::write(sandbox.join("cpu.stat"), "usage_usec 1234\nuser_usec 1\n").unwrap();
    fs::write(sandbox.join("pids.current"), "2\n").unwrap();
    assert_eq!(groups.events("sbx").unwrap(), GroupEvents { killed_for_memory: 1, refused_processes: 3 });
    let usage = groups.usage("sbx").unwrap();
    assert_eq!((usage.memory_bytes, usage.cpu_micros, usage.processes), (4096, 1234, 2));
}

#[test]
fn without_the_controllers_there_is_nothing_to_use() {
    let own = own_group("hugetlb");
    assert!(matches!(open(own.path(), "s"), Err(CgroupError::NotMounted)));
}
