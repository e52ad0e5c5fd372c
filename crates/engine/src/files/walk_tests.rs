//! Changes are seen, links are not followed, odd names do no harm.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sandgate_core::FileChangeKind::{Created, Modified, Removed};

use super::snapshot;

fn volume() -> (tempfile::TempDir, File) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("mnt/data")).unwrap();
    fs::create_dir_all(folder.path().join("home/user")).unwrap();
    let root = File::open(folder.path()).unwrap();
    (folder, root)
}

#[test]
fn created_modified_and_removed_files_are_told_apart() {
    let (folder, root) = volume();
    let data = folder.path().join("mnt/data");
    fs::write(data.join("stays"), "1").unwrap();
    fs::write(data.join("changes"), "1").unwrap();
    fs::write(data.join("goes"), "1").unwrap();
    let before = snapshot(root.as_fd(), 1000);
    fs::write(data.join("changes"), "22").unwrap();
    fs::remove_file(data.join("goes")).unwrap();
    fs::create_dir(data.join("sub")).unwrap();
    fs::write(data.join("sub/new"), "333").unwrap();
    let (changes, more) = before.changes(&snapshot(root.as_fd(), 1000));
    let seen: Vec<_> = changes.iter().map(|one| (one.path.as_str(), one.kind, one.size)).collect();
    assert_eq!(
        seen,
        [
            ("/mnt/data/changes", Modified, 2),
            ("/mnt/data/sub/new", Created, 3),
            ("/mnt/data/goes", Removed, 0)
        ]
    );
    assert!(!more);
}

#[test]
fn links_and_odd_names_do_no_harm() {
    let (folder, root) = volume();
    let data = folder.path().join("mnt/data");
    std::os::unix::fs::symlink("/", data.join("root")).unwrap();
    std::os::unix::fs::symlink("self", data.join("self")).unwrap();
    fs::write(data.join(Path::new(std::ffi::OsStr::from_bytes(b"\xff\n"))), "x").unwrap();
    let now = snapshot(root.as_fd(), 1000);
    assert_eq!(now.usage.entries, 3);
}

#[test]
fn a_walk_gives_up_past_the_limit() {
    let (folder, root) = volume();
    for number in 0..20 {
        fs::create_dir(folder.path().join(format!("mnt/data/{number}"))).unwrap();
        fs::write(folder.path().join(format!("mnt/data/{number}/f")), "x").unwrap();
    }
    assert!(snapshot(root.as_fd(), 25).usage.entries > 25);
    assert!(snapshot(root.as_fd(), 25).usage.entries < 40);
}
