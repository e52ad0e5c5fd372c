//! The bytes of a file that an agent reads.

use std::io;
use std::sync::Arc;

use futures_util::stream;
use sandgate_agent::protocol::FromAgent;
use tokio::io::AsyncRead;
use tokio_util::io::StreamReader;

use super::operation::Operation;
use crate::sandbox::EngineSandbox;

/// Ends well only when the agent said that this was all. One that was stopped by code inside is not waited for.
pub(super) fn content(operation: Operation, sandbox: Arc<EngineSandbox>) -> impl AsyncRead + Send + Unpin {
    let pieces = stream::unfold(Some((operation, sandbox)), async |reading| {
        let (mut operation, sandbox) = reading?;
        match operation.answer(&sandbox).await {
            Ok(FromAgent::Data(bytes)) => Some((Ok(bytes), Some((operation, sandbox)))),
            Ok(FromAgent::Done) => None,
            Ok(FromAgent::Failed(failure)) => Some((Err(io::Error::other(failure.text)), None)),
            Ok(_) => Some((Err(io::ErrorKind::UnexpectedEof.into()), None)),
            Err(error) => Some((Err(io::Error::other(error)), None)),
        }
    });
    StreamReader::new(Box::pin(pieces))
}
