//! The changes below one folder, as events of the protocol.

use std::sync::Arc;

use sandgate_core::{BackendError, Change, FolderChange, FolderChanges, FolderNews, Inside, SandboxPath};
use tokio::sync::mpsc;

use super::super::guest::Guest;
use super::super::messages::filesystem::{EntryInfo, EventType, FilesystemEvent, WatchRequest};
use super::super::paths::resolve;
use super::super::refusal::{Kind, Refusal};
use super::info;

#[derive(Debug)]
pub(super) struct Changes {
    changes: FolderChanges,
    inside: Arc<dyn Inside>,
    guest: Guest,
    path: SandboxPath,
    with_entry: bool,
}

#[derive(Debug)]
pub(super) enum Told {
    Event(Box<FilesystemEvent>),
    /// Everything that had happened when it was asked for has been told.
    UpToDate,
}

/// Why there will be no more changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoMore {
    /// The folder is not there any more: nothing is left to tell.
    Removed,
    Refused(Refusal),
    SandboxGone,
}

impl Changes {
    pub(super) async fn of(guest: &Guest, ask: &WatchRequest) -> Result<Self, Refusal> {
        let path = resolve(&ask.path)?;
        let inside = guest.inside().await?;
        let changes = inside.watch(&path, ask.recursive).await.map_err(|error| match error {
            BackendError::NoSuchFile(_) => Refusal::new(Kind::NotFound, format!("path {path} not found")),
            BackendError::NotAFolder(_) => Refusal::invalid(format!("path {path} not a directory")),
            other => other.into(),
        })?;
        Ok(Self { changes, inside, guest: guest.clone(), path, with_entry: ask.include_entry })
    }

    pub(super) async fn next(&mut self) -> Result<FilesystemEvent, NoMore> {
        loop {
            if let Told::Event(event) = self.told().await? {
                return Ok(*event);
            }
        }
    }

    /// For [`Told::UpToDate`].
    pub(super) fn questions(&self) -> mpsc::Sender<()> {
        self.changes.questions()
    }

    pub(super) async fn told(&mut self) -> Result<Told, NoMore> {
        let FolderChange { name, change } = match self.changes.next().await {
            Some(FolderNews::Changed(change)) => change,
            Some(FolderNews::UpToDate) => return Ok(Told::UpToDate),
            None => return Err(self.why_ended().await),
        };
        let event_type = match change {
            Change::Created => EventType::Create,
            Change::Written => EventType::Write,
            Change::Removed => EventType::Remove,
            Change::Renamed => EventType::Rename,
            Change::Permissions => EventType::Chmod,
        };
        let entry = if self.with_entry { self.entry(&name).await } else { None };
        Ok(Told::Event(Box::new(FilesystemEvent { name, r#type: event_type as i32, entry })))
    }

    /// None of what is not there any more.
    async fn entry(&self, name: &str) -> Option<EntryInfo> {
        let path = SandboxPath::parse(&format!("{}/{name}", self.path)).ok()?;
        self.inside.stat(&path).await.ok().map(info)
    }

    async fn why_ended(&self) -> NoMore {
        match self.inside.stat(&self.path).await {
            Err(_) if !self.guest.sandbox.is_alive() => NoMore::SandboxGone,
            Err(BackendError::NoSuchFile(_)) => NoMore::Removed,
            Err(error) => match Refusal::from(error) {
                refusal if refusal.kind == Kind::Gone => NoMore::SandboxGone,
                refusal => NoMore::Refused(refusal),
            },
            Ok(_) if !self.guest.sandbox.is_alive() => NoMore::SandboxGone,
            Ok(_) => NoMore::Refused(Refusal::new(
                Kind::Lost,
                format!("changes below {} came faster than they were read, and some are lost", self.path),
            )),
        }
    }
}
