//! Changes to folders. All watches share one of the kernel's notifiers, of which a sandbox may have few.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use sandgate_agent::protocol::{Change, Failure, FailureKind, FromAgent, ToAgent};
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;

use crate::connection::{Incoming, Outgoing, failure};
use crate::files::write::is_draft;
use crate::registered::registered;

/// Folders of one watch with all below it.
const MAX_FOLDERS: usize = 2000;
/// Changes that wait for a slow reader.
const CHANGES_AHEAD: usize = 1024;

const WANTED: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// All watches of this agent.
#[derive(Debug)]
pub(crate) struct Watches {
    /// Made with the first watch.
    notifier: RefCell<Option<Rc<OwnedFd>>>,
    watches: RefCell<BTreeMap<u64, Watch>>,
    /// Which watches look at a folder of the notifier, and under which name.
    folders: RefCell<HashMap<i32, Vec<(u64, PathBuf)>>>,
    last: Cell<u64>,
    /// A draft that is about to take its name, by the number that both halves of a rename share.
    draft: Cell<Option<u32>>,
}

#[derive(Debug)]
struct Watch {
    root: PathBuf,
    recursive: bool,
    folders: usize,
    changes: mpsc::Sender<(String, Change)>,
}

impl Watches {
    pub(crate) fn new() -> Rc<Self> {
        Rc::new(Self {
            notifier: RefCell::default(),
            watches: RefCell::default(),
            folders: RefCell::default(),
            last: Cell::default(),
            draft: Cell::default(),
        })
    }

    /// Says every change until the server hangs up, the folder is gone, or the server reads too slowly.
    pub(crate) async fn run(
        self: &Rc<Self>,
        path: &str,
        recursive: bool,
        mut incoming: Incoming,
        mut outgoing: Outgoing,
    ) {
        let (sender, mut changes) = mpsc::channel(CHANGES_AHEAD);
        let id = match self.begin(Path::new(path), recursive, sender) {
            Ok(id) => id,
            Err(failure) => {
                let _ = outgoing.say(&FromAgent::Failed(failure)).await;
                return;
            }
        };
        let mut said = outgoing.say(&FromAgent::Done).await;
        while said.is_ok() {
            tokio::select! {
                change = changes.recv() => match change {
                    Some((name, change)) => said = outgoing.say(&FromAgent::Changed { name, change }).await,
                    None => break,
                },
                asked = incoming.next() => match asked {
                    Some(ToAgent::UpToNow) => said = self.say_up_to_now(&mut changes, &mut outgoing).await,
                    Some(_) => {}
                    None => break,
                },
            }
        }
        self.end(id);
    }

    /// What the notifier holds, and that this is all.
    async fn say_up_to_now(
        &self,
        changes: &mut mpsc::Receiver<(String, Change)>,
        outgoing: &mut Outgoing,
    ) -> io::Result<()> {
        if let Some(notifier) = self.notifier.borrow().clone() {
            let _ = self.read_all(&notifier, &mut new_buffer());
        }
        while let Ok((name, change)) = changes.try_recv() {
            outgoing.say(&FromAgent::Changed { name, change }).await?;
        }
        outgoing.say(&FromAgent::Done).await
    }

    fn begin(
        self: &Rc<Self>,
        root: &Path,
        recursive: bool,
        changes: mpsc::Sender<(String, Change)>,
    ) -> Result<u64, Failure> {
        let meta = std::fs::metadata(root).map_err(|error| failure(&error))?;
        if !meta.is_dir() {
            return Err(Failure { kind: FailureKind::NotAFolder, text: "it is not a folder".into() });
        }
        self.ensure_notifier().map_err(|error| failure(&error))?;
        let id = self.last.get() + 1;
        self.last.set(id);
        let watch = Watch { root: root.to_owned(), recursive, folders: 0, changes };
        self.watches.borrow_mut().insert(id, watch);
        let added = self.add(id, Path::new(""), &mut Vec::new());
        if added.is_err() {
            self.end(id);
        }
        added.map(|()| id)
    }

