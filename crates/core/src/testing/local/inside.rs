//! The files of such a sandbox. Attributes are kept in memory, and watches hear of what goes through here.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use tokio::sync::mpsc;

use super::lock;
use crate::{
    BackendError, ByteRange, Change, Connection, Entry, FileKind, FolderChange, FolderChanges, FolderNews,
    Inside, OpenFile, Result, SandboxPath,
};

/// As little as makes an overflow easy to see.
const WATCHED: usize = 64;

#[derive(Debug)]
pub(super) struct LocalInside {
    root: PathBuf,
    largest: u64,
    attributes: Mutex<BTreeMap<String, BTreeMap<String, String>>>,
    watches: Mutex<Vec<Watch>>,
    ended: AtomicBool,
}

#[derive(Debug)]
struct Watch {
    below: String,
    recursive: bool,
    changes: mpsc::Sender<FolderNews>,
}

impl LocalInside {
    pub(super) fn new(root: PathBuf, largest: u64) -> Self {
        Self {
            root,
            largest,
            attributes: Mutex::default(),
            watches: Mutex::default(),
            ended: AtomicBool::new(false),
        }
    }

    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        lock(&self.watches).clear();
    }

    pub(super) fn watches(&self) -> usize {
        let mut watches = lock(&self.watches);
        watches.retain(|watch| !watch.changes.is_closed());
        watches.len()
    }

    fn place(&self, path: &SandboxPath) -> Result<PathBuf> {
        if self.ended.load(Ordering::SeqCst) {
            return Err(BackendError::Engine("the sandbox is gone".to_owned()));
        }
        Ok(self.root.join(path.as_str().trim_start_matches('/')))
    }

    fn tell(&self, path: &SandboxPath, change: Change) {
        lock(&self.watches).retain(|watch| {
            let Some(name) = path.as_str().strip_prefix(&watch.below) else { return true };
            if name.contains('/') && !watch.recursive {
                return true;
            }
            let change = FolderChange { name: name.to_owned(), change };
            watch.changes.try_send(FolderNews::Changed(change)).is_ok()
        });
    }

    fn entry(&self, path: &str, place: &Path) -> io::Result<Entry> {
        let own = std::fs::symlink_metadata(place)?;
        let followed = std::fs::metadata(place).unwrap_or_else(|_| own.clone());
        let kind = match followed.file_type() {
            kind if kind.is_dir() => FileKind::Directory,
            kind if kind.is_symlink() => FileKind::Symlink,
            kind if kind.is_file() => FileKind::File,
            _ => FileKind::Other,
        };
        let target = std::fs::read_link(place).ok().map(|target| target.to_string_lossy().into_owned());
        Ok(Entry {
            path: path.to_owned(),
            kind,
            is_link: own.is_symlink(),
            link_target: target,
            size: followed.len(),
            mode: followed.permissions().mode() & 0o7777,
            owner: "user".to_owned(),
            group: "user".to_owned(),
            modified_ms: followed.mtime() * 1000 + followed.mtime_nsec() / 1_000_000,
            attributes: lock(&self.attributes).get(path).cloned().unwrap_or_default(),
        })
    }

    fn walk(&self, path: &str, place: &Path, depth: u32, into: &mut Vec<Entry>) -> io::Result<()> {
        for found in std::fs::read_dir(place)? {
            let found = found?;
            let path = format!("{}/{}", path.trim_end_matches('/'), found.file_name().to_string_lossy());
            into.push(self.entry(&path, &found.path())?);
            if depth > 1 && found.file_type()?.is_dir() {
                self.walk(&path, &found.path(), depth - 1, into)?;
            }
        }
        Ok(())
    }
}

fn of(path: &SandboxPath) -> impl Fn(io::Error) -> BackendError {
    move |error| match error.kind() {
        io::ErrorKind::NotFound => BackendError::NoSuchFile(path.to_string()),
        io::ErrorKind::NotADirectory => BackendError::NotAFolder(path.to_string()),
        io::ErrorKind::IsADirectory => BackendError::IsFolder(path.to_string()),
        io::ErrorKind::AlreadyExists => BackendError::Exists(path.to_string()),
        io::ErrorKind::PermissionDenied => BackendError::PermissionDenied(path.to_string()),
        _ => BackendError::File { path: path.to_string(), reason: error.to_string() },
    }
}

#[async_trait]
impl Inside for LocalInside {
    async fn stat(&self, path: &SandboxPath) -> Result<Entry> {
        self.entry(path.as_str(), &self.place(path)?).map_err(of(path))
    }

