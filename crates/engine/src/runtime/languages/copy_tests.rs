//! A copy stands alone.

use std::fs;
use std::os::unix::fs::symlink;

use super::tree;

#[test]
fn links_out_become_what_they_lead_to_within_the_root() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    let from = root.join("usr/lib/tool");
    for folder in [from.join("conf"), root.join("etc/tool")] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(root.join("etc/tool/settings"), "kept").unwrap();
    fs::write(from.join("program"), "code").unwrap();
    fs::write(from.join("src.zip"), "large").unwrap();
    symlink("/etc/tool/settings", from.join("conf/settings")).unwrap();
    symlink("program", from.join("alias")).unwrap();
    symlink("../../../etc/tool/settings", from.join("relative")).unwrap();
    symlink("/nowhere/at/all", from.join("dangling")).unwrap();
    symlink("/loop", root.join("loop")).unwrap();
    symlink("/loop", from.join("endless")).unwrap();
    let to = place.path().join("copy");
    tree(&root, &from, &to, &["src.zip"]).unwrap();
    fs::remove_dir_all(&root).unwrap();
    assert_eq!(fs::read_to_string(to.join("conf/settings")).unwrap(), "kept");
    assert_eq!(fs::read_to_string(to.join("relative")).unwrap(), "kept");
    assert_eq!(fs::read_to_string(to.join("alias")).unwrap(), "code");
    for left_out in ["src.zip", "dangling", "endless"] {
        assert!(to.join(left_out).symlink_metadata().is_err(), "{left_out}");
    }
}
