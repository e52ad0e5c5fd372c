//! Only paths of registries are asked for, and none that leads out of them.

use super::{Wish, wish};

#[test]
fn paths_of_registries_are_known() {
    for (path, kind) in [
        ("/pip/simple/six/", "pip"),
        ("/pip/simple/zope.interface", "pip"),
        ("/npm/left-pad", "npm"),
        ("/npm/@scope%2fname", "npm"),
        ("/npm/@scope/name", "npm"),
        ("/go/example.org/!upper/mod/@v/v1.0.0.zip", "go"),
        ("/go/example.org/mod/@latest", "go"),
    ] {
        assert_eq!(wish(path).map(|(kind, _)| kind), Some(kind), "{path}");
    }
    let file = format!("/pip/files/sha256-{}/six.whl", "ab".repeat(32));
    assert!(matches!(wish(&file), Some(("pip", Wish::File(_)))));
}

#[test]
fn what_leads_elsewhere_is_not() {
    for path in [
        "/",
        "/pip/simple/",
        "/pip/simple/../../etc",
        "/pip/simple/a/b",
        "/pip/simple/a?b",
        "/pip/files/sha256-00/x",
        "/pip/files/../x",
        "/npm/",
        "/npm/../x",
        "/npm/a/../../x",
        "/npm/%2e%2e/x",
        "/npm/@a%2f..%2f..%2fx",
        "/go/../x",
        "/go/a/..%2f",
        "/else",
    ] {
        assert!(wish(path).is_none(), "{path}");
    }
}
