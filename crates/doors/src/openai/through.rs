//! The way through the gate, the same for every API that has the code tool: who asks, and the answer.

use std::sync::Arc;

use axum::http::request::Parts;
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::Principal;
use sandgate_gate::upstream::Credentials;
use sandgate_gate::{Answer, Caller};

use super::request_id::RequestId;
use super::sse;

pub(super) fn caller(who: &Principal, head: &Parts) -> Caller {
    Caller {
        owner: who.owner.clone(),
        limits: Arc::clone(&who.limits),
        credentials: Credentials::from_headers(&head.headers),
        request_id: head.extensions.get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default(),
    }
}

pub(super) fn answered(answer: Answer) -> Response {
    match answer {
        Answer::Whole { response, headers } => {
            let mut answer = Json(response).into_response();
            answer.headers_mut().extend(headers);
            answer
        }
        Answer::Stream { events, headers } => sse::answer(events, headers),
    }
}
