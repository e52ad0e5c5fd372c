//! Which files version 1 opens for those who enter, on plain folders.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::V1;
use crate::cgroup::CgroupError;

fn groups(folder: &Path) -> V1 {
    let base = |controller: &str| folder.join(controller).join("sandgate-x");
    V1 { memory: base("memory"), pids: base("pids"), cpu: base("cpu"), freezer: base("freezer") }
}

#[test]
fn a_context_is_entered_by_one_thread_in_every_hierarchy_and_frozen_last() {
    let folder = tempfile::tempdir().unwrap();
    let groups = groups(folder.path());
    let sandbox = |controller: &str| folder.path().join(controller).join("sandgate-x/sbx");
    let entered = [
        sandbox("pids").join("context-a/tasks"),
        sandbox("memory").join("tasks"),
        sandbox("cpu").join("tasks"),
        sandbox("freezer").join("tasks"),
    ];
    for file in &entered {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    for (at, entrance) in groups.make_context("sbx", "context-a").unwrap().into_iter().enumerate() {
        fs::File::from(entrance).write_all(at.to_string().as_bytes()).unwrap();
    }
    let written: Vec<_> = entered.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    assert_eq!(written, ["0", "1", "2", "3"]);
}

#[test]
fn without_an_entrance_there_is_no_context() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("pids/sandgate-x/sbx")).unwrap();
    let made = groups(folder.path()).make_context("sbx", "context-a");
    assert!(matches!(made, Err(CgroupError::File { .. })));
}

#[test]
fn a_process_that_did_not_enter_is_not_taken_for_one_that_did() {
    let folder = tempfile::tempdir().unwrap();
    let own = i32::try_from(std::process::id()).unwrap();
    let confirmed = groups(folder.path()).confirm("sbx", "context-a", own);
    assert!(matches!(confirmed, Err(CgroupError::NotAttached { .. } | CgroupError::File { .. })));
}
