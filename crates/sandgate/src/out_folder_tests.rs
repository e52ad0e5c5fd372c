//! What is in the user's folder stays as it is, whatever names come out of a sandbox.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;

fn folder() -> (tempfile::TempDir, OutFolder) {
    let around = tempfile::tempdir().unwrap();
    let out = OutFolder::open(around.path().join("out")).unwrap();
    (around, out)
}

fn put(out: &OutFolder, name: &str, text: &str) -> io::Result<PathBuf> {
    let (mut file, made) = out.create(Path::new(name))?;
    file.write_all(text.as_bytes())?;
    Ok(out.path(&made))
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    let (around, out) = folder();
    let at = around.path().join("out");
    fs::write(at.join("a.txt"), "mine").unwrap();
    assert_eq!(put(&out, "a.txt", "1").unwrap(), at.join("a-2.txt"));
    assert_eq!(put(&out, "a.txt", "2").unwrap(), at.join("a-3.txt"));
    assert_eq!(put(&out, "sub/Makefile", "1").unwrap(), at.join("sub/Makefile"));
    assert_eq!(put(&out, "sub/Makefile", "2").unwrap(), at.join("sub/Makefile-2"));
    assert_eq!(put(&out, ".profile", "1").unwrap(), at.join(".profile"));
    assert_eq!(put(&out, ".profile", "2").unwrap(), at.join(".profile-2"));
    assert_eq!(fs::read_to_string(at.join("a.txt")).unwrap(), "mine");
}

#[test]
fn no_link_is_followed() {
    let (around, out) = folder();
    let (at, elsewhere) = (around.path().join("out"), around.path().join("elsewhere"));
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("file"), "mine").unwrap();
    symlink(&elsewhere, at.join("folder")).unwrap();
    symlink(elsewhere.join("file"), at.join("link")).unwrap();
    symlink(elsewhere.join("new"), at.join("dangling")).unwrap();
    fs::write(at.join("plain"), "").unwrap();
    for name in ["folder/x", "folder/sub/x", "plain/x"] {
        assert!(is_in_the_way(&put(&out, name, "x").unwrap_err()), "{name}");
    }
    assert_eq!(put(&out, "link", "x").unwrap(), at.join("link-2"));
    assert_eq!(put(&out, "dangling", "x").unwrap(), at.join("dangling-2"));
    assert_eq!(fs::read_to_string(elsewhere.join("file")).unwrap(), "mine");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
}

#[test]
fn nothing_outside_is_reached() {
    let (around, out) = folder();
    for name in ["../x", "a/../../x", "/tmp/x"] {
        assert!(put(&out, name, "x").is_err(), "{name}");
    }
    assert!(!around.path().join("x").exists());
}

#[test]
fn only_what_was_made_here_is_written_again() {
    let (around, out) = folder();
    let at = around.path().join("out/a");
    let (mut file, made) = out.create(Path::new("a")).unwrap();
    file.write_all(b"first and long").unwrap();
    out.reopen(&made).unwrap().unwrap().write_all(b"second").unwrap();
    assert_eq!(fs::read_to_string(&at).unwrap(), "second");
    fs::rename(&at, around.path().join("moved")).unwrap();
    assert!(out.reopen(&made).unwrap().is_none());
    fs::write(&at, "the user's").unwrap();
    assert!(out.reopen(&made).unwrap().is_none());
    fs::remove_file(&at).unwrap();
    symlink(around.path().join("moved"), &at).unwrap();
    assert!(out.reopen(&made).unwrap().is_none());
    assert_eq!(fs::read_to_string(around.path().join("moved")).unwrap(), "second");
}
