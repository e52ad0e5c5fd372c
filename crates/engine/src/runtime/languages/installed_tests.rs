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
    mark(&folder, Tool::Go.into(), "1.2.3", 4).unwrap();
    assert_eq!(state(runtimes, Tool::Go), State::Ready(Installed { version: "1.2.3".to_owned() }));
    let text = fs::read_to_string(folder.join(MARK)).unwrap();
    fs::write(folder.join(MARK), text.replace(&sources::digest(Tool::Go.into()), "0123456789ab")).unwrap();
    assert_eq!(state(runtimes, Tool::Go), State::Outdated);
    mark(&folder, Tool::Java.into(), "17", 4).unwrap();
    assert_eq!(state(runtimes, Tool::Go), State::Broken, "it is of another tool");
    fs::write(folder.join(MARK), "x".repeat(1 << 20)).unwrap();
    assert_eq!(state(runtimes, Tool::Go), State::Broken);
}

#[test]
fn versions_stand_side_by_side() {
    let home = tempfile::tempdir().unwrap();
    let runtimes = home.path();
    for (name, version) in [("node@20", "20.1.0"), ("node", "24.1.0"), ("node@22", "22.1.0")] {
        let folder = runtimes.join(LANGUAGES_FOLDER).join(name);
        fs::create_dir_all(&folder).unwrap();
        mark(&folder, Edition::parse(name).unwrap(), version, 4).unwrap();
    }
    let versions = |tool| ready(runtimes, tool).map(|(_, one)| one.version).collect::<Vec<_>>();
    assert_eq!(versions(Tool::Node), ["24.1.0", "22.1.0", "20.1.0"]);
    assert!(versions(Tool::Go).is_empty());
    let at = |name: &str| runtimes.join(LANGUAGES_FOLDER).join(name).join(MARK);
    fs::copy(at("node@20"), at("node@22")).unwrap();
    assert_eq!(
        state(runtimes, Edition::parse("node@22").unwrap()),
        State::Broken,
        "it is of another version"
    );
}
