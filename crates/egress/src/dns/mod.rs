//! Names inside a sandbox, and names outside: a server that gives out made-up addresses for allowed names without
//! asking anyone, and a client that asks the operator's name servers when a connection is made.

pub(crate) mod client;
mod message;
mod names;
mod server;

pub use message::{Question, parse_answer, parse_question};
pub(crate) use names::{SyntheticNames, is_synthetic};
pub(crate) use server::{serve_tcp, serve_udp};
