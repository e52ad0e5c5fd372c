//! Package `filesystem`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use super::json::{self, is_default};
use super::timestamp::Timestamp;

#[derive(Clone, Copy, PartialEq, Eq, Debug, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum FileType {
    Unspecified = 0,
    File = 1,
    Directory = 2,
    Symlink = 3,
}

fn file_type<S: Serializer>(value: &i32, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(match FileType::try_from(*value) {
        Ok(FileType::File) => "FILE_TYPE_FILE",
        Ok(FileType::Directory) => "FILE_TYPE_DIRECTORY",
        Ok(FileType::Symlink) => "FILE_TYPE_SYMLINK",
        Ok(FileType::Unspecified) | Err(_) => "FILE_TYPE_UNSPECIFIED",
    })
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum EventType {
    Unspecified = 0,
    Create = 1,
    Write = 2,
    Remove = 3,
    Rename = 4,
    Chmod = 5,
}

fn event_type<S: Serializer>(value: &i32, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(match EventType::try_from(*value) {
        Ok(EventType::Create) => "EVENT_TYPE_CREATE",
        Ok(EventType::Write) => "EVENT_TYPE_WRITE",
        Ok(EventType::Remove) => "EVENT_TYPE_REMOVE",
        Ok(EventType::Rename) => "EVENT_TYPE_RENAME",
        Ok(EventType::Chmod) => "EVENT_TYPE_CHMOD",
        Ok(EventType::Unspecified) | Err(_) => "EVENT_TYPE_UNSPECIFIED",
    })
}

#[derive(Clone, PartialEq, Eq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EntryInfo {
    #[prost(string, tag = "1")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) name: String,
    #[prost(enumeration = "FileType", tag = "2")]
    #[serde(skip_serializing_if = "is_default", serialize_with = "file_type")]
    pub(crate) r#type: i32,
    #[prost(string, tag = "3")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) path: String,
    #[prost(int64, tag = "4")]
    #[serde(skip_serializing_if = "is_default", serialize_with = "json::long")]
    pub(crate) size: i64,
    #[prost(uint32, tag = "5")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) mode: u32,
    #[prost(string, tag = "6")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) permissions: String,
    #[prost(string, tag = "7")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) owner: String,
    #[prost(string, tag = "8")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) group: String,
    #[prost(message, optional, tag = "9")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) modified_time: Option<Timestamp>,
    #[prost(string, optional, tag = "10")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) symlink_target: Option<String>,
    #[prost(btree_map = "string, string", tag = "11")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) metadata: BTreeMap<String, String>,
    /// The type is then that of what the link leads to.
    #[prost(bool, tag = "12")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) is_symlink: bool,
}

/// `Stat`, `MakeDir` and `Remove` ask alike.
#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct PathRequest {
    #[prost(string, tag = "1")]
    pub(crate) path: String,
}

/// `Stat`, `MakeDir` and `Move` answer alike.
#[derive(Clone, PartialEq, Eq, prost::Message, Serialize)]
pub(crate) struct EntryResponse {
    #[prost(message, optional, tag = "1")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry: Option<EntryInfo>,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct MoveRequest {
    #[prost(string, tag = "1")]
    pub(crate) source: String,
    #[prost(string, tag = "2")]
    pub(crate) destination: String,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default)]
pub(crate) struct ListDirRequest {
    #[prost(string, tag = "1")]
    pub(crate) path: String,
    #[prost(uint32, tag = "2")]
    #[serde(deserialize_with = "json::number")]
    pub(crate) depth: u32,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Serialize)]
pub(crate) struct ListDirResponse {
    #[prost(message, repeated, tag = "1")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) entries: Vec<EntryInfo>,
}

/// `WatchDir` and `CreateWatcher` ask alike.
#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct WatchRequest {
    #[prost(string, tag = "1")]
    pub(crate) path: String,
    #[prost(bool, tag = "2")]
    pub(crate) recursive: bool,
    #[prost(bool, tag = "3")]
    #[serde(alias = "include_entry")]
    pub(crate) include_entry: bool,
    /// There are none here, so it makes no difference.
    #[prost(bool, tag = "4")]
    #[serde(alias = "allow_network_mounts")]
    pub(crate) allow_network_mounts: bool,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Serialize)]
pub(crate) struct FilesystemEvent {
    #[prost(string, tag = "1")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) name: String,
    #[prost(enumeration = "EventType", tag = "2")]
    #[serde(skip_serializing_if = "is_default", serialize_with = "event_type")]
    pub(crate) r#type: i32,
    #[prost(message, optional, tag = "3")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry: Option<EntryInfo>,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message, Serialize)]
pub(crate) struct WatchStart {}

#[derive(Clone, PartialEq, Eq, prost::Oneof, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum WatchEvent {
    #[prost(message, tag = "1")]
    Start(WatchStart),
    #[prost(message, boxed, tag = "2")]
    Filesystem(Box<FilesystemEvent>),
    #[prost(message, tag = "3")]
    Keepalive(WatchStart),
}

#[derive(Clone, PartialEq, Eq, prost::Message, Serialize)]
pub(crate) struct WatchDirResponse {
    #[prost(oneof = "WatchEvent", tags = "1, 2, 3")]
    #[serde(flatten)]
    pub(crate) event: Option<WatchEvent>,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreateWatcherResponse {
    #[prost(string, tag = "1")]
    pub(crate) watcher_id: String,
}

/// `GetWatcherEvents` and `RemoveWatcher` ask alike.
#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct WatcherRequest {
    #[prost(string, tag = "1")]
    #[serde(alias = "watcher_id")]
    pub(crate) watcher_id: String,
}

#[derive(Clone, PartialEq, Eq, prost::Message, Serialize)]
pub(crate) struct GetWatcherEventsResponse {
    #[prost(message, repeated, tag = "1")]
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) events: Vec<FilesystemEvent>,
}
