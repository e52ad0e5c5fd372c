//! Versions that were asked for, and marks of runtimes.

use std::fs;

use super::*;

#[test]
fn a_version_is_meant_by_its_beginning() {
    for wanted in ["17", "17.0", "17.0.13", "v17", " 17 "] {
        assert!(version_of("17.0.13", wanted), "{wanted}");
    }
    assert!(version_of("1.27.3", "go1.27"));
    for wanted in ["1", "17.0.1", "17.", "18", "", "7"] {
        assert!(!version_of("17.0.13", wanted), "{wanted:?}");
    }
}

#[test]
fn a_runtime_is_ready_with_its_mark_alone() {
    let home = tempfile::tempdir().unwrap();
    let runtimes = home.path();
    assert_eq!(state(runtimes, Tool::Go), State::Missing);
    let folder = runtimes.join(LANGUAGES_FOLDER).join("go");
    fs::create_dir_all(&folder).unwrap();
    assert_eq!(state(runtimes, Tool::Go), State::Broken);
    mark(&folder, Tool::Go, "1.2.3", 4).unwrap();
    assert_eq!(state(runtimes, Tool::Go), State::Ready(Installed { version: "1.2.3".to_owned() }));
    let text = fs::read_to_string(folder.join(MARK)).unwrap();
    fs::write(folder.join(MARK), text.replace(&sources::digest(Tool::Go), "0123456789ab")).unwrap();
    assert_eq!(state(runtimes, Tool::Go), State::Outdated);
    mark(&folder, Tool::Java, "17", 4).unwrap();
    assert_eq!(state(runtimes, Tool::Go), State::Broken, "it is of another tool");
    fs::write(folder.join(MARK), "x".repeat(1 << 20)).unwrap();
    assert_eq!(state(runtimes, Tool::Go), State::Broken);
}
