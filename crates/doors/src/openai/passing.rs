//! Requests that are none of our business: passed on to the upstream, byte for byte, and its answer back.

use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request};
use axum::response::{Json, Response};
use bytes::Bytes;
use sandgate_gate::upstream::{Credentials, body_of};
use serde_json::Value;

use super::error::ApiResult;
use super::{Door, OpenAiDoor};

impl OpenAiDoor {
    /// Whether the upstream has this path.
    pub(super) fn passes(&self, path: &str) -> bool {
        self.gate.upstream().forwards(path)
    }

    pub(super) async fn pass(&self, head: Parts, body: Bytes) -> ApiResult<Response> {
        let answer = self.gate.upstream().forward(Request::from_parts(head, body_of(body))).await?;
        let (head, body) = answer.into_parts();
        Ok(Response::from_parts(head, Body::new(body)))
    }
}

pub(super) async fn models(State(door): State<Door>, headers: HeaderMap) -> ApiResult<Json<Value>> {
    Ok(Json(door.gate.upstream().models(&Credentials::from_headers(&headers)).await?))
}
