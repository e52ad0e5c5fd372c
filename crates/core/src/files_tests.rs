//! Paths fold as in a real root and never climb out.

use super::SandboxPath;

fn folded(text: &str) -> String {
    SandboxPath::parse(text).unwrap().as_str().to_owned()
}

#[test]
fn relative_paths_start_in_the_working_dir() {
    assert_eq!(folded("a.csv"), "/mnt/data/a.csv");
    assert_eq!(folded("./x//y/../z"), "/mnt/data/x/z");
}

#[test]
fn a_path_cannot_climb_above_the_root() {
    assert_eq!(folded("/../../etc/passwd"), "/etc/passwd");
    assert_eq!(folded("../../../.."), "/");
}

#[test]
fn impossible_paths_are_refused_with_a_reason() {
    for (text, word) in
        [("", "empty"), ("a\0b", "NUL"), (&"x".repeat(300), "255"), (&"x/".repeat(3000), "long")]
    {
        let error = SandboxPath::parse(text).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn split_gives_parent_and_name() {
    let path = SandboxPath::parse("/a/b").unwrap();
    let (parent, name) = path.split().unwrap();
    assert_eq!((parent.as_str(), name), ("/a", "b"));
    assert!(SandboxPath::parse("/").unwrap().split().is_none());
}