    fn ensure_notifier(self: &Rc<Self>) -> io::Result<()> {
        if self.notifier.borrow().is_some() {
            return Ok(());
        }
        let notifier = Rc::new(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?);
        let readable = registered(Rc::clone(&notifier))?;
        *self.notifier.borrow_mut() = Some(notifier);
        let all = Rc::clone(self);
        tokio::task::spawn_local(async move { all.listen(readable).await });
        Ok(())
    }

    /// Looks at one more folder of a watch and, where it is to, at those below. `found` gets what is in new ones.
    fn add(&self, id: u64, name: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
        let Some(notifier) = self.notifier.borrow().clone() else { return Ok(()) };
        let mut left = vec![name.to_owned()];
        while let Some(name) = left.pop() {
            let (path, recursive) = {
                let mut watches = self.watches.borrow_mut();
                let Some(watch) = watches.get_mut(&id) else { return Ok(()) };
                watch.folders += 1;
                if watch.folders > MAX_FOLDERS {
                    let text = format!("a watch with all below it has room for {MAX_FOLDERS} folders");
                    return Err(Failure { kind: FailureKind::Invalid, text });
                }
                (watch.root.join(&name), watch.recursive)
            };
            let added = match inotify::add_watch(&*notifier, &path, WANTED) {
                Ok(added) => added,
                // One further down that is gone again, or may not be looked at.
                Err(_) if !name.as_os_str().is_empty() => continue,
                Err(rustix::io::Errno::NOSPC) => {
                    let text = "the sandbox has no room for another watch";
                    return Err(Failure { kind: FailureKind::Busy, text: text.into() });
                }
                Err(error) => return Err(failure(&error.into())),
            };
            let mut folders = self.folders.borrow_mut();
            let lookers = folders.entry(added).or_default();
            if !lookers.iter().any(|(looker, at)| *looker == id && *at == name) {
                lookers.push((id, name.clone()));
            }
            if recursive {
                for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
                    let below = name.join(entry.file_name());
                    if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                        left.push(below.clone());
                    }
                    found.push(below);
                }
            }
        }
        Ok(())
    }

    fn end(&self, id: u64) {
        if self.watches.borrow_mut().remove(&id).is_none() {
            return;
        }
        let notifier = self.notifier.borrow().clone();
        self.folders.borrow_mut().retain(|folder, lookers| {
            lookers.retain(|(looker, _)| *looker != id);
            if lookers.is_empty()
                && let Some(notifier) = &notifier
            {
                let _ = inotify::remove_watch(&**notifier, *folder);
            }
            !lookers.is_empty()
        });
    }

    async fn listen(&self, notifier: AsyncFd<Rc<OwnedFd>>) {
        let mut buffer = new_buffer();
        loop {
            let Ok(mut ready) = notifier.readable().await else { return };
            if self.read_all(notifier.get_ref(), &mut buffer).is_err() {
                return;
            }
            ready.clear_ready();
        }
    }

    /// Everything that it holds.
    fn read_all(&self, notifier: &OwnedFd, buffer: &mut [MaybeUninit<u8>]) -> io::Result<()> {
        let mut reader = Reader::new(notifier, buffer);
        loop {
            match reader.next() {
                Ok(event) => self.handle(&Event::from(&event)),
                Err(rustix::io::Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn handle(&self, event: &Event) {
        if event.flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            // Something was missed, of whom cannot be said.
            let all: Vec<u64> = self.watches.borrow().keys().copied().collect();
            all.into_iter().for_each(|id| self.end(id));
            return;
        }
        let lookers = self.folders.borrow().get(&event.folder).cloned().unwrap_or_default();
        if event.flags.contains(ReadFlags::IGNORED) {
            self.folders.borrow_mut().remove(&event.folder);
            for (id, _) in lookers {
                if let Some(watch) = self.watches.borrow_mut().get_mut(&id) {
                    watch.folders = watch.folders.saturating_sub(1);
                }
            }
            return;
        }
        let Some(name) = &event.name else {
            if event.flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF) {
                // The watched folder itself; those below it are told of by the folder above them.
                lookers.iter().filter(|(_, at)| at.as_os_str().is_empty()).for_each(|(id, _)| self.end(*id));
            }
            return;
        };
        let changes = event.changes(name, &self.draft);
        let is_new = event.flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
        for (id, at) in lookers {
            let below = at.join(name);
            for change in &changes {
                self.tell(id, &below, *change);
            }
            let recursive = self.watches.borrow().get(&id).is_some_and(|watch| watch.recursive);
            if !recursive || !event.flags.contains(ReadFlags::ISDIR) {
                continue;
            }
            if event.flags.intersects(ReadFlags::MOVED_FROM | ReadFlags::DELETE) {
                self.forget_below(id, &below);
            } else if is_new {
                let mut found = Vec::new();
                if self.add(id, &below, &mut found).is_err() {
                    self.end(id);
                }
                // What was in it before anybody looked.
                found.iter().for_each(|path| self.tell(id, path, Change::Created));
            }
        }
    }

    /// A folder has left its place; where it is found again, it has another name.
    fn forget_below(&self, id: u64, name: &Path) {
        let notifier = self.notifier.borrow().clone();
        let mut forgotten = 0;
        self.folders.borrow_mut().retain(|folder, lookers| {
            let before = lookers.len();
            lookers.retain(|(looker, at)| *looker != id || !at.starts_with(name));
            forgotten += before - lookers.len();
            if lookers.is_empty()
                && let Some(notifier) = &notifier
            {
                let _ = inotify::remove_watch(&**notifier, *folder);
            }
            !lookers.is_empty()
        });
        if let Some(watch) = self.watches.borrow_mut().get_mut(&id) {
            watch.folders = watch.folders.saturating_sub(forgotten);
        }
    }

    fn tell(&self, id: u64, name: &Path, change: Change) {
        let change = (name.to_string_lossy().into_owned(), change);
        let told = self.watches.borrow().get(&id).map(|watch| watch.changes.try_send(change));
        if let Some(Err(_)) = told {
            self.end(id);
        }
    }
}

fn new_buffer() -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::uninit(); 16 << 10]
}

