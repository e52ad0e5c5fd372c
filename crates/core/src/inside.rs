//! A running sandbox from within: every file as its programs see it, changes to folders, open ports. Paths
//! are resolved inside by somebody with no more rights than the code there, so none can lead out.

use std::collections::BTreeMap;
use std::fmt::Debug;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use crate::{ByteRange, FileKind, Result, SandboxPath};

/// A file, a folder or a link, as `ls -l` would show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub path: String,
    /// Of what a link leads to, where it leads to something.
    pub kind: FileKind,
    pub is_link: bool,
    /// What the link leads to, resolved.
    pub link_target: Option<String>,
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    pub owner: String,
    pub group: String,
    /// Milliseconds since 1970.
    pub modified_ms: i64,
    /// Extended attributes `user.<key>`, without the `user.`.
    pub attributes: BTreeMap<String, String>,
}

/// An open file and what it is.
pub struct OpenFile {
    pub entry: Entry,
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
}

impl Debug for OpenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenFile").field("entry", &self.entry).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Created,
    Written,
    Removed,
    Renamed,
    Permissions,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderChange {
    /// Relative to the watched folder.
    pub name: String,
    pub change: Change,
}

/// What is heard of a watched folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderNews {
    Changed(FolderChange),
    /// Everything that had happened when this was asked for has been told.
    UpToDate,
}

/// Changes of a watched folder in their order. The watch ends when this is dropped.
#[derive(Debug)]
pub struct FolderChanges {
    news: mpsc::Receiver<FolderNews>,
    questions: mpsc::Sender<()>,
}

impl FolderChanges {
    /// `questions`: each is answered among the news.
    #[must_use]
    pub fn new(news: mpsc::Receiver<FolderNews>, questions: mpsc::Sender<()>) -> Self {
        Self { news, questions }
    }

    /// None: there will be no more.
    pub async fn next(&mut self) -> Option<FolderNews> {
        self.news.recv().await
    }

    /// The next change.
    pub async fn recv(&mut self) -> Option<FolderChange> {
        loop {
            if let FolderNews::Changed(change) = self.next().await? {
                return Some(change);
            }
        }
    }

    /// For [`FolderNews::UpToDate`]; one answer for each question.
    #[must_use]
    pub fn questions(&self) -> mpsc::Sender<()> {
        self.questions.clone()
    }
}

/// A connection to something inside.
pub trait Connection: AsyncRead + AsyncWrite + Send + Unpin + Debug {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin + Debug> Connection for T {}

#[async_trait]
pub trait Inside: Send + Sync + Debug {
    async fn stat(&self, path: &SandboxPath) -> Result<Entry>;
    /// Everything down to `depth` levels below the folder, sorted by path.
    async fn list(&self, path: &SandboxPath, depth: u32) -> Result<Vec<Entry>>;
    async fn open(&self, path: &SandboxPath, range: Option<ByteRange>) -> Result<OpenFile>;
    /// Replaces what the file held, or makes it and the folders above it. `attributes` replace those it had.
    async fn write(
        &self,
        path: &SandboxPath,
        content: &mut (dyn AsyncRead + Send + Unpin),
        attributes: &BTreeMap<String, String>,
    ) -> Result<Entry>;
    /// With the folders above it. [`crate::BackendError::Exists`] when there is such a folder already.
    async fn make_dir(&self, path: &SandboxPath) -> Result<Entry>;
    async fn rename(&self, from: &SandboxPath, to: &SandboxPath) -> Result<Entry>;
    /// A folder goes with all it holds; a link goes, not what it points to. [`crate::BackendError::NoSuchFile`]
    /// when there is nothing.
    async fn remove(&self, path: &SandboxPath) -> Result<()>;
    async fn set_mode(&self, path: &SandboxPath, mode: u32) -> Result<()>;
    /// Changes below a folder from here on. Closed when the folder is gone, or when changes come faster than they
    /// are read.
    async fn watch(&self, path: &SandboxPath, recursive: bool) -> Result<FolderChanges>;
    /// To a program inside that listens on this port of its loopback. [`crate::BackendError::PortClosed`] when none does.
    async fn connect(&self, port: u16) -> Result<Box<dyn Connection>>;
    /// Has something listen on this port of the loopback inside that says this to whoever connects. No error when
    /// something listens there already.
    async fn answer(&self, port: u16, said: &str) -> Result<()>;
}
