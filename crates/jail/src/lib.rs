//! The walls of a sandbox: namespaces, mounts, capabilities, seccomp, Landlock, cgroups.
//!
//! Unsafe code is in [`sys`], one safe function per system call, and around the forks of [`process`]; outside
//! this crate only the zygote's fork loop has any.

pub mod cgroup;
pub mod confine;
mod error;
mod landlock;
mod layers;
pub mod message;
mod mounts;
pub mod openings;
pub mod process;
pub mod program;
pub mod root;
mod seccomp;
mod seccomp_policy;
mod seccomp_program;
mod socket_policy;
pub mod sys;

pub use error::{Result, StepError};
pub use landlock::abi as landlock_abi;
pub use layers::Layers;
pub use seccomp::Filters;

/// The user inside every sandbox.
pub const INNER_USER: u32 = 1000;
/// PID 1 of a sandbox runs as this id, so that code inside cannot touch it.
pub const INNER_INIT: u32 = 0;
