//! Only paths of registries are asked for, and none that leads out of them.

use super::{Pages, Wish};

#[test]
fn paths_of_registries_are_known() {
    for (path, kind) in [
        ("/pip/simple/six/", "pip"),
        ("/pip/simple/zope.interface", "pip"),
        ("/npm/left-pad", "npm"),
        ("/npm/@scope%2fname", "npm"),
        ("/npm/@scope/name", "npm"),
        ("/npm/left-pad/-/left-pad-1.3.0.tgz", "npm"),
        ("/go/example.org/!upper/mod/@v/v1.0.0.zip", "go"),
        ("/go/example.org/mod/@latest", "go"),
        ("/go/sumdb/sum.example.org/tile/8/1/x001/234.p/56", "go"),
    ] {
        assert_eq!(Wish::read(path).map(|wish| wish.kind()), Some(kind), "{path}");
    }
}

#[test]
fn a_file_says_which_package_it_is_of() {
    let hash = "ab".repeat(32);
    for (path, found) in [
        (format!("/pip/files/six/sha256-{hash}/six.whl"), (Pages::Pip, "six")),
        (format!("/npm/-/files/left-pad/sha256-{hash}/x.tgz"), (Pages::Npm, "left-pad")),
        (format!("/npm/-/files/@scope/name/sha256-{hash}/x.tgz"), (Pages::Npm, "@scope/name")),
    ] {
        let Some(Wish::File { pages, of, .. }) = Wish::read(&path) else { panic!("{path}") };
        assert_eq!((pages, of.as_str()), found, "{path}");
    }
}

/// As lock files have it, which were made anywhere.
#[test]
fn a_tarball_is_known_by_its_usual_address() {
    for (path, found) in [
        ("/npm/left-pad/-/left-pad-1.3.0.tgz", ("left-pad", "left-pad-1.3.0.tgz")),
        ("/npm/@scope/name/-/name-1.0.0-rc.1.tgz", ("@scope/name", "name-1.0.0-rc.1.tgz")),
        ("/npm/@scope%2fname/-/name-1.0.0%2b7.tgz", ("@scope/name", "name-1.0.0+7.tgz")),
    ] {
        let Some(Wish::Tarball { of, file }) = Wish::read(path) else { panic!("{path}") };
        assert_eq!((of.as_str(), file.as_str()), found, "{path}");
    }
}

#[test]
fn what_a_file_says_of_itself_is_no_other_file() {
    let path = format!("/pip/files/six/sha256-{}/six.whl.metadata", "ab".repeat(32));
    assert!(matches!(Wish::read(&path), Some(Wish::Metadata { of, .. }) if of == "six"));
}

#[test]
fn what_leads_elsewhere_is_not() {
    let hash = format!("sha256-{}", "ab".repeat(32));
    let files = [
        format!("/pip/files/{hash}/x"),
        format!("/pip/files/a/b/{hash}/x"),
        format!("/pip/files/../{hash}/x"),
        format!("/npm/-/files/a/../{hash}/x"),
        "/pip/files/six/sha256-00/x".to_owned(),
    ];
    let others = [
        "/",
        "/pip/simple/",
        "/pip/simple/../../etc",
        "/pip/simple/a/b",
        "/pip/simple/a?b",
        "/pip/files/../x",
        "/npm/",
        "/npm/../x",
        "/npm/a/../../x",
        "/npm/%2e%2e/x",
        "/npm/@a%2f..%2f..%2fx",
        "/go/../x",
        "/go/api/repositories",
        "/go/../@v/list",
        "/go/a/..%2f",
        "/go//a/@v/list",
        "/go/a/./@v/list",
        "/go/a//@v/list",
        "/npm/a/b",
        "/npm/-/v1/search",
        "/npm/@scope",
        "/npm/@scope//name",
        "/npm/./x",
        "/npm/left-pad/-/left-pad",
        "/npm/left-pad/-/../x.tgz",
        "/npm/left-pad/-/a/x.tgz/",
        "/npm/../-/x.tgz",
        "/else",
    ];
    for path in files.iter().map(String::as_str).chain(others) {
        assert_eq!(Wish::read(path), None, "{path}");
    }
}
