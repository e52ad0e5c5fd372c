//! Responses that the upstream keeps. With keys, all of them are in the operator's one account, so it is
//! written down whose each is, and nobody else can name it.

use axum::body::Body;
use axum::http::header::ACCEPT_ENCODING;
use axum::http::request::Parts;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use sandgate_core::{Owner, Principal, Rank};
use sandgate_gate::GateError;
use sandgate_store::Store;
use serde_json::{Map, Value};

use super::OpenAiDoor;
use super::error::{ApiError, ApiResult};

/// The id comes first, but a server may say other things before it.
const LOOKED_AT: usize = 64 << 10;
const LONGEST_ID: usize = 256;

impl OpenAiDoor {
    /// Passes a create request on, and keeps in mind whose the response is.
    pub(super) async fn pass_create(
        &self,
        who: &Principal,
        mut head: Parts,
        body: Bytes,
    ) -> ApiResult<Response> {
        if who.rank == Rank::Open {
            return self.pass(head, body).await;
        }
        // What is compressed cannot be read on its way through.
        head.headers.remove(ACCEPT_ENCODING);
        let answer = self.pass(head, body).await?;
        if !answer.status().is_success() {
            return Ok(answer);
        }
        let (head, body) = answer.into_parts();
        let watch =
            Watch { store: self.store.clone(), owner: who.owner.clone(), seen: Vec::new(), over: false };
        Ok(Response::from_parts(head, watch.over(body)))
    }

    /// Whether the upstream may be asked about a response that is not in our store.
    pub(super) async fn may_be_elsewhere(&self, who: &Principal, id: &str) -> ApiResult<bool> {
        match who.rank {
            Rank::Open => Ok(true),
            Rank::Nobody | Rank::Key(_) | Rank::Master => {
                Ok(self.store.has_passed_response(&who.owner, id).await?)
            }
        }
    }

    /// A conversation can only go on from a response of one's own.
    pub(super) async fn check_previous(&self, who: &Principal, fields: &Map<String, Value>) -> ApiResult<()> {
        let Some(id) = fields.get("previous_response_id").and_then(Value::as_str) else { return Ok(()) };
        if self.gate.has_response(&who.owner, id).await? || self.may_be_elsewhere(who, id).await? {
            return Ok(());
        }
        Err(ApiError::from(GateError::Invalid {
            message: format!("Previous response with id '{id}' not found."),
            param: Some("previous_response_id".to_owned()),
            code: Some("previous_response_not_found"),
        }))
    }
}

/// Looks for the id of a response in its bytes as they go by.
struct Watch {
    store: Store,
    owner: Owner,
    seen: Vec<u8>,
    over: bool,
}

impl Watch {
    fn over(self, body: Body) -> Body {
        let pieces = stream::unfold((self, body.into_data_stream()), async |(mut watch, mut pieces)| {
            let piece = pieces.next().await?;
            if let Ok(bytes) = &piece {
                watch.look(bytes).await;
            }
            Some((piece, (watch, pieces)))
        });
        Body::from_stream(pieces)
    }

    /// Written down before the client has the id, so that it can use it at once.
    async fn look(&mut self, piece: &[u8]) {
        if self.over {
            return;
        }
        self.seen.extend_from_slice(piece);
        if let Some(id) = response_id(&self.seen) {
            self.over = true;
            if let Err(error) = self.store.note_passed_response(&self.owner, &id).await {
                tracing::error!(%error, "the owner of a passed response could not be kept");
            }
        }
        if self.over || self.seen.len() > LOOKED_AT {
            self.over = true;
            self.seen = Vec::new();
        }
    }
}

/// The first `"id": "resp…"`. Quotes inside of texts have a backslash before them, so it is a field.
fn response_id(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    for (at, found) in text.match_indices("\"id\"") {
        let rest = text[at + found.len()..].trim_start();
        let Some(rest) = rest.strip_prefix(':') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix('"') else { continue };
        let (id, _) = rest.split_once('"')?;
        if id.starts_with("resp") && id.len() <= LONGEST_ID {
            return Some(id.to_owned());
        }
    }
    None
}

#[cfg(test)]
#[path = "passed_tests.rs"]
mod tests;
