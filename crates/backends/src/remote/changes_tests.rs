//! Which files a run made, changed or removed.

use super::*;

fn file(path: &str, size: u64, modified_ms: i64) -> PlaceEntry {
    let (path, kind) = (path.to_owned(), FileKind::File);
    PlaceEntry { path, kind, size, mode: 0o644, modified_ms, link_target: None }
}

fn told(changes: &[FileChange]) -> Vec<(&str, FileChangeKind, u64)> {
    changes.iter().map(|change| (change.path.as_str(), change.kind, change.size)).collect()
}

#[test]
fn files_that_came_changed_and_went_are_told_once() {
    let before = Seen::of(&[file("/d/a", 1, 1), file("/d/b", 2, 2), file("/d/c", 3, 3)]);
    let now = Seen::of(&[file("/d/a", 1, 1), file("/d/b", 2, 9), file("/d/new", 4, 4)]);
    let (changes, more) = before.changes(&now);
    let expected = [
        ("/d/b", FileChangeKind::Modified, 2),
        ("/d/new", FileChangeKind::Created, 4),
        ("/d/c", FileChangeKind::Removed, 0),
    ];
    assert_eq!(told(&changes), expected);
    assert!(!more);
    assert!(now.changes(&now).0.is_empty());
}

#[test]
fn what_came_from_outside_is_not_told() {
    let mut before = Seen::default();
    before.put(&file("/d/in/a", 1, 1));
    let now = Seen::of(&[file("/d/in/a", 1, 1)]);
    assert!(before.changes(&now).0.is_empty());
    before.remove("/d/in");
    assert_eq!(before, Seen::default());
}

#[test]
fn a_list_that_is_too_long_is_cut_and_says_so() {
    let many: Vec<_> = (0..1500).map(|number| file(&format!("/d/{number}"), 1, 1)).collect();
    let (changes, more) = Seen::default().changes(&Seen::of(&many));
    assert_eq!((changes.len(), more), (MAX_CHANGES, true));
}

#[test]
fn a_name_that_only_begins_alike_is_not_below() {
    assert!(is_at_or_below("/d/a/b", "/d/a"));
    assert!(is_at_or_below("/d/a", "/d/a"));
    assert!(!is_at_or_below("/d/ab", "/d/a"));
    assert!(is_at_or_below("/x", "/"));
}
