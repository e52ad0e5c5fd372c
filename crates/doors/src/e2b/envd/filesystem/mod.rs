//! The service `filesystem.Filesystem`.

mod changes;
mod entry;
mod watch_dir;
mod watchers;

use axum::Router;
use sandgate_core::{BackendError, FileKind};

use super::Shared;
use super::connect::{Call, to_stream, unary};
use super::messages::filesystem::{
    CreateWatcherResponse, EntryResponse, GetWatcherEventsResponse, ListDirRequest, ListDirResponse,
    MoveRequest, PathRequest, WatchRequest, WatcherRequest,
};
use super::messages::process::Empty;
use super::paths::resolve;
use super::refusal::{Kind, Refusal};
use changes::Changes;
use entry::info;
pub(super) use entry::metadata;
pub(super) use watchers::Watchers;

/// Deeper trees than this are not asked for in earnest.
const DEEPEST: u32 = 1000;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/filesystem.Filesystem/Stat", unary(stat))
        .route("/filesystem.Filesystem/MakeDir", unary(make_dir))
        .route("/filesystem.Filesystem/Move", unary(rename))
        .route("/filesystem.Filesystem/ListDir", unary(list_dir))
        .route("/filesystem.Filesystem/Remove", unary(remove))
        .route("/filesystem.Filesystem/WatchDir", to_stream(watch_dir::watch_dir))
        .route("/filesystem.Filesystem/CreateWatcher", unary(create_watcher))
        .route("/filesystem.Filesystem/GetWatcherEvents", unary(get_watcher_events))
        .route("/filesystem.Filesystem/RemoveWatcher", unary(remove_watcher))
}

async fn stat(call: Call, ask: PathRequest) -> Result<EntryResponse, Refusal> {
    let entry = call.guest.inside().await?.stat(&resolve(&ask.path)?).await?;
    Ok(EntryResponse { entry: Some(info(entry)) })
}

async fn make_dir(call: Call, ask: PathRequest) -> Result<EntryResponse, Refusal> {
    let path = resolve(&ask.path)?;
    let inside = call.guest.inside().await?;
    match inside.make_dir(&path).await {
        Ok(entry) => Ok(EntryResponse { entry: Some(info(entry)) }),
        Err(BackendError::Exists(_)) => match inside.stat(&path).await?.kind {
            FileKind::Directory => {
                Err(Refusal::new(Kind::Exists, format!("directory already exists: {path}")))
            }
            FileKind::File | FileKind::Symlink | FileKind::Other => {
                Err(Refusal::invalid(format!("path already exists but it is not a directory: {path}")))
            }
        },
        Err(error) => Err(error.into()),
    }
}

async fn rename(call: Call, ask: MoveRequest) -> Result<EntryResponse, Refusal> {
    let (from, to) = (resolve(&ask.source)?, resolve(&ask.destination)?);
    let entry = call.guest.inside().await?.rename(&from, &to).await?;
    Ok(EntryResponse { entry: Some(info(entry)) })
}

async fn list_dir(call: Call, ask: ListDirRequest) -> Result<ListDirResponse, Refusal> {
    let path = resolve(&ask.path)?;
    let entries = call.guest.inside().await?.list(&path, ask.depth.clamp(1, DEEPEST)).await?;
    Ok(ListDirResponse { entries: entries.into_iter().map(info).collect() })
}

/// To remove what is not there is no failure.
async fn remove(call: Call, ask: PathRequest) -> Result<Empty, Refusal> {
    match call.guest.inside().await?.remove(&resolve(&ask.path)?).await {
        Ok(()) | Err(BackendError::NoSuchFile(_)) => Ok(Empty {}),
        Err(error) => Err(error.into()),
    }
}

async fn create_watcher(call: Call, ask: WatchRequest) -> Result<CreateWatcherResponse, Refusal> {
    let changes = Changes::of(&call.guest, &ask).await?;
    let watcher_id = call.shared.watchers.add(&call.guest.id, changes)?;
    Ok(CreateWatcherResponse { watcher_id })
}

async fn get_watcher_events(call: Call, ask: WatcherRequest) -> Result<GetWatcherEventsResponse, Refusal> {
    let events = call.shared.watchers.take(&call.guest.id, &ask.watcher_id).await?;
    Ok(GetWatcherEventsResponse { events })
}

async fn remove_watcher(call: Call, ask: WatcherRequest) -> Result<Empty, Refusal> {
    call.shared.watchers.remove(&call.guest.id, &ask.watcher_id)?;
    Ok(Empty {})
}

#[cfg(test)]
mod tests;
