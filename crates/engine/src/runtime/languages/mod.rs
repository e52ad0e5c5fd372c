//! Languages other than Python: which there are, which runtimes they need, and how a runtime is made by the program
//! itself from the registries of packages. Sandboxes see all runtimes read-only at `/opt/runtimes`.
//!
//! Everything here blocks, like the rest of this module.

mod add;
mod copy;
mod debian;
mod edition;
mod go;
mod installed;
mod java;
mod language;
mod node;
mod r;
mod sources;
mod wheel;

pub use add::{add, remove};
pub use edition::{Edition, NoSuchEdition};
pub use installed::{Installed, State, ready, size, state, version_of};
pub use language::{Language, Tool};

/// Where sandboxes see the folder of all runtimes.
pub const LANGUAGES_INSIDE: &str = "/opt/runtimes";
/// The folder of all runtimes below the one of the Python runtimes.
pub const LANGUAGES_FOLDER: &str = "languages";
