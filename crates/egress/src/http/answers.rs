//! Answers of the proxy itself, in plain words.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::ext::ReasonPhrase;

use crate::denied::{NoConnection, Why};

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Answer = Response<BoxBody<Bytes, BoxError>>;

pub(crate) fn text(status: StatusCode, words: &str) -> Answer {
    let body = Full::from(format!("{words}\n")).map_err(|never| match never {}).boxed();
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(header::CONTENT_TYPE, plain);
    answer
}

fn status(why: &NoConnection) -> StatusCode {
    match why {
        NoConnection::Denied(denied) => match denied.why {
            Why::TooMany { .. } | Why::TooFast { .. } | Why::Spent { .. } => StatusCode::TOO_MANY_REQUESTS,
            Why::Crowded { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Why::NotAHost(_) => StatusCode::BAD_REQUEST,
            _ => StatusCode::FORBIDDEN,
        },
        NoConnection::Failed { why, .. } if why.contains("does not answer") => StatusCode::GATEWAY_TIMEOUT,
        NoConnection::Failed { .. } => StatusCode::BAD_GATEWAY,
    }
}

/// In the extensions of an answer: it is not to be given, and the connection to end in its place.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the server closed a connection that was kept, and may have heard the request")]
pub(crate) struct Unanswered;

/// The same as when the client's own connection is closed as its request leaves: it knows best whether to ask again.
pub(crate) fn unanswered() -> Answer {
    let mut answer = text(StatusCode::BAD_GATEWAY, "");
    answer.extensions_mut().insert(Unanswered);
    answer
}

/// No, and why. The words are in the status line too: of an answer to CONNECT, many programs show nothing else.
pub(crate) fn refusal(why: &NoConnection) -> Answer {
    let words = why.to_string();
    let mut answer = text(status(why), &words);
    if let Ok(phrase) = ReasonPhrase::try_from(words.into_bytes()) {
        answer.extensions_mut().insert(phrase);
    }
    answer
}

/// The same as bytes, for a connection that is not served by a server of HTTP.
pub(crate) fn raw_refusal(why: &NoConnection) -> Vec<u8> {
    let words = format!("{why}\n");
    let status = status(why);
    let length = words.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{words}"
    )
    .into_bytes()
}
