//! The way through the gate, the same for every API that has the code tool: who asks, and the answer.

use axum::http::request::Parts;
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::Principal;
use sandgate_gate::upstream::Credentials;
use sandgate_gate::{Answer, Asker, Caller};

use super::request_id::RequestId;
use super::sse;

/// `door`: what the API is called in records.
pub(super) fn caller(who: &Principal, head: &Parts, door: &'static str) -> Caller {
    let request_id = head.extensions.get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default();
    Caller { asker: Asker::new(who, request_id, door), credentials: Credentials::from_headers(&head.headers) }
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