/// One event of the notifier.
#[derive(Debug)]
struct Event {
    folder: i32,
    flags: ReadFlags,
    cookie: u32,
    name: Option<String>,
}

impl Event {
    fn from(event: &inotify::Event<'_>) -> Self {
        Self {
            folder: event.wd(),
            flags: event.events(),
            cookie: event.cookie(),
            name: event.file_name().map(|name| name.to_string_lossy().into_owned()),
        }
    }

    /// What it means. The server's own uploads look as if they were written in place.
    fn changes(&self, name: &str, draft: &Cell<Option<u32>>) -> Vec<Change> {
        if is_draft(name) {
            if self.flags.contains(ReadFlags::MOVED_FROM) {
                draft.set(Some(self.cookie));
            }
            return Vec::new();
        }
        if self.flags.contains(ReadFlags::MOVED_TO) && draft.get() == Some(self.cookie) {
            draft.set(None);
            return vec![Change::Written];
        }
        let meanings = [
            (ReadFlags::CREATE | ReadFlags::MOVED_TO, Change::Created),
            (ReadFlags::MODIFY, Change::Written),
            (ReadFlags::DELETE, Change::Removed),
            (ReadFlags::MOVED_FROM, Change::Renamed),
            (ReadFlags::ATTRIB, Change::Permissions),
        ];
        meanings
            .iter()
            .filter(|(flags, _)| self.flags.intersects(*flags))
            .map(|(_, change)| *change)
            .collect()
    }
}
