//! A request whose body is read while it is sent, however long it is.

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
        // As long as bytes go out there is no silence: what is not read for long is the server's own fault.
        let silence = call.silence.unwrap_or(self.read_timeout()).saturating_mul(10);
        let call = call.silence(silence);
        self.send(&call, body(before, content, size, after)).await?.success().await
    }
}

/// Ends the request in the middle when the content is shorter or longer than was said, so that no half file
/// counts as a whole one.
fn body(before: Bytes, content: Reader, size: u64, after: Bytes) -> Body {
    let middle = stream::unfold(Some((content, size)), async |state| {
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
    });
    let whole = stream::iter([Ok(before)]).chain(middle).chain(stream::iter([Ok(after)]));
    StreamBody::new(whole.map(|chunk| chunk.map(Frame::data).map_err(Into::into)).boxed()).boxed_unsync()
}
