//! Every entry is visited once, however deep, and a tree that moves does not lead elsewhere.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::Stat;

use super::{Moved, OPEN_AT_ONCE, Visitor, walk};

#[derive(Default)]
struct Seen {
    names: Vec<String>,
    deepest: usize,
    /// Moves the first away to the second once so deep.
    at_depth: Option<(usize, std::path::PathBuf, std::path::PathBuf)>,
}

impl Visitor for Seen {
    type Folder = usize;

    fn entry(&mut self, _: BorrowedFd<'_>, _: usize, name: &CStr, _: &Stat) {
        self.names.push(name.to_string_lossy().into_owned());
    }

    fn enter(&mut self, above: usize, _: &CStr) -> usize {
        self.deepest = self.deepest.max(above + 1);
        if let Some((_, from, to)) = self.at_depth.take_if(|(depth, ..)| *depth == above + 1) {
            fs::rename(from, to).unwrap();
        }
        above + 1
    }

    fn enough(&self) -> bool {
        false
    }
}

/// A chain of folders, each with a file before and after the next folder.
fn chain(at: &Path, depth: usize) {
    let mut below = at.to_owned();
    for number in 0..depth {
        fs::create_dir_all(&below).unwrap();
        for name in [format!("a{number}"), format!("z{number}")] {
            fs::write(below.join(name), "").unwrap();
        }
        below.push("m");
    }
    fs::create_dir_all(&below).unwrap();
}

#[test]
fn every_entry_is_visited_once_on_both_sides_of_closed_folders() {
    let folder = tempfile::tempdir().unwrap();
    let depth = 5 * OPEN_AT_ONCE;
    chain(&folder.path().join("top"), depth);
    chain(&folder.path().join("top/other"), depth);
    let mut seen = Seen::default();
    walk(File::open(folder.path()).unwrap().as_fd(), "top", 0, &mut seen).unwrap();
    // Two files and one folder a level, in two chains, and the folder of the second.
    assert_eq!(seen.names.len(), 2 * 3 * depth + 1);
    let files: BTreeSet<_> =
        seen.names.iter().filter(|name| !["m", "other"].contains(&name.as_str())).collect();
    assert_eq!(files.len(), 2 * depth);
    assert_eq!(seen.deepest, depth + 1);
}

#[test]
fn a_folder_that_is_moved_while_the_walk_is_below_it_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (top, outside) = (folder.path().join("top"), folder.path().join("outside"));
    chain(&top, 3 * OPEN_AT_ONCE);
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("not-of-the-tree"), "").unwrap();
    // The walk is deep enough that `top/m` is closed, and then comes back by way of it.
    let moved = (2 * OPEN_AT_ONCE, top.join("m/m"), outside.join("m"));
    let mut seen = Seen { at_depth: Some(moved), ..Seen::default() };
    assert_eq!(walk(File::open(folder.path()).unwrap().as_fd(), "top", 0, &mut seen), Err(Moved));
    assert!(!seen.names.contains(&"not-of-the-tree".to_owned()));
}

#[test]
fn what_is_not_there_and_what_is_no_folder_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    std::os::unix::fs::symlink("/", folder.path().join("link")).unwrap();
    for top in ["nothing", "file", "link"] {
        let mut seen = Seen::default();
        walk(File::open(folder.path()).unwrap().as_fd(), top, 0, &mut seen).unwrap();
        assert!(seen.names.is_empty(), "{top}");
    }
}

#[test]
fn folders_that_are_closed_to_everybody_are_visited() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("top/closed");
    fs::create_dir_all(closed.join("below")).unwrap();
    fs::write(closed.join("below/file"), "").unwrap();
    for at in [closed.join("below"), closed.clone()] {
        fs::set_permissions(at, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let mut seen = Seen::default();
    walk(File::open(folder.path()).unwrap().as_fd(), "top", 0, &mut seen).unwrap();
    assert_eq!(seen.names, ["closed", "below", "file"]);
    // So that the temporary folder can be removed by an ordinary user too.
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(closed.join("below"), fs::Permissions::from_mode(0o700)).unwrap();
}
