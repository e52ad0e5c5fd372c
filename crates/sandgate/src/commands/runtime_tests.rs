//! What `sandgate runtime` takes and shows.

use super::*;

#[test]
fn runtimes_are_named_by_themselves_or_by_a_language() {
    let names = ["js", "node", "Go"].map(str::to_owned);
    assert_eq!(tools(&names).unwrap(), [Tool::Node, Tool::Go], "each once");
    let error = tools(&["cobol".to_owned()]).unwrap_err();
    assert_eq!(error.to_string(), "there is no runtime 'cobol'; there is: node, java, go, r");
    let error = tools(&["go".to_owned(), "bash".to_owned()]).unwrap_err();
    assert_eq!(error.to_string(), "Bash is always there");
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
}
