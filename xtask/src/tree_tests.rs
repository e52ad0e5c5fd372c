//! Against a real Git, when there is one.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Changes;

fn git(folder: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(arguments).current_dir(folder);
    command.output().is_ok_and(|output| output.status.success())
}

#[test]
fn new_changed_and_removed_files_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    if !git(root, &["init", "-q"]) {
        return;
    }
    for name in ["kept", "changed", "changed again", "removed"] {
        fs::write(root.join(name), name).unwrap();
    }
    assert!(git(root, &["add", "."]) && git(root, &["commit", "-qm", "x"]));
    fs::write(root.join("changed again"), "once").unwrap();
    fs::write(root.join("mine"), "was here before").unwrap();
    let before = Changes::now(root).unwrap();
    assert!(Changes::now(root).unwrap().since(&before).is_empty());

    fs::write(root.join("changed"), "other").unwrap();
    fs::write(root.join("changed again"), "twice").unwrap();
    fs::remove_file(root.join("removed")).unwrap();
    fs::remove_file(root.join("mine")).unwrap();
    fs::create_dir(root.join("new folder")).unwrap();
    fs::write(root.join("new folder/ö"), "").unwrap();
    let mut since = Changes::now(root).unwrap().since(&before);
    since.sort();
    assert_eq!(since, ["changed", "changed again", "mine", "new folder/ö", "removed"]);
}

#[test]
fn outside_a_work_tree_there_is_nothing_to_say() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Changes::now(folder.path()), None);
}
