//! Files by execd.

use std::collections::BTreeMap;

use http::{Method, StatusCode};
use sandgate_core::FileKind;
use serde::Deserialize;
use serde_json::json;
use tokio::io::AsyncRead;

use super::place::{OpenSandboxPlace, gone_or};
use crate::entries::{bits_of_digits, modified_ms};
use crate::http::{Answer, Call, Form, HttpError, Part};
use crate::{Content, Gathered, PlaceEntry, ProviderError, ProviderResult};

/// Of a list.
const LARGEST: usize = 64 << 20;

#[derive(Debug, Deserialize)]
pub(super) struct Info {
    path: String,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    size: u64,
    #[serde(default)]
    modified_at: String,
    #[serde(default)]
    mode: u32,
}

impl Info {
    fn kind(&self) -> FileKind {
        match self.kind.as_deref() {
            Some("directory") => FileKind::Directory,
            Some("symlink") => FileKind::Symlink,
            Some("other") => FileKind::Other,
            _ => FileKind::File,
        }
    }
}

impl From<Info> for PlaceEntry {
    fn from(info: Info) -> Self {
        Self {
            kind: info.kind(),
            size: info.size,
            mode: bits_of_digits(info.mode),
            modified_ms: modified_ms(&info.modified_at),
            path: info.path,
            link_target: None,
        }
    }
}

impl OpenSandboxPlace {
    pub(super) async fn make_folder(&self, path: &str) -> ProviderResult<()> {
        match self.new_dir(path, 777).await {
            // It may be there already, and not ours to change.
            Err(ProviderError::File { .. }) if self.info(path).await?.kind() == FileKind::Directory => Ok(()),
            other => other,
        }
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
        let about = Part { name: "metadata", filename: Some("metadata"), kind: Some("application/json") };
        form.add(&about, json!({"path": path, "mode": 644}).to_string().as_bytes());
        let name = path.rsplit('/').next().unwrap_or_default();
        let part = Part { name: "file", filename: Some(name), kind: Some("application/octet-stream") };
        let call = self.call(Method::POST, "/files/upload", &[])?;
        let sent = self.control.client.upload(call, form, &part, content, size).await;
        sent.map_err(about_file(path))?.done().await;
        Ok(())
    }

    pub(super) async fn list_dir(&self, path: &str, depth: u32, most: usize) -> ProviderResult<Gathered> {
        let depth = depth.to_string();
        let call = self.call(Method::GET, "/directories/list", &[("path", path), ("depth", &depth)])?;
        let found: Vec<Info> = self.of_file(path, call).await?.json(LARGEST).await?;
        let cut = found.len() > most;
        Ok(Gathered { entries: found.into_iter().take(most).map(Into::into).collect(), cut })
    }

    pub(super) async fn remove_path(&self, path: &str) -> ProviderResult<()> {
        let way = match self.info(path).await {
            Ok(info) if info.kind() == FileKind::Directory => "/directories",
            Ok(_) => "/files",
            Err(ProviderError::NoSuchFile(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        match self.of_file(path, self.call(Method::DELETE, way, &[("path", path)])?).await {
            Ok(answer) => answer.done().await,
            Err(ProviderError::NoSuchFile(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// `mode`: decimal digits that are meant as octal ones.
    pub(super) async fn new_dir(&self, path: &str, mode: u32) -> ProviderResult<()> {
        let body: BTreeMap<&str, _> = [(path, json!({"mode": mode}))].into();
        let call = self.call(Method::POST, "/directories", &[])?.json(&body)?;
        self.of_file(path, call).await?.done().await;
        Ok(())
    }

    pub(super) async fn move_path(&self, from: &str, to: &str) -> ProviderResult<()> {
        let call = self.call(Method::POST, "/files/mv", &[])?.json(&json!([{"src": from, "dest": to}]))?;
        self.of_file(from, call).await?.done().await;
        Ok(())
    }

    pub(super) async fn info(&self, path: &str) -> ProviderResult<Info> {
        let answer = self.of_file(path, self.call(Method::GET, "/files/info", &[("path", path)])?).await?;
        let mut all: BTreeMap<String, Info> = answer.json(LARGEST).await?;
        all.remove(path).ok_or_else(|| ProviderError::NoSuchFile(path.to_owned()))
    }

    async fn of_file(&self, path: &str, call: Call) -> ProviderResult<Answer> {
        self.control.client.demand(call).await.map_err(about_file(path))
    }
}

/// What execd says about a file: its own status for most of it is 500.
fn about_file(path: &str) -> impl Fn(HttpError) -> ProviderError {
    move |error| {
        let HttpError::Refused { status, code, message, .. } = &error else { return gone_or(error) };
        let (path, reason) = (path.to_owned(), message.clone());
        match (*status, code.as_deref()) {
            (StatusCode::NOT_FOUND, None | Some("FILE_NOT_FOUND")) => ProviderError::NoSuchFile(path),
            (StatusCode::BAD_REQUEST | StatusCode::INTERNAL_SERVER_ERROR, Some(_)) => {
                ProviderError::File { path, reason }
            }
            _ => gone_or(error),
        }
    }
}
