//! Hostile names lose what is harmful; odd but harmless ones stay as they are.

use proptest::prelude::*;

use super::*;

#[test]
fn odd_but_harmless_names_stay() {
    for name in
        ["data.csv", "my \"best\" file.txt", "Übersicht – März.xlsx", "数据.csv", ".hidden", "a..b", "-rf"]
    {
        assert_eq!(clean_file_name(name), name);
    }
}

#[test]
fn only_the_last_name_of_a_path_is_taken() {
    for (given, kept) in [
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\x.csv", "x.csv"),
        ("/mnt/data/", "file"),
        ("..", "file"),
        (".", "file"),
        ("", "file"),
        ("  ", "file"),
        ("\0", "file"),
        ("a\0b\r\nc.txt", "abc.txt"),
        ("exe.\u{202e}gpj", "exe.gpj"),
    ] {
        assert_eq!(clean_file_name(given), kept, "{given:?}");
    }
}

#[test]
fn a_long_name_keeps_its_ending() {
    let name = clean_file_name(&format!("{}.csv", "é".repeat(300)));
    assert!(name.len() <= LONGEST && name.starts_with('é') && name.ends_with(".csv"), "{name}");
    assert!(clean_file_name(&"x".repeat(300)).len() == LONGEST);
    assert!(clean_file_name(&format!("a.{}", "x".repeat(300))).len() == LONGEST);
}

proptest! {
    #[test]
    fn whatever_comes_is_one_harmless_name(given in any::<String>()) {
        let name = clean_file_name(&given);
        prop_assert!(!name.is_empty() && name.len() <= LONGEST);
        prop_assert!(!name.contains(['/', '\\', '\0', '\n', '\r']) && name != "." && name != "..");
        prop_assert_eq!(clean_file_name(&name), name);
    }
}
