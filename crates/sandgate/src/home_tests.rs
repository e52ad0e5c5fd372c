//! Where the data folder is.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn resolved(variables: &[(&str, &str)]) -> Option<PathBuf> {
    let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
    resolve(find).ok()
}

#[test]
fn the_first_variable_that_is_set_wins() {
    let all = [("SANDGATE_HOME", "/s"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
    assert_eq!(resolved(&all), Some("/s".into()));
    assert_eq!(resolved(&all[1..]), Some("/x/sandgate".into()));
    assert_eq!(resolved(&all[2..]), Some("/h/.local/share/sandgate".into()));
    assert_eq!(resolved(&[]), None);
}

#[test]
fn empty_and_relative_values_count_as_unset_where_the_rules_say_so() {
    assert_eq!(resolved(&[("SANDGATE_HOME", ""), ("HOME", "/h")]), Some("/h/.local/share/sandgate".into()));
    assert_eq!(resolved(&[("XDG_DATA_HOME", "x"), ("HOME", "/h")]), Some("/h/.local/share/sandgate".into()));
}

#[test]
fn a_new_folder_is_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let made = make(&folder.path().join("a/b")).unwrap();
    assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_file_in_the_way_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("taken"), "").unwrap();
    assert!(make(&folder.path().join("taken")).is_err());
    assert!(make(&folder.path().join("taken/below")).is_err());
}
