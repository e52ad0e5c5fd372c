//! A request whose body is read while it is sent, however long it is.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::client::Body;
use super::{Answer, Call, Form, HttpClient, HttpError, Part};

const CHUNK: usize = 64 << 10;

type Reader = Box<dyn AsyncRead + Send + Unpin>;

impl HttpClient {
    /// Sends the form with `content`, which has `size` bytes, as its last part. Never tried again: what was read
    /// is gone.
    pub(crate) async fn upload(
        &self,
        mut call: Call,
        form: Form,
        last: &Part<'_>,
        content: Reader,
        size: u64,
    ) -> Result<Answer, HttpError> {
        call = call.plain(http::header::CONTENT_TYPE, form.content_type()?);
        let (before, after) = form.around_last(last);
        let length = before.len() as u64 + size + after.len() as u64;
        call = call.plain(http::header::CONTENT_LENGTH, length.into());
        // As long as bytes go out there is no silence, however long the whole takes.
        let silence = call.silence.unwrap_or(self.read_timeout());
        let last_taken = Arc::new(Mutex::new(Instant::now()));
        let body = body(before, content, size, after, Arc::clone(&last_taken));
        let mut sending = std::pin::pin!(self.send_patiently(&call, body));
        loop {
            tokio::select! {
                answer = &mut sending => return answer?.success().await,
                () = tokio::time::sleep(silence / 4) => {
                    if last_taken.lock().unwrap_or_else(PoisonError::into_inner).elapsed() > silence {
                        return Err(HttpError::Silent { seconds: silence.as_secs() });
                    }
                }
            }
        }
    }
}

/// Ends the request in the middle when the content is shorter or longer than was said, so that no half file
/// counts as a whole one.
fn body(before: Bytes, content: Reader, size: u64, after: Bytes, taken: Arc<Mutex<Instant>>) -> Body {
    let middle = stream::unfold(Some((content, size)), move |state| {
        // Asked for when what came before is on its way.
        *taken.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        next_piece(state)
    });
    let whole = stream::iter([Ok(before)]).chain(middle).chain(stream::iter([Ok(after)]));
    StreamBody::new(whole.map(|chunk| chunk.map(Frame::data).map_err(Into::into)).boxed()).boxed_unsync()
}

type Rest = Option<(Reader, u64)>;

async fn next_piece(state: Rest) -> Option<(std::io::Result<Bytes>, Rest)> {
    let (mut content, left) = state?;
    let mut chunk = BytesMut::with_capacity(CHUNK);
    match content.read_buf(&mut chunk).await {
        Ok(0) if left == 0 => None,
        Ok(0) => Some((Err(std::io::Error::other("the content is shorter than was said")), None)),
        Ok(read) if read as u64 > left => {
            Some((Err(std::io::Error::other("the content is longer than was said")), None))
        }
        Ok(read) => Some((Ok(chunk.freeze()), Some((content, left - read as u64)))),
        Err(error) => Some((Err(error), None)),
    }
}
