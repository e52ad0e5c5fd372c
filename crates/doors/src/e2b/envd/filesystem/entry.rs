//! What `ls -l` would say, in the words of the protocol.

use std::collections::BTreeMap;

use sandgate_core::{Entry, FileKind};

use super::super::messages::filesystem::{EntryInfo, FileType};
use super::super::messages::timestamp::Timestamp;
use super::super::paths::name_of;

/// Attributes that clients gave a file are below this.
const METADATA: &str = "e2b.";

pub(super) fn info(entry: Entry) -> EntryInfo {
    let file_type = match entry.kind {
        FileKind::File => FileType::File,
        FileKind::Directory => FileType::Directory,
        FileKind::Symlink => FileType::Symlink,
        FileKind::Other => FileType::Unspecified,
    };
    EntryInfo {
        name: name_of(&entry.path).to_owned(),
        r#type: file_type as i32,
        size: i64::try_from(entry.size).unwrap_or(i64::MAX),
        mode: entry.mode & 0o777,
        permissions: permissions(&entry),
        modified_time: Some(Timestamp::from_millis(entry.modified_ms)),
        metadata: metadata(&entry.attributes),
        path: entry.path,
        owner: entry.owner,
        group: entry.group,
        symlink_target: entry.link_target,
        is_symlink: entry.is_link,
    }
}

/// Those of a file's attributes that are a client's.
pub(crate) fn metadata(attributes: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let own =
        |(name, value): (&String, &String)| Some((name.strip_prefix(METADATA)?.to_owned(), value.clone()));
    attributes.iter().filter_map(own).collect()
}

/// As Go writes a file's mode: a letter for each thing it is, then who may read, write and execute.
fn permissions(entry: &Entry) -> String {
    let mut text = String::with_capacity(12);
    let letters = [
        (entry.kind == FileKind::Directory && !entry.is_link, 'd'),
        (entry.is_link || entry.kind == FileKind::Symlink, 'L'),
        (entry.mode & 0o4000 != 0, 'u'),
        (entry.mode & 0o2000 != 0, 'g'),
        (entry.mode & 0o1000 != 0, 't'),
    ];
    text.extend(letters.into_iter().filter_map(|(holds, letter)| holds.then_some(letter)));
    if text.is_empty() {
        text.push('-');
    }
    text.extend(
        "rwxrwxrwx".chars().zip((0..9).rev()).map(
            |(letter, bit)| {
                if entry.mode & (1 << bit) == 0 { '-' } else { letter }
            },
        ),
    );
    text
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
