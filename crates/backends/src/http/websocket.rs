//! A websocket to a provider, over the same connections and within the same bounds.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http::{Request, Uri};
use hyper_util::rt::TokioIo;
use sandgate_outbound::Stream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use tower_service::Service;

use super::client::innermost;
use super::{Address, HttpClient, HttpError};

#[derive(Debug)]
pub(crate) struct Socket {
    stream: WebSocketStream<TokioIo<Stream>>,
    /// For what is sent to be taken.
    limit: Duration,
}

/// What came over a websocket.
#[derive(Debug)]
pub(crate) enum Heard {
    Text(String),
    /// The end, with the code and the reason the provider gave.
    Closed(Option<u16>, String),
}

impl HttpClient {
    pub(crate) async fn websocket(
        &self,
        address: &Address,
        path: &str,
        headers: &http::HeaderMap,
        longest_message: usize,
    ) -> Result<Socket, HttpError> {
        let uri = address.websocket_uri(path)?;
        let limit = self.read_timeout();
        let opened = tokio::time::timeout(limit, self.open(address, uri, headers, longest_message));
        opened.await.unwrap_or(Err(HttpError::Silent { seconds: limit.as_secs() }))
    }

    async fn open(
        &self,
        address: &Address,
        uri: Uri,
        headers: &http::HeaderMap,
        longest_message: usize,
    ) -> Result<Socket, HttpError> {
        let mut request: Request<()> =
            uri.into_client_request().map_err(|error| HttpError::Ours(error.to_string()))?;
        request.headers_mut().extend(headers.clone());
        let target = address.uri("/", &[])?;
        let stream = self.connector().call(target).await;
        let stream = stream.map_err(|error| HttpError::Unreachable(innermost(&*error)))?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(longest_message))
            .max_frame_size(Some(longest_message));
        let (socket, _) = client_async_with_config(request, TokioIo::new(stream), Some(config))
            .await
            .map_err(|error| refused(&error))?;
        Ok(Socket { stream: socket, limit: self.read_timeout() })
    }
}

impl Socket {
    pub(crate) async fn send(&mut self, text: String) -> Result<(), HttpError> {
        let sent = tokio::time::timeout(self.limit, self.stream.send(Message::text(text))).await;
        let sent = sent.map_err(|_| HttpError::Silent { seconds: self.limit.as_secs() })?;
        sent.map_err(|error| HttpError::Broken(innermost(&error)))
    }

    pub(crate) async fn next(&mut self) -> Result<Heard, HttpError> {
        loop {
            match self.stream.next().await {
                None => return Ok(Heard::Closed(None, String::new())),
                Some(Ok(Message::Text(text))) => return Ok(Heard::Text(text.to_string())),
                Some(Ok(Message::Close(frame))) => {
                    let reason = frame.as_ref().map(|frame| frame.reason.to_string()).unwrap_or_default();
                    return Ok(Heard::Closed(frame.map(|frame| frame.code.into()), reason));
                }
                Some(Ok(Message::Binary(_))) => {
                    return Err(HttpError::Unreadable("bytes came where text was expected".to_owned()));
                }
                // Answered by the library.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Err(Error::Capacity(CapacityError::MessageTooLong { max_size, .. }))) => {
                    return Err(HttpError::TooLong { what: "a message", limit: max_size });
                }
                Some(Err(Error::Capacity(error))) => {
                    return Err(HttpError::Unreadable(error.to_string()));
                }
                Some(Err(error)) => return Err(HttpError::Broken(innermost(&error))),
            }
        }
    }
}

fn refused(error: &Error) -> HttpError {
    match error {
        Error::Http(answer) => HttpError::Refused {
            status: answer.status(),
            message: "the websocket was not opened".to_owned(),
            code: None,
            retry_after: None,
        },
        other => HttpError::Broken(innermost(other)),
    }
}
