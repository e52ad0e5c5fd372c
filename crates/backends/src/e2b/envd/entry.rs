//! A file, a folder or a link, as E2B's agent tells it.

use sandgate_core::FileKind;
use serde::{Deserialize, Deserializer};

use crate::PlaceEntry;
use crate::entries::modified_ms;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EntryInfo {
    #[serde(default, rename = "type")]
    kind: String,
    pub(super) path: String,
    #[serde(default, deserialize_with = "number")]
    size: u64,
    #[serde(default)]
    pub(super) mode: u32,
    #[serde(default)]
    pub(super) owner: String,
    #[serde(default)]
    modified_time: Option<String>,
    #[serde(default)]
    symlink_target: Option<String>,
    #[serde(default)]
    is_symlink: bool,
}

impl EntryInfo {
    pub(super) fn kind(&self) -> FileKind {
        // Older agents know links only by where they lead.
        if self.is_symlink || self.symlink_target.is_some() {
            return FileKind::Symlink;
        }
        match self.kind.as_str() {
            "FILE_TYPE_FILE" => FileKind::File,
            "FILE_TYPE_DIRECTORY" => FileKind::Directory,
            "FILE_TYPE_SYMLINK" => FileKind::Symlink,
            _ => FileKind::Other,
        }
    }
}

impl From<EntryInfo> for PlaceEntry {
    fn from(info: EntryInfo) -> Self {
        let modified = info.modified_time.as_deref().map(modified_ms).unwrap_or_default();
        Self {
            kind: info.kind(),
            path: info.path,
            size: info.size,
            mode: info.mode & 0o7777,
            modified_ms: modified,
            link_target: info.symlink_target,
        }
    }
}

/// As protobuf's JSON writes long numbers: as text, or plain.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(u64),
        Text(String),
    }
    match Written::deserialize(from)? {
        Written::Number(number) => Ok(number),
        Written::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}
