//! Names of images, with and without registries, tags and digests.

use std::collections::BTreeSet;

use super::*;

fn found(uri: &str) -> Result<Option<String>, ()> {
    let images = BTreeSet::from(["team/app".to_owned(), "tool:v2".to_owned()]);
    let settings = OpenSandboxSettings { images, ..OpenSandboxSettings::default() };
    find(&settings, uri).map(|chosen| chosen.version.map(|(_, version)| version)).map_err(drop)
}

#[test]
fn the_name_decides() {
    for uri in [
        "opensandbox/code-interpreter:v1.1.0",
        "registry.example.com/opensandbox/code-interpreter:latest",
        "localhost:5000/opensandbox/code-interpreter",
        "ubuntu",
        "ubuntu:22.04",
        "docker.io/library/debian@sha256:0123",
        "team/app:7",
        "registry.example.com/team/app",
        "tool:v2",
        "python",
        "python:latest",
    ] {
        assert_eq!(found(uri), Ok(None), "{uri}");
    }
    for uri in ["node:20", "tool:v3", "evil/python", "pythonx", "opensandbox/execd", "alpine", ""] {
        assert!(found(uri).is_err(), "{uri}");
    }
}

#[test]
fn a_tag_of_pythons_says_its_version() {
    assert_eq!(found("python:3.11"), Ok(Some("3.11".to_owned())));
    assert_eq!(found("library/python:3.12.4-slim-bookworm"), Ok(Some("3.12".to_owned())));
    assert_eq!(found("python:3"), Ok(None));
    assert_eq!(found("python:3-slim"), Ok(None));
}

#[test]
fn what_there_is_is_named() {
    let refused = find(&OpenSandboxSettings::default(), "nginx").unwrap_err();
    let said = format!("{refused:?}");
    assert!(said.contains("opensandbox/code-interpreter, python, debian, ubuntu"), "{said}");
}

#[test]
fn the_interpreters_are_in_one_image() {
    assert!(is_code_interpreter("a.example/opensandbox/code-interpreter:v1"));
    assert!(!is_code_interpreter("python:3.11"));
}
