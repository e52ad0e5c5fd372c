//! Which group is chosen, on plain folders. That a group with processes refuses, only a real hierarchy shows.

use std::fs;
use std::path::{Path, PathBuf};

use super::{find, settle};
use crate::cgroup::CgroupError;

const ALL: &str = "cpuset cpu io memory pids";

/// `top/user.slice/session.scope`, each with these controllers.
fn hierarchy(controllers: [&str; 3]) -> (tempfile::TempDir, PathBuf) {
    let top = tempfile::tempdir().unwrap();
    let own = top.path().join("user.slice/session.scope");
    fs::create_dir_all(&own).unwrap();
    for (group, controllers) in own.ancestors().zip(controllers) {
        fs::write(group.join("cgroup.controllers"), controllers).unwrap();
    }
    (top, own)
}

fn handed_down(group: &Path) -> Option<String> {
    fs::read_to_string(group.join("cgroup.subtree_control")).ok()
}

#[test]
fn the_own_group_is_taken_where_it_has_the_controllers() {
    let (top, own) = hierarchy([ALL, ALL, ALL]);
    assert_eq!(find(top.path(), &own).unwrap(), own);
    assert_eq!(handed_down(&own).as_deref(), Some("+memory +pids +cpu"));
    assert_eq!(handed_down(top.path()), None);
}

#[test]
fn the_nearest_group_above_is_taken_where_the_own_has_not_all_of_them() {
    let (top, own) = hierarchy(["memory pids", ALL, ALL]);
    let slice = top.path().join("user.slice");
    assert_eq!(find(top.path(), &own).unwrap(), slice);
    assert_eq!(handed_down(&own), None);
    let base = settle(&slice, "sandgate-x").unwrap();
    assert_eq!(base, slice.join("sandgate-x"));
    assert_eq!(handed_down(&base).as_deref(), Some("+memory +pids +cpu"));
}

#[test]
fn a_group_that_hands_them_down_already_is_not_written_to() {
    let (top, own) = hierarchy(["", ALL, ALL]);
    let slice = top.path().join("user.slice");
    fs::write(slice.join("cgroup.subtree_control"), "cpu io memory pids\n").unwrap();
    assert_eq!(find(top.path(), &own).unwrap(), slice);
    assert_eq!(handed_down(&slice).as_deref(), Some("cpu io memory pids\n"));
}

#[test]
fn nothing_above_the_mount_is_looked_at() {
    let (top, own) = hierarchy(["", "", ALL]);
    let mounted = top.path().join("user.slice");
    assert!(matches!(find(&mounted, &own), Err(CgroupError::NotMounted)));
}

#[test]
fn what_stands_in_the_way_nearby_is_what_is_told() {
    let (top, own) = hierarchy([ALL, ALL, ALL]);
    for group in [&own, &top.path().join("user.slice"), top.path()] {
        // A folder where a file should be: writing it fails.
        fs::create_dir(group.join("cgroup.subtree_control")).unwrap();
    }
    let told = find(top.path(), &own).unwrap_err().to_string();
    assert!(told.contains("session.scope"), "{told}");
}
