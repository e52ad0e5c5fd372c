//! The protocols clients speak. A door is one folder: HTTP in, HTTP out, errors in that protocol's
//! own shape; what it knows of running code is `sandgate_core`, never a backend.

#![forbid(unsafe_code)]

pub mod execute;
mod local;
mod patience;
mod server;
mod stalled;

pub use server::serve;