    async fn list(&self, path: &SandboxPath, depth: u32) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        self.walk(path.as_str(), &self.place(path)?, depth, &mut entries).map_err(of(path))?;
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    async fn open(&self, path: &SandboxPath, range: Option<ByteRange>) -> Result<OpenFile> {
        let entry = self.stat(path).await?;
        if entry.kind == FileKind::Directory {
            return Err(BackendError::IsFolder(path.to_string()));
        }
        let mut file = tokio::fs::File::open(self.place(path)?).await.map_err(of(path))?;
        let ByteRange { start, length } = range.unwrap_or(ByteRange { start: 0, length: None });
        file.seek(io::SeekFrom::Start(start)).await.map_err(of(path))?;
        Ok(OpenFile { entry, reader: Box::new(file.take(length.unwrap_or(u64::MAX))) })
    }

    async fn write(
        &self,
        path: &SandboxPath,
        content: &mut (dyn AsyncRead + Send + Unpin),
        attributes: &BTreeMap<String, String>,
    ) -> Result<Entry> {
        let place = self.place(path)?;
        let existed = place.exists();
        if let Some(above) = place.parent() {
            std::fs::create_dir_all(above).map_err(of(path))?;
        }
        let mut file = tokio::fs::File::create(&place).await.map_err(of(path))?;
        let mut content = content.take(self.largest.saturating_add(1));
        let copied = tokio::io::copy(&mut content, &mut file).await;
        let written = match copied {
            Ok(written) if written > self.largest => Err(BackendError::FileTooLarge { limit: self.largest }),
            Ok(_) => file.sync_all().await.map_err(of(path)),
            Err(error) => Err(of(path)(error)),
        };
        if let Err(error) = written {
            std::fs::remove_file(&place).map_err(of(path))?;
            return Err(error);
        }
        lock(&self.attributes).insert(path.to_string(), attributes.clone());
        if !existed {
            self.tell(path, Change::Created);
        }
        self.tell(path, Change::Written);
        self.stat(path).await
    }

    async fn make_dir(&self, path: &SandboxPath) -> Result<Entry> {
        let place = self.place(path)?;
        if place.exists() {
            return Err(BackendError::Exists(path.to_string()));
        }
        std::fs::create_dir_all(place).map_err(of(path))?;
        self.tell(path, Change::Created);
        self.stat(path).await
    }

    async fn rename(&self, from: &SandboxPath, to: &SandboxPath) -> Result<Entry> {
        let (source, target) = (self.place(from)?, self.place(to)?);
        if let Some(above) = target.parent() {
            std::fs::create_dir_all(above).map_err(of(to))?;
        }
        std::fs::rename(source, target).map_err(of(from))?;
        self.tell(from, Change::Renamed);
        self.tell(to, Change::Created);
        self.stat(to).await
    }

    async fn remove(&self, path: &SandboxPath) -> Result<()> {
        let place = self.place(path)?;
        let own = std::fs::symlink_metadata(&place).map_err(of(path))?;
        let removed =
            if own.is_dir() { std::fs::remove_dir_all(&place) } else { std::fs::remove_file(&place) };
        removed.map_err(of(path))?;
        self.tell(path, Change::Removed);
        let below = format!("{path}/");
        lock(&self.watches).retain(|watch| !watch.below.starts_with(&below));
        Ok(())
    }

    async fn set_mode(&self, path: &SandboxPath, mode: u32) -> Result<()> {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(self.place(path)?, permissions).map_err(of(path))?;
        self.tell(path, Change::Permissions);
        Ok(())
    }

    async fn watch(&self, path: &SandboxPath, recursive: bool) -> Result<FolderChanges> {
        if self.stat(path).await?.kind != FileKind::Directory {
            return Err(BackendError::NotAFolder(path.to_string()));
        }
        let (changes, news) = mpsc::channel(WATCHED);
        let (questions, mut asked) = mpsc::channel(1);
        // Changes are told as they are made, so there is never more on its way.
        let answers = changes.downgrade();
        tokio::spawn(async move {
            while let (Some(()), Some(answers)) = (asked.recv().await, answers.upgrade()) {
                let _ = answers.try_send(FolderNews::UpToDate);
            }
        });
        let below = format!("{}/", path.as_str().trim_end_matches('/'));
        lock(&self.watches).push(Watch { below, recursive, changes });
        Ok(FolderChanges::new(news, questions))
    }

    async fn connect(&self, port: u16) -> Result<Box<dyn Connection>> {
        let connected = tokio::net::TcpStream::connect(("127.0.0.1", port)).await;
        connected.map(|stream| Box::new(stream) as _).map_err(|_| BackendError::PortClosed(port))
    }

    async fn answer(&self, port: u16, said: &str) -> Result<()> {
        let Ok(listener) = tokio::net::TcpListener::bind(("127.0.0.1", port)).await else { return Ok(()) };
        let said = said.to_owned();
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let _ = client.write_all(said.as_bytes()).await;
            }
        });
        Ok(())
    }
}
