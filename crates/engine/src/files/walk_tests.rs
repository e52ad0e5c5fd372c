//! Changes are seen, links are not followed, odd names do no harm.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sandgate_core::FileChangeKind::{Created, Modified, Removed};

use super::{MAX_CHANGES, TRASH, snapshot, usage};

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

/// Folders in each other, deeper than any path; made from the inside out.
fn deep(at: &Path, depth: usize) {
    let spare = at.join("spare");
    fs::create_dir(&spare).unwrap();
    fs::write(spare.join("bottom"), "x").unwrap();
    for _ in 0..depth {
        let above = at.join("above");
        fs::create_dir(&above).unwrap();
        fs::rename(&spare, above.join("d")).unwrap();
        fs::rename(&above, &spare).unwrap();
    }
}

#[test]
fn a_tree_deeper_than_any_path_is_counted_whole_and_told_in_part() {
    let (folder, root) = volume();
    let before = snapshot(root.as_fd(), 100_000);
    deep(&folder.path().join("mnt/data"), 2_500);
    let now = snapshot(root.as_fd(), 100_000);
    assert_eq!(now.usage.entries, 2_502);
    assert_eq!(usage(root.as_fd(), 100_000), now.usage);
    let (changes, more) = before.changes(&now);
    assert!(changes.is_empty() && more, "its path is of no use to anybody");
}

#[test]
fn long_names_do_not_fill_the_servers_memory() {
    let (folder, root) = volume();
    let data = folder.path().join("mnt/data");
    let before = snapshot(root.as_fd(), 100_000);
    // Each file's path is 3,800 bytes long, and there are 20,000.
    let mut deep = data.clone();
    for _ in 0..14 {
        deep.push("n".repeat(255));
    }
    fs::create_dir_all(&deep).unwrap();
    for number in 0..20_000 {
        fs::write(deep.join(format!("{number:0>240}")), "").unwrap();
    }
    let now = snapshot(root.as_fd(), 100_000);
    assert_eq!(now.usage.entries, 20_014);
    let kept = now.files.capacity() * size_of::<super::File>() + now.names.kept_bytes();
    assert!(kept < 8 << 20, "{kept} bytes");
    let (changes, more) = before.changes(&now);
    assert_eq!((changes.len(), more), (MAX_CHANGES, true));
    assert!(changes.iter().all(|change| change.path.len() < 4096));
    // What cannot be named is still seen to change.
    assert_eq!(now.changes(&snapshot(root.as_fd(), 100_000)), (Vec::new(), false));
    fs::remove_dir_all(data.join("n".repeat(255))).unwrap();
    assert!(now.changes(&snapshot(root.as_fd(), 100_000)).1);
}

#[test]
fn what_could_not_be_removed_counts_and_is_not_told() {
    let (folder, root) = volume();
    let before = snapshot(root.as_fd(), 1000);
    fs::create_dir_all(folder.path().join(TRASH).join("left")).unwrap();
    fs::write(folder.path().join(TRASH).join("left/file"), vec![1; 100_000]).unwrap();
    let now = snapshot(root.as_fd(), 1000);
    assert_eq!((now.usage, now.usage.entries), (usage(root.as_fd(), 1000), 2));
    assert_eq!(before.changes(&now), (Vec::new(), false));
}
