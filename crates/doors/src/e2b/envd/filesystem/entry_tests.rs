use super::*;

fn entry(kind: FileKind, mode: u32, is_link: bool) -> Entry {
    Entry {
        path: "/home/user/x".to_owned(),
        kind,
        is_link,
        link_target: None,
        size: 3,
        mode,
        owner: "user".to_owned(),
        group: "user".to_owned(),
        modified_ms: 0,
        attributes: BTreeMap::new(),
    }
}

#[test]
fn permissions_read_as_go_writes_them() {
    let rows = [
        (FileKind::File, 0o644, false, "-rw-r--r--"),
        (FileKind::Directory, 0o755, false, "drwxr-xr-x"),
        (FileKind::File, 0o777, true, "Lrwxrwxrwx"),
        (FileKind::Directory, 0o1777, false, "dtrwxrwxrwx"),
        (FileKind::File, 0o4755, false, "urwxr-xr-x"),
        (FileKind::File, 0, false, "----------"),
    ];
    for (kind, mode, is_link, text) in rows {
        assert_eq!(info(entry(kind, mode, is_link)).permissions, text);
    }
    assert_eq!(info(entry(FileKind::Directory, 0o1777, false)).mode, 0o777);
}

#[test]
fn only_the_attributes_of_clients_are_metadata() {
    let attributes = [("e2b.author", "ana"), ("xdg.origin", "elsewhere")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let shown = info(Entry { attributes: attributes.into(), ..entry(FileKind::File, 0o644, false) }).metadata;
    assert_eq!(shown, BTreeMap::from([("author".to_owned(), "ana".to_owned())]));
}
