//! Where secrets come from, and that they go nowhere else.

use super::*;

fn find(text: &str) -> Result<Secret, String> {
    SecretText::new(text).find()
}

#[test]
fn a_missing_secret_is_named() {
    for text in ["env:SANDGATE_NO_SUCH_VARIABLE", "os.environ/SANDGATE_NO_SUCH_VARIABLE"] {
        assert_eq!(find(text).unwrap_err(), "the variable SANDGATE_NO_SUCH_VARIABLE is not set");
    }
    assert!(find("file:/no/such/file").unwrap_err().contains("/no/such/file"));
    assert!(find("  ").is_err());
}

#[test]
fn files_and_variables_are_read_without_their_line_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "sk-from-file\n").unwrap();
    assert_eq!(find(&format!("file:{}", path.display())).unwrap().expose(), "sk-from-file");
    assert_eq!(find("env:PATH").unwrap().expose(), std::env::var("PATH").unwrap());
    assert_eq!(find("sk-literal").unwrap().expose(), "sk-literal");
}

#[test]
fn nothing_prints_a_secret() {
    let text = SecretText::new("sk-literal");
    let shown = format!("{text:?} {:?}", text.find());
    assert!(!shown.contains("sk-literal"), "{shown}");
}
