//! Files by the toolbox.

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::Method;
use sandgate_core::FileKind;
use serde::Deserialize;
use tokio::io::AsyncRead;

use super::place::DaytonaPlace;
use super::toolbox::about_file;
use crate::entries::modified_ms;
use crate::http::{Form, Part};
use crate::{Content, Gathered, PlaceEntry, ProviderError, ProviderResult};

/// Of a list.
const LARGEST: usize = 64 << 20;
/// Folders of one listing that are asked for at the same time.
const AT_ONCE: usize = 8;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    name: String,
    #[serde(default)]
    is_dir: bool,
    #[serde(default)]
    size: u64,
    #[serde(default)]
    modified_at: Option<String>,
    #[serde(default)]
    mod_time: Option<String>,
    /// As `ls -l` writes it.
    #[serde(default)]
    mode: String,
    /// In octal digits.
    #[serde(default)]
    permissions: String,
}

impl Info {
    fn kind(&self) -> FileKind {
        match self.mode.as_bytes().first() {
            _ if self.is_dir => FileKind::Directory,
            Some(b'L' | b'l') => FileKind::Symlink,
            Some(b'-') | None => FileKind::File,
            Some(_) => FileKind::Other,
        }
    }

    fn entry(self, folder: &str) -> PlaceEntry {
        let modified = self.modified_at.as_deref().or(self.mod_time.as_deref());
        PlaceEntry {
            kind: self.kind(),
            size: if self.is_dir { 0 } else { self.size },
            mode: u32::from_str_radix(&self.permissions, 8).unwrap_or_default() & 0o7777,
            modified_ms: modified.map(modified_ms).unwrap_or_default(),
            path: format!("{}/{}", folder.trim_end_matches('/'), self.name),
            link_target: None,
        }
    }
}

impl DaytonaPlace {
    pub(super) async fn make_folder(&self, path: &str) -> ProviderResult<()> {
        let call = self.call(Method::POST, "/files/folder", &[("path", path), ("mode", "0755")])?;
        self.of_file(path, call).await?.done().await;
        Ok(())
    }

    pub(super) async fn download(&self, path: &str) -> ProviderResult<Content> {
        let answer =
            self.of_file(path, self.call(Method::GET, "/files/download", &[("path", path)])?).await?;
        Ok(Content { size: answer.length(), reader: answer.reader() })
    }

    pub(super) async fn upload(
        &self,
        path: &str,
        content: Box<dyn AsyncRead + Send + Unpin>,
        size: u64,
    ) -> ProviderResult<()> {
        let mut form = Form::new();
        form.add(&Part { name: "files[0].path", filename: None, kind: None }, path.as_bytes());
        let part =
            Part { name: "files[0].file", filename: Some(path), kind: Some("application/octet-stream") };
        let call = self.call(Method::POST, "/files/bulk-upload", &[])?;
        let sent = self.control.client.upload(call, form, &part, content, size).await;
        self.understood(sent, about_file(path)).await?.done().await;
        Ok(())
    }

    /// The protocol lists one folder at a time: several are asked for at once.
    pub(super) async fn list_dir(&self, path: &str, depth: u32, most: usize) -> ProviderResult<Gathered> {
        let mut gathered = Gathered::default();
        let mut folders = vec![(path.to_owned(), depth)];
        let mut asked = FuturesUnordered::new();
        loop {
            while asked.len() < AT_ONCE
                && let Some((folder, depth)) = folders.pop()
            {
                asked.push(async move { (self.list_one(&folder).await, folder, depth) });
            }
            let Some((found, folder, depth)) = asked.next().await else { return Ok(gathered) };
            let found = match found {
                // It went while we looked.
                Err(ProviderError::NoSuchFile(_)) if folder != path => continue,
                found => found?,
            };
            for info in found {
                if gathered.entries.len() == most {
                    gathered.cut = true;
                    return Ok(gathered);
                }
                let entry = info.entry(&folder);
                if entry.kind == FileKind::Directory && depth > 1 {
                    folders.push((entry.path.clone(), depth - 1));
                }
                gathered.entries.push(entry);
            }
        }
    }

    async fn list_one(&self, folder: &str) -> ProviderResult<Vec<Info>> {
        let call = self.call(Method::GET, "/files", &[("path", folder)])?;
        Ok(self.of_file(folder, call).await?.json(LARGEST).await?)
    }

    pub(super) async fn info(&self, path: &str) -> ProviderResult<PlaceEntry> {
        let call = self.call(Method::GET, "/files/info", &[("path", path)])?;
        let found: Info = self.of_file(path, call).await?.json(LARGEST).await?;
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        Ok(PlaceEntry { path: path.to_owned(), ..found.entry(above) })
    }

    pub(super) async fn remove_path(&self, path: &str) -> ProviderResult<()> {
        let call = self.call(Method::DELETE, "/files", &[("path", path), ("recursive", "true")])?;
        match self.of_file(path, call).await {
            Ok(answer) => answer.done().await,
            Err(ProviderError::NoSuchFile(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    pub(super) async fn move_path(&self, from: &str, to: &str) -> ProviderResult<()> {
        let call = self.call(Method::POST, "/files/move", &[("source", from), ("destination", to)])?;
        self.of_file(from, call).await?.done().await;
        Ok(())
    }
}
