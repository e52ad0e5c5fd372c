//! Everything that can go wrong between asking a backend and getting an answer. Code that raises is
//! not an error here: it is an execution that ended with [`crate::Ending::Raised`].

use crate::{ContainerId, ContextId, InvalidId, SandboxId};

pub type Result<T, E = BackendError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    #[error("container '{0}' does not exist")]
    NoSuchContainer(ContainerId),
    #[error("sandbox '{0}' does not exist")]
    NoSuchSandbox(SandboxId),
    #[error("context '{0}' does not exist in this container")]
    NoSuchContext(ContextId),
    #[error("context '{0}' exists already in this container")]
    ContextExists(ContextId),
    #[error("this container has {limit} contexts, which is its limit; delete one first")]
    TooManyContexts { limit: u32 },
    #[error("language '{language}' is not available here; there is: {available}")]
    NoSuchLanguage { language: String, available: String },
    #[error("the code is {size} bytes long; the limit is {limit}")]
    CodeTooLarge { size: u64, limit: u64 },
    #[error("the container is paused; resume it first")]
    Paused,
    #[error("no room for another sandbox: {limit} are live, which is the limit")]
    Full { limit: usize },
    #[error("this key may have {limit} containers, and has them; delete one first")]
    TooManyContainers { limit: u32 },
    #[error(
        "this key may have {limit} sandboxes running at once, and has them; delete a container or wait until one idles"
    )]
    TooManySandboxes { limit: u32 },
    #[error("this key may run {limit} executions at once, and does; try again when one has ended")]
    TooManyExecutions { limit: u32 },
    /// For a moment.
    #[error("the sandbox has too much under way: {0}; try again")]
    Busy(String),
    #[error("{0}")]
    Invalid(String),
    #[error(transparent)]
    InvalidId(#[from] InvalidId),

    #[error("no such file or folder: {0}")]
    NoSuchFile(String),
    #[error("{path}: {reason}")]
    File { path: String, reason: String },
    #[error("the file is larger than the limit of {limit} bytes")]
    FileTooLarge { limit: u64 },
    #[error("there is something at this path already: {0}")]
    Exists(String),
    #[error("this is a folder: {0}")]
    IsFolder(String),
    #[error("this is not a folder: {0}")]
    NotAFolder(String),
    #[error("permission denied: {0}")]
    PermissionDenied(String),
    #[error("no space is left for {0}")]
    NoSpace(String),

    #[error("no such process: {0}")]
    NoSuchProcess(String),
    #[error("nothing listens on port {0} inside the sandbox")]
    PortClosed(u16),
    #[error("{0} cannot be done on this backend")]
    Unsupported(&'static str),

    #[error("there is no backend '{name}' here; there is: {available}")]
    NoSuchBackend { name: String, available: String },
    #[error("this key runs code on backend '{own}' alone, not on '{asked}'")]
    OtherBackend { own: String, asked: String },
    /// Somebody else runs the sandboxes, and does not do so now.
    #[error("backend '{backend}' is not available: {reason}")]
    Unavailable { backend: String, reason: String, retry_seconds: u64 },
    /// The backend itself failed: nothing the caller did.
    #[error("the sandbox engine failed: {0}")]
    Engine(String),
    #[error("the server is shutting down")]
    ShuttingDown,
}
