//! What a provider's protocol offers, at the level of that protocol. Implementations speak, bound what they
//! read, and say precisely what went wrong; they make up for nothing and retry only what is safe to repeat.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sandgate_core::{CodeError, FileKind, Inside, MimeBundle, Processes};
use tokio::io::AsyncRead;
use tokio::sync::mpsc;

use crate::{Capabilities, ProviderError, ProviderResult};

/// Among so many neighbours a file is looked for.
const MOST_BESIDE: usize = 100_000;

/// One account at one provider. Cheap to share; connections are pooled inside.
#[async_trait]
pub trait Provider: Send + Sync + fmt::Debug {
    /// `e2b`, `opensandbox`, `daytona`.
    fn kind(&self) -> &'static str;

    fn capabilities(&self) -> Capabilities;

    /// For a new sandbox, from the first question until it can run code.
    fn longest_create(&self) -> Duration;

    /// A new sandbox that runs, or is about to: [`Place::furnish`] waits for it. When this fails, or nobody waits for
    /// it any more, whatever was made is deleted again.
    async fn create(&self, wish: &Wish) -> ProviderResult<Arc<dyn Place>>;

    /// A sandbox made earlier, with at least `life` to go; one that is paused is woken. [`ProviderError::Lost`]
    /// when it is gone.
    async fn attach(&self, id: &PlaceId, life: Duration) -> ProviderResult<Arc<dyn Place>>;

    /// Without waking it or giving it more time.
    async fn state(&self, id: &PlaceId) -> ProviderResult<PlaceState>;

    /// No error when it is gone already.
    async fn delete(&self, id: &PlaceId) -> ProviderResult<()>;

    /// All sandboxes, running or paused, that carry every one of these pairs, over all pages.
    async fn find(&self, metadata: &BTreeMap<String, String>) -> ProviderResult<Vec<Found>>;
}

/// A sandbox at a provider, and what it takes to talk to it.
#[async_trait]
pub trait Place: Send + Sync + fmt::Debug {
    fn id(&self) -> &PlaceId;

    /// Waits until a new one answers and `folder` is there, made if need be, where code may write. Absolute; bounded
    /// by who calls.
    async fn furnish(&self, folder: &str) -> ProviderResult<Furnished>;

    /// At least so much from now on.
    async fn extend(&self, life: Duration) -> ProviderResult<()>;

    async fn pause(&self) -> ProviderResult<()> {
        Err(ProviderError::Unsupported("pausing a sandbox"))
    }
    async fn resume(&self) -> ProviderResult<()> {
        Err(ProviderError::Unsupported("resuming a sandbox"))
    }

    /// The provider's own id of the Python interpreter that runs what names no context; None: it has none yet.
    async fn first_context(&self) -> ProviderResult<Option<String>> {
        Ok(None)
    }
    /// The provider's own id of it.
    async fn create_context(&self, wish: &ContextWish) -> ProviderResult<String>;
    async fn delete_context(&self, id: &str) -> ProviderResult<()>;

    /// Starts code. An error here means that nothing ran.
    async fn execute(&self, run: Run) -> ProviderResult<Running>;
    /// Stops what runs in the context (None: the one used when a run names none); the interpreter lives on.
    async fn interrupt(&self, context: Option<&str>) -> ProviderResult<()>;

    /// The file from its beginning; a folder is [`ProviderError::File`].
    async fn read(&self, path: &str) -> ProviderResult<Content>;
    /// Makes or replaces the file, folders above it too. `size` bytes come, no more and no less.
    async fn write(
        &self,
        path: &str,
        content: Box<dyn AsyncRead + Send + Unpin>,
        size: u64,
    ) -> ProviderResult<()>;
    /// Everything below the folder down to `depth` levels (1: the folder alone), with absolute paths; at most
    /// `most` entries. Links are told, not followed.
    async fn list(&self, path: &str, depth: u32, most: usize) -> ProviderResult<Gathered>;
    /// Of the thing itself: a link is not followed. Providers whose protocol has a shorter way take it.
    async fn stat(&self, path: &str) -> ProviderResult<PlaceEntry> {
        let above =
            path.rsplit_once('/').map_or("/", |(above, _)| if above.is_empty() { "/" } else { above });
        let beside = self.list(above, 1, MOST_BESIDE).await?;
        let found = beside.entries.into_iter().find(|entry| entry.path == path);
        found.ok_or_else(|| ProviderError::NoSuchFile(path.to_owned()))
    }
    /// With all that is in it; no error when it is gone already.
    async fn remove(&self, path: &str) -> ProviderResult<()>;
    /// With the folders above it; no error when it is there already.
    async fn make_dir(&self, path: &str) -> ProviderResult<()>;
    async fn rename(&self, from: &str, to: &str) -> ProviderResult<()>;

