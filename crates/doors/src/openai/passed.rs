//! Responses that an upstream keeps. With keys, all of them are in the operator's one account, so it is written
//! down whose each is, and nobody else can name it; with several upstreams, also which of them has it.

use axum::body::Body;
use axum::http::header::ACCEPT_ENCODING;
use axum::http::request::Parts;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use sandgate_core::{Owner, Principal, Rank};
use sandgate_gate::GateError;
use sandgate_gate::upstream::{CameFrom, KeptBy, model_in};
use sandgate_store::{PassedTo, Store};
use serde_json::{Map, Value};

use super::OpenAiDoor;
use super::body::is_kind;
use super::error::{ApiError, ApiResult};
use super::response_id::IdFinder;

const EVENTS: &str = "text/event-stream";

impl OpenAiDoor {
    /// Passes a create request on, and keeps in mind whose the response is.
    pub(super) async fn pass_create(
        &self,
        who: &Principal,
        mut head: Parts,
        body: Bytes,
    ) -> ApiResult<Response> {
        // With clients' own keys the upstream knows whose it is, and with one upstream where it is.
        if who.rank == Rank::Open && !self.gate.upstream().is_several() {
            return self.pass(head, body).await;
        }
        // What is compressed cannot be read on its way through.
        head.headers.remove(ACCEPT_ENCODING);
        let model = model_in(&body);
        let answer = self.pass(head, body).await?;
        if !answer.status().is_success() {
            return Ok(answer);
        }
        let (head, body) = answer.into_parts();
        let upstream = head.extensions.get::<CameFrom>().map(|CameFrom(name)| name.clone());
        let finder = Some(IdFinder::new(is_kind(&head.headers, EVENTS)));
        let (store, owner) = (self.store.clone(), who.owner.clone());
        let watch = Watch { store, owner, to: PassedTo { upstream, model }, finder };
        Ok(Response::from_parts(head, watch.over(body)))
    }

    /// Where a response that is not in our store may be. None: nobody may be asked about it.
    pub(super) async fn elsewhere(&self, who: &Principal, id: &str) -> ApiResult<Option<KeptBy>> {
        let passed = self.store.passed_response(&who.owner, id).await?;
        let kept_by = passed.map(|PassedTo { upstream, model }| KeptBy { upstream, model });
        Ok(match who.rank {
            Rank::Open => Some(kept_by.unwrap_or_default()),
            Rank::Nobody | Rank::Key(_) | Rank::Master => kept_by,
        })
    }

    /// A conversation can only go on from a response of one's own. Gives who keeps it, if we do not.
    pub(super) async fn check_previous(
        &self,
        who: &Principal,
        fields: &Map<String, Value>,
    ) -> ApiResult<Option<KeptBy>> {
        let Some(id) = fields.get("previous_response_id").and_then(Value::as_str) else { return Ok(None) };
        if self.gate.has_response(&who.owner, id).await? {
            return Ok(None);
        }
        let kept_by = self.elsewhere(who, id).await?;
        kept_by.map(Some).ok_or_else(|| {
            ApiError::from(GateError::Invalid {
                message: format!("Previous response with id '{id}' not found."),
                param: Some("previous_response_id".to_owned()),
                code: Some("previous_response_not_found"),
            })
        })
    }
}

/// Looks for the id of a response in its bytes as they go by.
struct Watch {
    store: Store,
    owner: Owner,
    to: PassedTo,
    /// None: it was found.
    finder: Option<IdFinder>,
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
        let Some(id) = self.finder.as_mut().and_then(|finder| finder.look(piece)) else { return };
        self.finder = None;
        if let Err(error) = self.store.note_passed_response(&self.owner, &id, &self.to).await {
            tracing::error!(%error, "the owner of a passed response could not be kept");
        }
    }
}
