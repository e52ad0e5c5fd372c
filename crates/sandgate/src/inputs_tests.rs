//! Which files are put in, under which names.

use super::*;

fn parsed(folder: &Path, argument: &str) -> Result<(PathBuf, String)> {
    let input = Input::parse(&folder.join(argument).into_os_string())?;
    Ok((input.from.strip_prefix(folder).unwrap().to_owned(), input.to.to_string()))
}

#[test]
fn a_file_keeps_its_name_or_gets_another() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.csv", "k=v.csv"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let read = |argument| parsed(folder.path(), argument).unwrap();
    assert_eq!(read("a.csv"), ("a.csv".into(), "/mnt/data/a.csv".to_owned()));
    assert_eq!(read("a.csv=b/c.csv"), ("a.csv".into(), "/mnt/data/b/c.csv".to_owned()));
    assert_eq!(read("k=v.csv"), ("k=v.csv".into(), "/mnt/data/k=v.csv".to_owned()));
    assert_eq!(read("k=v.csv=c"), ("k=v.csv".into(), "/mnt/data/c".to_owned()));
}

#[test]
fn what_cannot_go_in_is_refused_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("dir")).unwrap();
    std::fs::write(folder.path().join("a"), "").unwrap();
    for argument in ["none", "dir", "a=", "none=a"] {
        let error = parsed(folder.path(), argument).unwrap_err();
        assert!(error.is::<BadInput>(), "{argument}: {error}");
    }
}
