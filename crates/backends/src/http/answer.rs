//! What a provider answers: never trusted to be short, quick or what it says it is.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Response, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use sandgate_core::Secret;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::AsyncRead;
use tokio_util::io::StreamReader;

use super::client::innermost;
use super::{HttpError, Lines, retry};

/// Of the text of an error.
const ERROR_BODY_LIMIT: usize = 64 << 10;
const MESSAGE_LIMIT: usize = 500;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Incoming,
    silence: Duration,
    /// What was sent with the request and must not come back in an error.
    hidden: Vec<Secret>,
}

impl Answer {
    pub(super) fn new(answer: Response<Incoming>, silence: Duration, asked: &HeaderMap) -> Self {
        let hidden = asked.values().filter(|value| value.is_sensitive());
        let hidden = hidden.filter_map(|value| value.to_str().ok());
        // "Bearer KEY": the key alone is to be hidden as well.
        let hidden =
            hidden.map(|value| value.rsplit(' ').next().unwrap_or(value)).filter(|value| !value.is_empty());
        let hidden = hidden.map(|value| Secret::new(value.to_owned())).collect();
        let (head, body) = answer.into_parts();
        Self { status: head.status, headers: head.headers, body, silence, hidden }
    }

    /// The answer if it is a success, or the provider's words.
    pub(crate) async fn success(self) -> Result<Self, HttpError> {
        if self.status.is_success() { Ok(self) } else { Err(self.refusal().await) }
    }

    pub(crate) async fn refusal(mut self) -> HttpError {
        let status = self.status;
        // An error whose text is lost is still that error.
        let body = self.whole(ERROR_BODY_LIMIT, true).await.unwrap_or_default();
        let text = String::from_utf8_lossy(&body);
        let said = serde_json::from_str::<Value>(&text).ok();
        let code = said.as_ref().and_then(|said| said["code"].as_str()).map(|code| self.presentable(code));
        let message = match said {
            Some(said) => message_in(&said).unwrap_or_else(|| said.to_string()),
            None => text.into_owned(),
        };
        let retry_after = retry::asked(&self.headers);
        HttpError::Refused { status, code, message: self.presentable(&message), retry_after }
    }

    /// A provider's words as they may go into an error.
    pub(crate) fn presentable(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.hidden {
            text = text.replace(secret.expose(), "…");
        }
        let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let cut: String = plain.trim().chars().take(MESSAGE_LIMIT).collect();
        if cut.is_empty() { "no words".to_owned() } else { cut }
    }

    pub(crate) fn is_kind(&self, wanted: &str) -> bool {
        let kind =
            self.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted)
    }

    /// The whole as JSON.
    pub(crate) async fn json<T: DeserializeOwned>(mut self, limit: usize) -> Result<T, HttpError> {
        if !self.is_kind("application/json") {
            let kind =
                self.headers.get(header::CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()));
            let kind = self.presentable(&kind.unwrap_or_default());
            return Err(HttpError::Unreadable(format!("JSON was expected, and this came: {kind}")));
        }
        let body = self.whole(limit, false).await?;
        serde_json::from_slice(&body).map_err(|error| {
            // serde's words may quote what it read.
            let (line, column) = (error.line(), error.column());
            let what = match error.classify() {
                serde_json::error::Category::Data => "the answer has another shape than expected",
                _ => "the answer is not JSON",
            };
            HttpError::Unreadable(format!("{what} (line {line}, column {column})"))
        })
    }

    /// How long the body is, where that is told ahead.
    pub(crate) fn length(&self) -> Option<u64> {
        self.headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
    }

    /// Reads to the end, so that the connection can be used again; what it says does not matter.
    pub(crate) async fn done(mut self) {
        let _ = self.whole(ERROR_BODY_LIMIT, true).await;
    }

    pub(crate) fn lines(self, longest: usize) -> Lines {
        Lines::new(self, longest)
    }

    /// The body as it comes, for a file.
    pub(crate) fn reader(self) -> Box<dyn AsyncRead + Send + Unpin> {
        let chunks = futures_util::stream::unfold(self, async |mut answer| {
            let chunk = answer.chunk().await.transpose()?;
            Some((chunk.map_err(std::io::Error::other), answer))
        });
        Box::new(StreamReader::new(Box::pin(chunks)))
    }

    /// The next bytes; None at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        loop {
            let Ok(frame) = tokio::time::timeout(self.silence, self.body.frame()).await else {
                return Err(HttpError::Silent { seconds: self.silence.as_secs() });
            };
            match frame {
                None => return Ok(None),
                Some(Err(error)) => return Err(HttpError::Broken(innermost(&error))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if !data.is_empty() => return Ok(Some(data)),
                    _ => {}
                },
            }
        }
    }

    async fn whole(&mut self, limit: usize, cut: bool) -> Result<Bytes, HttpError> {
        // A body that trickles in is as bad as one that does not come.
        let deadline = self.silence.saturating_mul(4);
        let gathered = tokio::time::timeout(deadline, self.gather(limit, cut)).await;
        gathered.unwrap_or(Err(HttpError::Silent { seconds: deadline.as_secs() }))
    }

    async fn gather(&mut self, limit: usize, cut: bool) -> Result<Bytes, HttpError> {
        let mut whole = BytesMut::new();
        while let Some(data) = self.chunk().await? {
            if whole.len() + data.len() > limit {
                if !cut {
                    return Err(HttpError::TooLong { what: "the answer", limit });
                }
                whole.extend_from_slice(&data[..limit - whole.len()]);
                break;
            }
            whole.extend_from_slice(&data);
        }
        Ok(whole.freeze())
    }
}

/// Where providers put the sentence that says what is wrong.
fn message_in(said: &Value) -> Option<String> {
    let text =
        said["message"].as_str().or_else(|| said["error"].as_str()).or_else(|| said["detail"].as_str());
    let text = text.or_else(|| said["error"]["message"].as_str());
    text.map(ToOwned::to_owned)
}
