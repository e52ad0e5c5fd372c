//! What is known of a file.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sandgate_agent::protocol::{Entry, Kind};

/// Attributes told of one file, and bytes of them all.
const MAX_ATTRIBUTES: usize = 64;
const MAX_ATTRIBUTE_BYTES: usize = 32 << 10;

/// Of the thing itself; where it is a link, with what it leads to.
pub(crate) fn look(path: &Path) -> io::Result<Entry> {
    let meta = fs::symlink_metadata(path)?;
    Ok(describe(path, &meta))
}

pub(crate) fn describe(path: &Path, meta: &Metadata) -> Entry {
    let is_link = meta.is_symlink();
    let behind = if is_link { fs::metadata(path).ok() } else { None };
    Entry {
        path: path.to_string_lossy().into_owned(),
        kind: kind(behind.as_ref().unwrap_or(meta)),
        is_link,
        link_target: if is_link { leads_to(path) } else { None },
        size: meta.size(),
        mode: meta.mode() & 0o7777,
        uid: meta.uid(),
        gid: meta.gid(),
        modified_ms: meta.mtime().saturating_mul(1000).saturating_add(meta.mtime_nsec() / 1_000_000),
        attributes: if is_link { BTreeMap::new() } else { attributes(path) },
    }
}

fn kind(meta: &Metadata) -> Kind {
    let kind = meta.file_type();
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Folder
    } else if kind.is_symlink() {
        Kind::Link
    } else {
        Kind::Other
    }
}

/// Resolved as far as it leads anywhere.
fn leads_to(path: &Path) -> Option<String> {
    let target = fs::canonicalize(path).or_else(|_| fs::read_link(path)).ok()?;
    Some(target.to_string_lossy().into_owned())
}

/// Those of the user. A file system that has none is no error.
fn attributes(path: &Path) -> BTreeMap<String, String> {
    let mut names = vec![0u8; MAX_ATTRIBUTE_BYTES];
    let Ok(length) = rustix::fs::llistxattr(path, &mut names[..]) else { return BTreeMap::new() };
    let (mut all, mut room) = (BTreeMap::new(), MAX_ATTRIBUTE_BYTES);
    for name in names[..length].split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok()) {
        let Some(key) = name.strip_prefix("user.") else { continue };
        let mut value = vec![0u8; room];
        let Ok(length) = rustix::fs::lgetxattr(path, name, &mut value[..]) else { continue };
        if all.len() == MAX_ATTRIBUTES || key.len() + length > room {
            break;
        }
        room -= key.len() + length;
        all.insert(key.to_owned(), String::from_utf8_lossy(&value[..length]).into_owned());
    }
    all
}
