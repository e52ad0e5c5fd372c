//! The protocols clients speak. A door is one folder: HTTP in, HTTP out, errors in that protocol's
//! own shape; what it knows of running code is `sandgate_core`, never a backend.

#![forbid(unsafe_code)]

mod access;
pub mod admin;
mod cross_site;
pub mod execute;
mod local;
pub mod openai;
mod owner;
mod patience;
mod server;
mod stalled;
mod unheard;

pub use access::Access;
pub use server::serve;
