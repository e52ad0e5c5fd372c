//! An account at a provider that is no more than a table in memory, for what no real provider does on demand:
//! failing at a given point, hanging, losing a sandbox, telling lies. Its code is a word in each line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use sandgate_core::{Backend, CodeError, ExecuteRequest, FileKind, Limits, Outcome, Sandbox, SandboxSpec};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::{mpsc, watch};

use super::{RemoteBackend, RemoteConfig};
use crate::{
    BreakerConfig, Capabilities, Content, ContextWish, Found, Furnished, Gathered, Interpreter,
    NetworkControl, NetworkWish, Place, PlaceEntry, PlaceId, PlaceState, Provider, ProviderError,
    ProviderResult, Run, RunEnd, Running, Said, Wish,
};

#[derive(Clone, Debug, Default)]
pub(crate) struct Account(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) places: BTreeMap<String, Entry>,
    made: u64,
    /// Answers of these calls, until they are taken away.
    pub(crate) fails: BTreeMap<&'static str, ProviderError>,
    /// These calls do not come back.
    pub(crate) hangs: BTreeSet<&'static str>,
    /// These calls, and who waits in them, go on when they are let.
    holds: BTreeMap<&'static str, watch::Sender<()>>,
    /// No new ones wait there.
    passes: BTreeSet<&'static str>,
    /// How often each call was made.
    pub(crate) calls: BTreeMap<&'static str, usize>,
    /// Files that cannot be read or written, and why not.
    pub(crate) bad_files: BTreeMap<String, ProviderError>,
    /// Sandboxes that say they are gone, while they are not.
    pub(crate) liars: BTreeSet<String>,
    /// Sandboxes that cannot be deleted.
    pub(crate) stuck: BTreeSet<String>,
    pub(crate) state: Option<PlaceState>,
    /// Also for what is paused.
    pub(crate) clock_runs: bool,
    /// Whether a new sandbox has an interpreter, and what it takes to have a folder.
    pub(crate) has_first: bool,
    pub(crate) furnished: Option<Furnished>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    contexts: BTreeSet<String>,
    pub(crate) paused: bool,
    stops: watch::Sender<u64>,
}

impl Account {
    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn config(name: &str, home: &Path) -> RemoteConfig {
        RemoteConfig {
            name: name.to_owned(),
            life: Duration::from_secs(300),
            network: NetworkWish::Nothing,
            env: Vec::new(),
            metadata: BTreeMap::new(),
            breaker: BreakerConfig { failures: 3, rest: Duration::from_secs(1000) },
            gate: "gate".to_owned(),
            home: home.to_owned(),
        }
    }

    pub(crate) async fn backend(&self, name: &str, home: &Path) -> RemoteBackend {
        RemoteBackend::open(Arc::new(self.clone()), Self::config(name, home)).await.unwrap()
    }

    pub(crate) fn calls(&self, what: &'static str) -> usize {
        self.table().calls.get(what).copied().unwrap_or_default()
    }

    /// The only sandbox there is.
    pub(crate) fn only<T>(&self, change: impl FnOnce(&mut Entry) -> T) -> T {
        let mut table = self.table();
        assert_eq!(table.places.len(), 1, "{:?}", table.places.keys());
        change(table.places.values_mut().next().unwrap())
    }

    /// From now on, until [`Self::release`].
    pub(crate) fn hold(&self, what: &'static str) {
        self.table().holds.insert(what, watch::Sender::new(()));
    }

    /// Those that wait go on waiting; no other does.
    pub(crate) fn hold_no_more(&self, what: &'static str) {
        self.table().passes.insert(what);
    }

    pub(crate) fn release(&self, what: &'static str) {
        self.table().holds.remove(what);
    }

    /// Counts it, and says how it ends before it begins.
    async fn asked(&self, what: &'static str) -> ProviderResult<()> {
        let (fails, hangs, held) = {
            let mut table = self.table();
            *table.calls.entry(what).or_default() += 1;
            let passes = table.passes.contains(what);
            let held = table.holds.get(what).filter(|_| !passes).map(watch::Sender::subscribe);
            (table.fails.get(what).cloned(), table.hangs.contains(what), held)
        };
        if let Some(mut held) = held {
            // Until its sender is gone.
            while held.changed().await.is_ok() {}
        }
        if hangs {
            std::future::pending::<()>().await;
        }
        fails.map_or(Ok(()), Err)
    }
}

