//! A sandbox from within, through its agent.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use sandgate_agent::protocol::{self as wire, FILE_CHUNK, FailureKind, FromAgent, Request, ToAgent};
use sandgate_core::{
    BackendError, ByteRange, Change, Connection, Entry, FolderChange, FolderChanges, FolderNews, Inside,
    OpenFile, Result, SandboxPath,
};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;

use super::disk::{Changing, is_on_disk};
use super::entry::checked;
use super::failure::of_file;
use super::file_reader::content;
use super::operation::{Operation, out_of_turn};
use crate::files::check_attributes;
use crate::sandbox::EngineSandbox;

/// Entries of one listing, and bytes of their paths and attributes.
const MAX_LISTED: usize = 10_000;
const MAX_LISTED_BYTES: usize = 16 << 20;
/// Changes that wait for a slow reader before the watch ends.
const CHANGES_AHEAD: usize = 1024;
/// Questions for what happened up to now that wait for the agent.
const QUESTIONS_AHEAD: usize = 16;

#[derive(Debug)]
pub(crate) struct EngineInside(Arc<EngineSandbox>);

impl EngineInside {
    pub(crate) fn new(sandbox: Arc<EngineSandbox>) -> Self {
        Self(sandbox)
    }

    /// Everything that it answers.
    async fn entries(&self, path: &SandboxPath, request: Request) -> Result<Vec<Entry>> {
        let mut operation = Operation::begin(&self.0, request).await?;
        let (mut entries, mut bytes) = (Vec::new(), 0);
        loop {
            match operation.answer(&self.0).await? {
                FromAgent::Entry(entry) => {
                    bytes += weight(&entry);
                    if entries.len() == MAX_LISTED || bytes > MAX_LISTED_BYTES {
                        return Err(out_of_turn());
                    }
                    entries.push(checked(entry));
                }
                FromAgent::Done => return Ok(entries),
                FromAgent::Failed(failure) => return Err(of_file(path.as_str(), failure)),
                _ => return Err(out_of_turn()),
            }
        }
    }

    async fn one(&self, path: &SandboxPath, request: Request) -> Result<Entry> {
        let mut entries = self.entries(path, request).await?.into_iter();
        entries.next().ok_or_else(out_of_turn)
    }

    async fn write_within(
        &self,
        changing: &Changing,
        path: &SandboxPath,
        content: &mut (dyn AsyncRead + Send + Unpin),
        attributes: &BTreeMap<String, String>,
    ) -> Result<Entry> {
        let counts = is_on_disk(path);
        let mut operation = Operation::begin(&self.0, Request::Write { path: text(path) }).await?;
        let mut buffer = vec![0; FILE_CHUNK];
        loop {
            let length = content.read(&mut buffer).await.map_err(|error| BackendError::File {
                path: text(path),
                reason: format!("the content broke off: {error}"),
            })?;
            if length == 0 {
                operation.say(&self.0, &ToAgent::DataEnd).await?;
                break;
            }
            if counts {
                changing.take_bytes(path, length as u64).await?;
            }
            let part = Bytes::copy_from_slice(&buffer[..length]);
            let said = operation.say(&self.0, &ToAgent::Data(part)).await;
            // An answer before the end is why it will not be written.
            match operation.connection.at_hand() {
                Ok(Some(FromAgent::Failed(failure))) => return Err(of_file(path.as_str(), failure)),
                Ok(Some(_)) => return Err(out_of_turn()),
                Ok(None) | Err(_) => said?,
            }
        }
        let mut entry = match operation.answer(&self.0).await? {
            FromAgent::Entry(entry) => checked(entry),
            FromAgent::Failed(failure) => return Err(of_file(path.as_str(), failure)),
            _ => return Err(out_of_turn()),
        };
        if entry.attributes != *attributes {
            let written = SandboxPath::parse(&entry.path)?;
            // A place in memory keeps no attributes, and the entry says that there are none.
            let kept = is_on_disk(&written) && self.0.set_attributes(&written, attributes).await?;
            entry.attributes = if kept { attributes.clone() } else { BTreeMap::new() };
        }
        entry.path = text(path);
        Ok(entry)
    }

    async fn change(&self, at: &SandboxPath, into: &SandboxPath, request: Request) -> Result<Entry> {
        let changing = Changing::begin(&self.0, into).await?;
        self.0.note_change_from_outside();
        if at != into && is_on_disk(into) && !is_on_disk(at) {
            // What comes from elsewhere is copied. A folder is watched while it is.
            let moved = self.stat(at).await?;
            changing.take_bytes(into, moved.size).await?;
        }
        match self.one(at, request).await {
            Err(error) => Err(changing.explain(into, error).await),
            done => done,
        }
    }
}

fn weight(entry: &wire::Entry) -> usize {
    let attributes = entry.attributes.iter().map(|(key, value)| key.len() + value.len() + 64);
    entry.path.len() + entry.link_target.as_ref().map_or(0, String::len) + attributes.sum::<usize>()
}

fn text(path: &SandboxPath) -> String {
    path.as_str().to_owned()
}

#[async_trait]
impl Inside for EngineInside {
    async fn stat(&self, path: &SandboxPath) -> Result<Entry> {
        self.one(path, Request::Stat { path: text(path) }).await
    }

