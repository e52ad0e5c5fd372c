//! What `sandgate runtime` takes and shows.

use super::*;

#[test]
fn runtimes_are_named_by_themselves_or_by_a_language() {
    let names = ["js", "node", "Go"].map(str::to_owned);
    assert_eq!(editions(&names).unwrap(), [Tool::Node.into(), Tool::Go.into()], "each once");
    let error = editions(&["cobol".to_owned()]).unwrap_err();
    assert_eq!(error.to_string(), "there is no runtime 'cobol'; there is: node, java, go, r");
    let error = editions(&["go".to_owned(), "bash".to_owned()]).unwrap_err();
    assert_eq!(error.to_string(), "Bash is always there");
    let error = editions(&["python@3.12".to_owned()]).unwrap_err();
    assert_eq!(error.to_string(), "Python is there in one version, that of this machine");
    let error = editions(&["java@8".to_owned()]).unwrap_err();
    assert_eq!(error.to_string(), "Java 8 cannot be added; what can: java, java@25, java@21, java@17");
}

#[test]
fn what_is_missing_says_how_to_add_it() {
    let home = tempfile::tempdir().unwrap();
    let text = list(home.path()).unwrap();
    for tool in Tool::ALL {
        assert!(text.contains(&format!("sandgate runtime add {tool}")), "{text}");
    }
    assert!(text.lines().any(|line| line.starts_with("bash") && line.ends_with("ready")), "{text}");
    std::fs::create_dir_all(home.path().join("languages/go")).unwrap();
    assert!(list(home.path()).unwrap().contains("not whole: sandgate runtime add go"));
    assert!(!text.contains("node@20"), "versions that nobody asked for are nothing to tell: {text}");
    std::fs::create_dir_all(home.path().join("languages/node@20")).unwrap();
    assert!(list(home.path()).unwrap().contains("not whole: sandgate runtime add node@20"));
}
