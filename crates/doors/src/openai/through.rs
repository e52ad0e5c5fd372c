//! The way through the gate, the same for every API that has the code tool: who asks, and the answer.

use axum::http::request::Parts;
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::Principal;
use sandgate_gate::upstream::Credentials;
use sandgate_gate::{Answer, Asker, Call, Caller, Watch};

use super::sse;
use crate::request_id::RequestId;

/// `door`: what the API is called in records.
pub(super) fn caller(who: &Principal, head: &Parts, door: &'static str) -> Caller {
    let call = head.extensions.get::<Call>().cloned().unwrap_or_default();
    let watch = head.extensions.get::<Watch>().cloned().unwrap_or_default();
    let asker = Asker { call, watch, ..Asker::new(who, RequestId::of(&head.extensions), door) };
    Caller { asker, credentials: Credentials::from_headers(&head.headers).with_query(head.uri.query()) }
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
