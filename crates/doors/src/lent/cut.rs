//! Bodies that end with their sandbox.

use axum::body::Body;
use futures_util::{StreamExt, stream};

/// The same body, cut off when the sandbox ends: a stream that only stopped would look like one that ended well.
pub(crate) fn cut_when(mut gone: tokio::sync::watch::Receiver<bool>, body: Body) -> Body {
    // Nothing that is whole already needs to be watched.
    if http_body::Body::size_hint(&body).exact().is_some() {
        return body;
    }
    let gone = Box::pin(async move {
        // An error means that nobody is left who could end it, and then the server is ending.
        if gone.wait_for(|gone| *gone).await.is_err() {
            std::future::pending::<()>().await;
        }
    });
    let pieces = body.into_data_stream().map(|piece| piece.map_err(std::io::Error::other));
    let pieces = stream::unfold(Some((pieces, gone)), async |state| {
        let (mut pieces, mut gone) = state?;
        tokio::select! {
            biased;
            () = gone.as_mut() => Some((Err(std::io::Error::other("the sandbox ended")), None)),
            piece = pieces.next() => piece.map(|piece| (piece, Some((pieces, gone)))),
        }
    });
    Body::from_stream(pieces)
}
