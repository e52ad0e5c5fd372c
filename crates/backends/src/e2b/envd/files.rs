//! Files of a sandbox at E2B.

use http::Method;
use tokio::io::AsyncRead;

use super::super::place::{E2bPlace, ENVD_PORT};
use super::messages::{Entries, ListDir, Move, Nothing, OneEntry, Path};
use super::of_file;
use crate::http::{Form, Part};
use crate::{Content, Gathered, PlaceEntry, ProviderError, ProviderResult};

const FILES: &str = "/files";

impl E2bPlace {
    pub(in crate::e2b) async fn download(&self, path: &str) -> ProviderResult<Content> {
        let call = self.call(ENVD_PORT, Method::GET, FILES, &[("path", path)])?;
        let answer = self.client().demand(call).await.map_err(of_file(path))?;
        Ok(Content { size: answer.length(), reader: answer.reader() })
    }

    pub(in crate::e2b) async fn upload(
        &self,
        path: &str,
        content: Box<dyn AsyncRead + Send + Unpin>,
        size: u64,
    ) -> ProviderResult<()> {
        let call = self.call(ENVD_PORT, Method::POST, FILES, &[("path", path)])?;
        let part = Part { name: "file", filename: Some(path), kind: Some("application/octet-stream") };
        let sent = self.client().upload(call, Form::new(), &part, content, size).await;
        sent.map_err(of_file(path))?.done().await;
        Ok(())
    }

    pub(in crate::e2b) async fn list_dir(
        &self,
        path: &str,
        depth: u32,
        most: usize,
    ) -> ProviderResult<Gathered> {
        let body = ListDir { path, depth };
        let found: Entries = self.rpc("filesystem.Filesystem/ListDir", &body, path).await?;
        let cut = found.entries.len() > most;
        let entries = found.entries.into_iter().take(most).map(Into::into).collect();
        Ok(Gathered { entries, cut })
    }

    pub(in crate::e2b) async fn stat_path(&self, path: &str) -> ProviderResult<PlaceEntry> {
        let found: OneEntry = self.rpc("filesystem.Filesystem/Stat", &Path { path }, path).await?;
        found.entry.map(Into::into).ok_or_else(|| ProviderError::NoSuchFile(path.to_owned()))
    }

    pub(in crate::e2b) async fn remove_path(&self, path: &str) -> ProviderResult<()> {
        match self.rpc::<Nothing>("filesystem.Filesystem/Remove", &Path { path }, path).await {
            Ok(_) | Err(ProviderError::NoSuchFile(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(in crate::e2b) async fn new_dir(&self, path: &str) -> ProviderResult<()> {
        let call = self.rpc_call("filesystem.Filesystem/MakeDir")?.json(&Path { path })?;
        match self.client().demand(call).await {
            Ok(answer) => answer.done().await,
            // There is something already; a folder is what was wanted.
            Err(error) if error.status() == Some(http::StatusCode::CONFLICT) => {
                let what: OneEntry = self.rpc("filesystem.Filesystem/Stat", &Path { path }, path).await?;
                let is_folder = what.entry.is_some_and(|entry| entry.kind() != sandgate_core::FileKind::File);
                if !is_folder {
                    return Err(of_file(path)(error));
                }
            }
            Err(error) => return Err(of_file(path)(error)),
        }
        Ok(())
    }

    pub(in crate::e2b) async fn move_path(&self, from: &str, to: &str) -> ProviderResult<()> {
        let body = Move { source: from, destination: to };
        self.rpc::<OneEntry>("filesystem.Filesystem/Move", &body, from).await.map(|_| ())
    }
}
