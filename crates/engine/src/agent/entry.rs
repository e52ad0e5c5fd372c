//! What an agent says of a file, checked and in the words of the core.

use sandgate_agent::protocol as wire;
use sandgate_core::{Entry, FileKind};
use sandgate_jail::{INNER_INIT, INNER_USER};

pub(super) fn checked(entry: wire::Entry) -> Entry {
    Entry {
        path: entry.path,
        kind: match entry.kind {
            wire::Kind::File => FileKind::File,
            wire::Kind::Folder => FileKind::Directory,
            wire::Kind::Link => FileKind::Symlink,
            wire::Kind::Other => FileKind::Other,
        },
        is_link: entry.is_link,
        link_target: entry.link_target,
        size: entry.size,
        mode: entry.mode & 0o7777,
        owner: name(entry.uid),
        group: name(entry.gid),
        modified_ms: entry.modified_ms,
        attributes: entry.attributes,
    }
}

/// Of a user or a group; each has the name of the other.
fn name(id: u32) -> String {
    match id {
        INNER_USER => "user".to_owned(),
        INNER_INIT => "root".to_owned(),
        other => other.to_string(),
    }
}