    async fn list(&self, path: &SandboxPath, depth: u32) -> Result<Vec<Entry>> {
        let request = Request::List { path: text(path), depth: depth.max(1), most: MAX_LISTED };
        self.entries(path, request).await
    }

    async fn open(&self, path: &SandboxPath, range: Option<ByteRange>) -> Result<OpenFile> {
        let range = range.unwrap_or(ByteRange { start: 0, length: None });
        let request = Request::Open { path: text(path), start: range.start, length: range.length };
        let mut operation = Operation::begin(&self.0, request).await?;
        match operation.answer(&self.0).await? {
            FromAgent::Entry(entry) => {
                let reader = Box::new(content(operation, Arc::clone(&self.0)));
                Ok(OpenFile { entry: checked(entry), reader })
            }
            FromAgent::Failed(failure) => Err(of_file(path.as_str(), failure)),
            _ => Err(out_of_turn()),
        }
    }

    async fn write(
        &self,
        path: &SandboxPath,
        content: &mut (dyn AsyncRead + Send + Unpin),
        attributes: &BTreeMap<String, String>,
    ) -> Result<Entry> {
        check_attributes(attributes)?;
        let changing = Changing::begin(&self.0, path).await?;
        self.0.note_change_from_outside();
        match self.write_within(&changing, path, content, attributes).await {
            Err(error) => Err(changing.explain(path, error).await),
            done => done,
        }
    }

    async fn make_dir(&self, path: &SandboxPath) -> Result<Entry> {
        self.change(path, path, Request::MakeDir { path: text(path) }).await
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath) -> Result<Entry> {
        self.change(from, to, Request::Rename { from: text(from), to: text(to) }).await
    }

    async fn remove(&self, path: &SandboxPath) -> Result<()> {
        self.0.note_change_from_outside();
        self.entries(path, Request::Remove { path: text(path) }).await.map(drop)
    }

    async fn set_mode(&self, path: &SandboxPath, mode: u32) -> Result<()> {
        self.0.note_change_from_outside();
        self.entries(path, Request::SetMode { path: text(path), mode }).await.map(drop)
    }

    async fn watch(&self, path: &SandboxPath, recursive: bool) -> Result<FolderChanges> {
        let mut operation = Operation::begin(&self.0, Request::Watch { path: text(path), recursive }).await?;
        match operation.answer(&self.0).await? {
            FromAgent::Done => {}
            FromAgent::Failed(failure) => return Err(of_file(path.as_str(), failure)),
            _ => return Err(out_of_turn()),
        }
        let (news, heard) = mpsc::channel(CHANGES_AHEAD);
        let (questions, asked) = mpsc::channel(QUESTIONS_AHEAD);
        self.0.spawn(async move { pass_on_changes(operation, news, asked).await });
        Ok(FolderChanges::new(heard, questions))
    }

    async fn connect(&self, port: u16) -> Result<Box<dyn Connection>> {
        let mut operation = Operation::begin(&self.0, Request::Connect { port }).await?;
        match operation.only_answer(&self.0).await? {
            FromAgent::Done => Ok(Box::new(operation.connection.into_stream())),
            FromAgent::Failed(failure) if failure.kind == FailureKind::PortClosed => {
                Err(BackendError::PortClosed(port))
            }
            FromAgent::Failed(failure) => Err(of_file(&format!("port {port}"), failure)),
            _ => Err(out_of_turn()),
        }
    }

    async fn answer(&self, port: u16, said: &str) -> Result<()> {
        let request = Request::Answer { port, said: said.to_owned() };
        let mut operation = Operation::begin(&self.0, request).await?;
        match operation.only_answer(&self.0).await? {
            FromAgent::Done => Ok(()),
            FromAgent::Failed(failure) if failure.kind == FailureKind::Exists => Ok(()),
            FromAgent::Failed(failure) => Err(of_file(&format!("port {port}"), failure)),
            _ => Err(out_of_turn()),
        }
    }
}

/// Until either side has no more interest, or the reader falls too far behind.
async fn pass_on_changes(
    mut operation: Operation,
    news: mpsc::Sender<FolderNews>,
    mut asked: mpsc::Receiver<()>,
) {
    loop {
        let said = tokio::select! {
            said = operation.connection.next() => said,
            Some(()) = asked.recv() => match operation.connection.say(&ToAgent::UpToNow).await {
                Ok(()) => continue,
                Err(_) => return,
            },
            () = news.closed() => return,
        };
        let told = match said {
            Ok(Some(FromAgent::Changed { name, change })) => {
                FolderNews::Changed(FolderChange { name, change: meaning(change) })
            }
            Ok(Some(FromAgent::Done)) => FolderNews::UpToDate,
            _ => return,
        };
        if news.try_send(told).is_err() {
            return;
        }
    }
}

fn meaning(change: wire::Change) -> Change {
    match change {
        wire::Change::Created => Change::Created,
        wire::Change::Written => Change::Written,
        wire::Change::Removed => Change::Removed,
        wire::Change::Renamed => Change::Renamed,
        wire::Change::Permissions => Change::Permissions,
    }
}
