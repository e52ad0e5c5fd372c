//! What the server and the agent inside a sandbox agree on.

#![forbid(unsafe_code)]

pub mod protocol;
