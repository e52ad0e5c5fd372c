//! What is kept of a run, and where.

use serde_json::json;

use super::*;

const MAX: u64 = 1 << 30;

fn bundle(mime: &str, data: &str) -> MimeBundle {
    let mut bundle = MimeBundle::new();
    bundle.insert(mime.to_owned(), json!(data));
    bundle
}

#[test]
fn pictures_are_numbered_past_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("figure-1.png"), "old").unwrap();
    let mut keeper = Keeper::new(Some(folder.path().to_owned()), None, MAX).unwrap();
    let second = keeper.picture(&bundle("image/png", "aGVs\nbG8=\n")).unwrap();
    assert_eq!(second, Some(Picture::Saved(folder.path().join("figure-2.png"))));
    assert_eq!(std::fs::read(folder.path().join("figure-2.png")).unwrap(), b"hello");
    let third = keeper.picture(&bundle("image/svg+xml", "<svg/>")).unwrap();
    assert_eq!(third, Some(Picture::Saved(folder.path().join("figure-3.svg"))));
    assert_eq!(std::fs::read(folder.path().join("figure-1.png")).unwrap(), b"old");
}

#[test]
fn what_is_no_picture_is_left_to_others() {
    let mut keeper = Keeper::new(None, None, MAX).unwrap();
    assert_eq!(keeper.picture(&bundle("text/plain", "42")).unwrap(), None);
    assert_eq!(keeper.picture(&bundle("image/png", "not base64!")).unwrap(), None);
}

#[test]
fn what_was_not_kept_is_said_once() {
    let mut keeper = Keeper::new(None, None, MAX).unwrap();
    assert_eq!(keeper.missed(), None);
    assert_eq!(keeper.picture(&bundle("image/png", "")).unwrap(), Some(Picture::NotKept));
    keeper.missed_files = 2;
    assert_eq!(keeper.missed().unwrap(), "1 image and 2 files made and not kept; --out DIR keeps them");
    assert_eq!(keeper.missed(), None);
}

#[test]
fn files_land_below_the_folder_whatever_their_name() {
    for (inside, below) in [
        ("/mnt/data/a/b.csv", "a/b.csv"),
        ("/mnt/data/../../etc/x", "etc/x"),
        ("/home/user/x", "home/user/x"),
        ("/mnt/database", "mnt/database"),
    ] {
        assert_eq!(below_working_dir(&SandboxPath::parse(inside).unwrap()), below);
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("taken"), "").unwrap();
    assert!(Keeper::new(Some(folder.path().join("taken/x")), None, MAX).unwrap_err().is::<BadInput>());
}
