//! What is left of a body that was answered before it was read. A client that still sends would find its
//! connection broken, and never see the answer; so some of it is read, and forgotten.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::StreamExt;
use http_body::{Body as _, Frame, SizeHint};

/// More than is on its way anywhere, for what that is worth.
const MOST: usize = 16 << 20;
const PATIENCE: Duration = Duration::from_secs(10);

struct Leftover(Option<Body>);

/// The same body.
pub(crate) fn read_to_the_end(body: Body) -> Body {
    if body.is_end_stream() { body } else { Body::new(Leftover(Some(body))) }
}

impl http_body::Body for Leftover {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.0 else { return Poll::Ready(None) };
        let frame = std::task::ready!(Pin::new(body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.0 = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), http_body::Body::size_hint)
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        if let Some(body) = self.0.take().filter(|body| !body.is_end_stream())
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(tokio::time::timeout(PATIENCE, forget(body)));
        }
    }
}

async fn forget(body: Body) {
    let (mut pieces, mut read) = (body.into_data_stream(), 0);
    while let Some(Ok(piece)) = pieces.next().await {
        read += piece.len();
        if read > MOST {
            return;
        }
    }
}

#[cfg(test)]
#[path = "leftover_tests.rs"]
mod tests;
