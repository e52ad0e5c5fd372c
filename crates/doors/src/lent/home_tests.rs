//! Where a path of a client's leads.

use super::*;

#[test]
fn paths_start_where_they_say_or_where_the_sandbox_works() {
    let rows = [
        ("/tmp/a", "/tmp/a"),
        ("a/b", "/data/a/b"),
        ("", "/data"),
        ("~", "/home/user"),
        ("~/x", "/home/user/x"),
        ("../../etc/passwd", "/etc/passwd"),
        ("/a/../../..//b", "/b"),
    ];
    for (written, meant) in rows {
        assert_eq!(resolve(written, "/data").unwrap().as_str(), meant);
    }
    for refused in ["~root/x", "/a\0b", &"x/".repeat(4000)] {
        assert!(resolve(refused, "/data").is_err(), "{refused}");
    }
}

#[test]
fn a_name_is_the_end_of_a_path() {
    assert_eq!((name_of("/a/b.txt"), name_of("/a/b/"), name_of("/")), ("b.txt", "b", "/"));
}