#[async_trait]
impl Provider for Account {
    fn kind(&self) -> &'static str {
        "double"
    }

    fn capabilities(&self) -> Capabilities {
        let table = self.table();
        Capabilities {
            interpreter: Interpreter::IPython,
            last_value: true,
            strips_quotes: false,
            display: true,
            structured_errors: true,
            languages: &["python"],
            stateless: &[],
            first_context: table.has_first,
            contexts: true,
            run_env: true,
            interrupt: true,
            interrupt_by_hanging_up: false,
            run_timeout: false,
            pause: true,
            pause_stops_clock: !table.clock_runs,
            extend: true,
            metadata: true,
            memory_limit: false,
            cpu_limit: false,
            disk_limit: false,
            network: NetworkControl::None,
            processes: false,
            inside: false,
            longest_life: None,
            shortest_life: Duration::from_secs(1),
        }
    }

    fn longest_create(&self) -> Duration {
        Duration::from_secs(20)
    }

    async fn create(&self, wish: &Wish) -> ProviderResult<Arc<dyn Place>> {
        self.asked("create").await?;
        let mut table = self.table();
        table.made += 1;
        let id = format!("p{}", table.made);
        let entry = Entry {
            metadata: wish.metadata.clone(),
            files: BTreeMap::new(),
            contexts: BTreeSet::new(),
            paused: false,
            stops: watch::Sender::new(0),
        };
        table.places.insert(id.clone(), entry);
        Ok(Arc::new(There { account: self.clone(), id: PlaceId::parse(&id)? }))
    }

    async fn attach(&self, id: &PlaceId, _life: Duration) -> ProviderResult<Arc<dyn Place>> {
        self.asked("attach").await?;
        if !self.table().places.contains_key(id.as_str()) {
            return Err(ProviderError::Lost);
        }
        Ok(Arc::new(There { account: self.clone(), id: id.clone() }))
    }

    async fn state(&self, id: &PlaceId) -> ProviderResult<PlaceState> {
        self.asked("state").await?;
        let table = self.table();
        match table.places.get(id.as_str()) {
            None => Err(ProviderError::Lost),
            Some(_) => Ok(table.state.unwrap_or(PlaceState::Running)),
        }
    }

    async fn delete(&self, id: &PlaceId) -> ProviderResult<()> {
        self.asked("delete").await?;
        let mut table = self.table();
        if table.stuck.contains(id.as_str()) {
            return Err(ProviderError::Failed("stuck".to_owned()));
        }
        table.places.remove(id.as_str());
        Ok(())
    }

    async fn find(&self, metadata: &BTreeMap<String, String>) -> ProviderResult<Vec<Found>> {
        self.asked("find").await?;
        let found = self
            .table()
            .places
            .iter()
            .map(|(id, entry)| Found {
                id: PlaceId::parse(id).unwrap(),
                metadata: entry.metadata.clone(),
                state: PlaceState::Running,
            })
            .collect();
        Ok(crate::found::carrying(found, metadata))
    }
}

#[derive(Debug)]
struct There {
    account: Account,
    id: PlaceId,
}

impl There {
    async fn with<T>(
        &self,
        what: &'static str,
        then: impl FnOnce(&mut Entry) -> ProviderResult<T>,
    ) -> ProviderResult<T> {
        self.account.asked(what).await?;
        let mut table = self.account.table();
        if table.liars.contains(self.id.as_str()) {
            return Err(ProviderError::Lost);
        }
        let entry = table.places.get_mut(self.id.as_str()).ok_or(ProviderError::Lost)?;
        // As E2B has it: what is paused is not there for anybody.
        if entry.paused && !matches!(what, "resume" | "extend") {
            return Err(ProviderError::Lost);
        }
        then(entry)
    }

    fn bad(&self, path: &str) -> ProviderResult<()> {
        self.account.table().bad_files.get(path).cloned().map_or(Ok(()), Err)
    }
}

fn no_folder() -> CodeError {
    CodeError { name: "AssertionError".to_owned(), value: String::new(), traceback: Vec::new() }
}

fn entry(path: &str, content: &[u8]) -> PlaceEntry {
    let size = content.len() as u64;
    let modified_ms = i64::from(content.first().copied().unwrap_or_default()) + size.cast_signed();
    PlaceEntry {
        path: path.to_owned(),
        kind: FileKind::File,
        size,
        mode: 0o644,
        modified_ms,
        link_target: None,
    }
}

#[async_trait]
impl Place for There {
    fn id(&self) -> &PlaceId {
        &self.id
    }

    async fn furnish(&self, _folder: &str) -> ProviderResult<Furnished> {
        self.with("furnish", |_| Ok(())).await?;
        Ok(self.account.table().furnished.unwrap_or(Furnished::AtOnce))
    }

    async fn extend(&self, _life: Duration) -> ProviderResult<()> {
        self.with("extend", |_| Ok(())).await
    }

    async fn pause(&self) -> ProviderResult<()> {
        self.with("pause", |entry| {
            entry.paused = true;
            Ok(())
        })
        .await
    }

    async fn resume(&self) -> ProviderResult<()> {
        self.with("resume", |entry| {
            entry.paused = false;
            Ok(())
        })
        .await
    }

    async fn create_context(&self, _wish: &ContextWish) -> ProviderResult<String> {
        self.with("create_context", |entry| {
            let id = format!("c{}", entry.contexts.len());
            entry.contexts.insert(id.clone());
            Ok(id)
        })
        .await
    }

