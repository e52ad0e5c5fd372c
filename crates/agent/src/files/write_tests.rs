use super::*;

#[test]
fn only_exact_names_are_drafts() {
    let made = format!("{DRAFT}{}", random().unwrap());
    assert!(is_draft(&made), "{made}");
    for other in [".sandgate-draft-", ".sandgate-draft-1", ".sandgate-draft-notes-of-mine-00", "x", ""] {
        assert!(!is_draft(other), "{other}");
    }
    assert!(!is_draft(&format!("{made}.txt")));
}

#[test]
fn a_new_file_that_broke_off_is_gone_and_an_old_one_is_as_it_was() {
    let folder = std::env::temp_dir().join(format!("sandgate-write-{}", random().unwrap()));
    let (new, old) = (folder.join("new"), folder.join("old"));
    fs::create_dir(&folder).unwrap();
    fs::write(&old, "before").unwrap();
    for path in [&new, &old] {
        let mut draft = Draft::begin(path).unwrap();
        draft.file.write_all(b"after").unwrap();
        drop(draft);
    }
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!((names, fs::read_to_string(&old).unwrap().as_str()), (vec!["old".into()], "before"));
    for path in [&new, &old] {
        let mut draft = Draft::begin(path).unwrap();
        draft.file.write_all(b"after").unwrap();
        draft.finish().unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "after");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_a_killed_agent_left_is_swept_once_and_nothing_else() {
    let folder = std::env::temp_dir().join(format!("sandgate-write-{}", random().unwrap()));
    let (old, left) = (folder.join("old"), folder.join(format!("{DRAFT}{}", random().unwrap())));
    let other = folder.join(format!("{DRAFT}mine"));
    fs::create_dir(&folder).unwrap();
    for path in [&old, &left, &other] {
        fs::write(path, "x").unwrap();
    }
    let first = Draft::begin(&old).unwrap();
    assert!(!left.exists() && other.exists());
    let second = Draft::begin(&old).unwrap();
    assert!(first.aside.as_ref().unwrap().exists(), "one that is being filled stays");
    drop((first, second));
    fs::remove_dir_all(&folder).unwrap();
}
