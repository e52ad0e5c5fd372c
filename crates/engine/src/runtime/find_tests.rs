//! Choosing between interpreters, most of them made up as shell scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

/// A script that answers as an interpreter would.
fn fake(folder: &Path, name: &str, version: [u32; 3], base: &str, args: &str, missing: &str) -> PathBuf {
    let [major, minor, micro] = version;
    let json = format!(
        r#"{{"version": [{major}, {minor}, {micro}], "prerelease": false, "implementation": "cpython",
            "interpreter": "/usr/bin/env", "base_prefix": "{base}", "config_args": "{args}", "cflags": "-O3",
            "debug": false, "free_threaded": false, "missing": [{missing}], "mapped": []}}"#
    );
    script(folder, name, &format!("cat <<'END'\n{json}\nEND"))
}

fn script(folder: &Path, name: &str, body: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("write");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("chmod");
    path
}

fn search(distribution: Vec<PathBuf>, on_path: Vec<PathBuf>) -> Search {
    Search { named: None, distribution, on_path }
}

#[test]
fn this_machine_has_one() {
    let found = find_interpreter().expect("the tests need a python3");
    assert!(found.interpreter.is_absolute() && found.interpreter.is_file());
    assert_eq!(found.interpreter.canonicalize().expect("real"), found.interpreter);
    assert!(found.why.contains(&found.version), "{}", found.why);
}

#[test]
fn the_distributions_build_wins_over_the_path() {
    let dir = tempfile::tempdir().expect("tempdir");
    let own = fake(dir.path(), "own", [3, 11, 2], "/usr", "", "");
    let newer = fake(dir.path(), "newer", [3, 13, 0], "/usr/local", "--enable-optimizations", "");
    let found = find(&search(vec![own], vec![newer])).expect("found");
    assert_eq!((found.version.as_str(), found.optimised), ("3.11.2", true));
    assert!(found.why.ends_with("it is the distribution's optimised build"), "{}", found.why);
}

#[test]
fn an_optimised_build_wins_over_an_earlier_slow_one() {
    let dir = tempfile::tempdir().expect("tempdir");
    let slow = fake(dir.path(), "slow", [3, 12, 1], "/usr/share", "", "");
    let fast = fake(dir.path(), "fast", [3, 13, 0], "/usr/local", "--enable-optimizations", "");
    let found = find(&search(vec![], vec![slow.clone(), fast])).expect("found");
    assert_eq!(found.version, "3.13.0");
    let only_slow = find(&search(vec![], vec![slow])).expect("found");
    assert!(
        !only_slow.optimised && only_slow.why.contains("without profile optimisation"),
        "{}",
        only_slow.why
    );
}

#[test]
fn no_python_at_all() {
    let said = find(&search(vec![], vec![])).expect_err("none").to_string();
    assert!(said.contains("install python3 and python3-venv (Debian: apt-get install python3 python3-venv)"));
}

#[test]
fn too_old_and_dead_shims() {
    let dir = tempfile::tempdir().expect("tempdir");
    let old = fake(dir.path(), "old", [3, 9, 2], "/usr", "", "");
    let shim = script(dir.path(), "shim", "echo 'pyenv: python3.13: command not found' >&2; exit 127");
    let said = find(&search(vec![old], vec![shim.clone()])).expect_err("none").to_string();
    assert!(said.contains("old is version 3.9.2, and 3.11 to 3.14 is needed; install Python 3.11"), "{said}");
    assert!(!said.contains("shim"), "{said}");
    let said = find(&search(vec![], vec![shim])).expect_err("none").to_string();
    assert!(said.contains("does not run (pyenv: python3.13: command not found)"), "{said}");
}

#[test]
fn a_missing_module_is_the_nearest_miss() {
    let dir = tempfile::tempdir().expect("tempdir");
    let old = fake(dir.path(), "old", [3, 9, 2], "/usr", "", "");
    let bare = fake(dir.path(), "bare", [3, 11, 2], "/usr", "", "\"ensurepip\"");
    let said = find(&search(vec![old, bare], vec![])).expect_err("none").to_string();
    assert!(said.contains("bare lacks its module ensurepip"), "{said}");
    assert!(said.ends_with("install its venv part (Debian: apt-get install python3-venv)"), "{said}");
}

#[test]
fn a_named_interpreter_is_taken_or_refused_by_name() {
    let dir = tempfile::tempdir().expect("tempdir");
    let good = fake(dir.path(), "good", [3, 12, 1], "/usr/share", "", "");
    let mut search = search(vec![], vec![]);
    search.named = Some(good);
    assert!(find(&search).expect("found").why.ends_with("it was named by SANDGATE_PYTHON"));
    search.named = Some(dir.path().join("absent"));
    let said = find(&search).expect_err("absent").to_string();
    assert!(said.starts_with("SANDGATE_PYTHON names ") && said.contains("it does not run"), "{said}");
}