    /// Commands and terminals inside it.
    async fn processes(&self) -> ProviderResult<Arc<dyn Processes>> {
        Err(ProviderError::Unsupported("running a command"))
    }
    /// Everything as its programs see it.
    async fn inside(&self) -> ProviderResult<Arc<dyn Inside>> {
        Err(ProviderError::Unsupported("reaching files and ports inside a sandbox"))
    }
}

/// The provider's own name of a sandbox. It comes from outside: letters, digits, `-`, `_` and `.` only, 128 at
/// most, so that it can stand in addresses and file names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceId(String);

impl PlaceId {
    pub fn parse(text: &str) -> ProviderResult<Self> {
        let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let only_dots = text.chars().all(|c| c == '.');
        if text.is_empty() || text.len() > 128 || only_dots || !text.chars().all(harmless) {
            let shown: String = text.chars().take(80).collect();
            return Err(ProviderError::Garbage(format!("'{}' as the id of a sandbox", shown.escape_debug())));
        }
        Ok(Self(text.to_owned()))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a new sandbox is to be. Template, image and the like are the provider's settings.
#[derive(Clone, PartialEq)]
pub struct Wish {
    /// None: whatever the provider gives.
    pub memory_bytes: Option<u64>,
    pub cpu_millis: Option<u32>,
    pub disk_bytes: Option<u64>,
    pub network: NetworkWish,
    /// How long it lives unless [`Place::extend`] moves its end.
    pub life: Duration,
    /// For all that runs in it.
    pub env: Vec<(String, String)>,
    /// Names this gate and the sandbox; values are letters, digits, `-` and `_`, 63 at most.
    pub metadata: BTreeMap<String, String>,
}

impl fmt::Debug for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of variables may be secrets.
        let names: Vec<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        let shown = &mut f.debug_struct("Wish");
        shown.field("network", &self.network).field("life", &self.life).field("env", &names);
        shown.field("metadata", &self.metadata).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum NetworkWish {
    /// Nothing, also no names. Where that cannot be had, making the sandbox fails.
    #[default]
    Nothing,
    /// Only these: names, `*.names`, addresses, CIDR blocks. A kind that cannot be had is refused.
    Only(Vec<String>),
    Everything,
}

/// How a new sandbox was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Furnished {
    /// With nothing to wait for or to make.
    AtOnce,
    Later,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceState {
    Running,
    Paused,
    /// Between two states.
    Changing,
    /// It is there, and will not run again.
    Broken,
}

/// A sandbox as lists have it.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub id: PlaceId,
    pub metadata: BTreeMap<String, String>,
    pub state: PlaceState,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextWish {
    /// None: Python.
    pub language: Option<String>,
    pub cwd: Option<String>,
}

/// Code for one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    pub code: String,
    /// As [`Place::create_context`] gave it; None: the provider's own default.
    pub context: Option<String>,
    /// Of the code, and of the context where one is named. None: Python.
    pub language: Option<String>,
    pub env: Vec<(String, String)>,
    /// How long the code may run. The caller watches it as well; what the provider does first counts.
    pub timeout: Duration,
    /// More bytes of output than this are not read: [`ProviderError::TooLarge`].
    pub output_bytes: u64,
}

/// A run under way. Dropping it lets go of the connection; who wants the code to end calls
/// [`Place::interrupt`] first.
#[derive(Debug)]
pub struct Running {
    /// Ends after [`Said::Ended`] or an error, exactly one of which is the last.
    pub said: mpsc::Receiver<ProviderResult<Said>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    Stdout(String),
    Stderr(String),
    /// The value of the last expression. Mime types as Jupyter has them (`text/plain`, never `text`).
    Value(MimeBundle),
    /// Something displayed.
    Shown(MimeBundle),
    Raised(CodeError),
    /// How many runs the interpreter has seen.
    Count(u64),
    Ended(RunEnd),
}

#[derive(Clone, Debug, PartialEq)]
pub enum RunEnd {
    /// Whether it raised was said before.
    Finished,
    Interrupted,
    TimedOut,
    /// The interpreter died under it; its variables are gone. In words, where the provider has some.
    Died(String),
}

/// A file that is being read.
pub struct Content {
    /// Where it is told ahead.
    pub size: Option<u64>,
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content").field("size", &self.size).finish_non_exhaustive()
    }
}

/// What a listing found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gathered {
    pub entries: Vec<PlaceEntry>,
    /// There is more.
    pub cut: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlaceEntry {
    /// Absolute.
    pub path: String,
    pub kind: FileKind,
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// Milliseconds since 1970.
    pub modified_ms: i64,
    pub link_target: Option<String>,
}
