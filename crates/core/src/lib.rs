//! The words of the product as types: container, sandbox, context, execution; and the two traits,
//! [`Backend`] and [`Sandbox`], that the embedded engine and every remote provider implement.

#![forbid(unsafe_code)]

mod backend;
mod backend_check;
mod containers;
mod error;
mod event;
mod files;
mod id;
mod inside;
mod key_limits;
mod leases;
mod limits;
pub mod network;
mod network_rules;
mod outcome;
mod owner;
mod principal;
mod processes;
mod registry;
mod reserve;
mod secret;
mod shares;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod watched_backend;

pub use backend::{
    Backend, BackendReport, BackendStats, ContextInfo, ContextSpec, ExecuteRequest, Execution,
    ExecutionHandle, Meter, NetworkBy, Sandbox, SandboxSpec, Stop, Usage,
};
pub use backend_check::{BackendCheck, CheckBackends};
pub use containers::{Container, ContainerInfo, ContainerState, Containers, ContainersConfig, NewContainer};
pub use error::{BackendError, Result};
pub use event::{CodeError, Ending, Event, FileChange, FileChangeKind, LimitKind, MimeBundle, Note};
pub use files::{ByteRange, FileContent, FileKind, FileStat, Files, SandboxPath};
pub use id::{ContainerId, ContextId, InvalidId, SandboxId, random_alphanumeric, random_hex};
pub use inside::{Change, Connection, Entry, FolderChange, FolderChanges, FolderNews, Inside, OpenFile};
pub use key_limits::{InvalidLimits, KeyLimits};
pub use leases::{
    Lease, LeaseError, LeaseRegistry, LeaseState, Leases, MemoryLeases, NewLease, OnEnd, Parsed, now_ms,
};
pub use limits::{Limits, human_bytes};
pub use network_rules::{NetworkRefused, NetworkRules};
pub use outcome::{NoteText, Outcome, OutcomeBuilder, RichResult};
pub use owner::Owner;
pub use principal::{Principal, Rank};
pub use processes::{
    Input, Joined, ProcessEnd, ProcessEvent, ProcessInfo, ProcessRef, Processes, StartProcess, TerminalSize,
};
pub use registry::{ContainerRecord, MemoryRegistry, Registry, RegistryError, now_seconds};
pub use reserve::space_is_short;
pub use secret::Secret;
pub use shares::{Share, Shares};
pub use watched_backend::WatchedBackend;
