//! The one way to every provider over HTTP: pooled connections, deadlines, bounds on whatever comes back. Nothing
//! is followed elsewhere, nothing is sent twice that could happen twice, and no error tells a secret.

mod address;
mod answer;
mod call;
mod client;
mod error;
mod lines;
mod mapped;
mod multipart;
mod retry;
mod upload;
mod websocket;

pub(crate) use address::{Address, InvalidAddress, is_host, nested_query, path_segment};
pub(crate) use answer::Answer;
pub(crate) use call::{Call, sensitive};
pub(crate) use client::HttpClient;
pub(crate) use error::HttpError;
pub(crate) use lines::Lines;
pub(crate) use mapped::{of_output, of_sandbox};
pub(crate) use multipart::{Form, Part};
pub(crate) use websocket::{Heard, Socket};

#[cfg(test)]
pub(crate) mod test_server;
#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