    async fn delete_context(&self, id: &str) -> ProviderResult<()> {
        self.with("delete_context", |entry| match entry.contexts.remove(id) {
            true => {
                entry.stops.send_modify(|count| *count += 1);
                Ok(())
            }
            false => Err(ProviderError::NoSuchContext),
        })
        .await
    }

    async fn execute(&self, run: Run) -> ProviderResult<Running> {
        let mut stops = self.with("execute", |entry| Ok(entry.stops.subscribe())).await?;
        if run.code.starts_with("late") {
            std::future::pending::<()>().await;
        }
        let (sender, said) = mpsc::channel(64);
        let account = self.account.clone();
        let id = self.id.clone();
        tokio::spawn(async move {
            let mut end = RunEnd::Finished;
            for line in run.code.lines() {
                let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
                let told = match word {
                    "say" => Ok(Said::Stdout(rest.to_owned())),
                    "flood" => {
                        for _ in 0..rest.parse::<u32>().unwrap() {
                            if sender.send(Ok(Said::Stdout("x".to_owned()))).await.is_err() {
                                return;
                            }
                        }
                        Ok(Said::Count(1))
                    }
                    "write" => {
                        let (path, text) = rest.split_once(' ').unwrap_or((rest, ""));
                        let mut table = account.table();
                        let entry = table.places.get_mut(id.as_str()).unwrap();
                        entry.files.insert(path.to_owned(), text.as_bytes().to_owned());
                        Ok(Said::Count(1))
                    }
                    "hang" => {
                        let _ = stops.changed().await;
                        end = RunEnd::Interrupted;
                        Ok(Said::Count(1))
                    }
                    "assert" => match account.table().furnished {
                        Some(Furnished::Later) => Ok(Said::Raised(no_folder())),
                        _ => Ok(Said::Count(1)),
                    },
                    own if own.contains("__import__") => Ok(Said::Count(1)),
                    "break" => Err(ProviderError::Unreachable("it broke".to_owned())),
                    other => panic!("{other}"),
                };
                let is_end = told.is_err();
                if sender.send(told).await.is_err() || is_end {
                    return;
                }
            }
            let _ = sender.send(Ok(Said::Ended(end))).await;
        });
        Ok(Running { said })
    }

    async fn interrupt(&self, _context: Option<&str>) -> ProviderResult<()> {
        self.with("interrupt", |entry| {
            entry.stops.send_modify(|count| *count += 1);
            Ok(())
        })
        .await
    }

    async fn read(&self, path: &str) -> ProviderResult<Content> {
        self.bad(path)?;
        let content = self
            .with("read", |entry| {
                entry.files.get(path).cloned().ok_or_else(|| ProviderError::NoSuchFile(path.to_owned()))
            })
            .await?;
        Ok(Content { size: Some(content.len() as u64), reader: Box::new(std::io::Cursor::new(content)) })
    }

    async fn write(
        &self,
        path: &str,
        mut content: Box<dyn AsyncRead + Send + Unpin>,
        _size: u64,
    ) -> ProviderResult<()> {
        self.bad(path)?;
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes).await.unwrap();
        self.with("write", |entry| {
            entry.files.insert(path.to_owned(), bytes);
            Ok(())
        })
        .await
    }

    async fn list(&self, path: &str, _depth: u32, most: usize) -> ProviderResult<Gathered> {
        let top = format!("{}/", path.trim_end_matches('/'));
        self.with("list", |there| {
            let below = there.files.iter().filter(|(path, _)| path.starts_with(&top));
            let mut entries: Vec<_> = below.map(|(path, content)| entry(path, content)).collect();
            let cut = entries.len() > most;
            entries.truncate(most);
            Ok(Gathered { entries, cut })
        })
        .await
    }

    async fn remove(&self, path: &str) -> ProviderResult<()> {
        self.with("remove", |entry| {
            entry.files.remove(path);
            Ok(())
        })
        .await
    }

    async fn make_dir(&self, _path: &str) -> ProviderResult<()> {
        self.with("make_dir", |_| Ok(())).await
    }

    async fn rename(&self, from: &str, to: &str) -> ProviderResult<()> {
        self.with("rename", |entry| match entry.files.remove(from) {
            Some(content) => {
                entry.files.insert(to.to_owned(), content);
                Ok(())
            }
            None => Err(ProviderError::NoSuchFile(from.to_owned())),
        })
        .await
    }
}

pub(crate) fn spec() -> SandboxSpec {
    let limits = Limits { wall: Duration::from_secs(60), ..Limits::default() };
    SandboxSpec { limits, ..SandboxSpec::default() }
}

pub(crate) async fn made(backend: &RemoteBackend) -> Arc<dyn Sandbox> {
    backend.create(spec()).await.unwrap()
}

pub(crate) fn code(code: &str) -> ExecuteRequest {
    ExecuteRequest { code: code.to_owned(), ..ExecuteRequest::default() }
}

pub(crate) async fn run(sandbox: &Arc<dyn Sandbox>, text: &str) -> sandgate_core::Result<Outcome> {
    Outcome::collect(sandbox.execute(code(text)).await?).await
}
