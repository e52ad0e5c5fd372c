//! `POST /v1/chat/completions`: with a code tool through the gate; otherwise straight on to the upstream.

use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Json, Response};
use bytes::Bytes;
use sandgate_gate::upstream::{Credentials, model_in};
use sandgate_gate::{Answer, Caller as GateCaller, ChatRequest, forget_code, may_name_code};
use serde_json::{Map, Value};

use super::body::{is_kind, not_declared, parse, unreadable};
use super::error::ApiResult;
use super::request_id::RequestId;
use super::{Door, sse};
use crate::access::check_model;
use crate::owner::Who;

const PATH: &str = "/v1/chat/completions";

pub(super) async fn create(State(door): State<Door>, Who(who): Who, request: Request) -> ApiResult<Response> {
    if !is_kind(request.headers(), "application/json") {
        return Err(not_declared("application/json"));
    }
    let (head, body) = request.into_parts();
    let copy = head.clone();
    let body = Bytes::from_request(Request::from_parts(head, body), &()).await.map_err(unreadable)?;
    check_model(&who.limits, &body)?;
    let passes = door.gate.upstream().forwards_for(PATH, model_in(&body).as_deref());
    if passes && !may_name_code(&body) {
        return door.pass(copy, body).await;
    }
    let mut fields = parse(&body)?;
    if passes && !has_code_tool(&fields) {
        // What earlier answers told of code is nothing the upstream knows.
        let body = if forget_code(&mut fields) { Value::Object(fields).to_string().into() } else { body };
        return door.pass(copy, body).await;
    }
    let caller = GateCaller {
        owner: who.owner,
        limits: who.limits,
        credentials: Credentials::from_headers(&copy.headers),
        request_id: copy.extensions.get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default(),
    };
    Ok(match door.gate.chat(caller, ChatRequest::parse(fields)?).await? {
        Answer::Whole { response, headers } => {
            let mut answer = Json(response).into_response();
            answer.headers_mut().extend(headers);
            answer
        }
        Answer::Stream { events, headers } => sse::answer(events, headers),
    })
}

/// Tools that are no list are ours to refuse: the tool was named, and would be overlooked.
fn has_code_tool(fields: &Map<String, Value>) -> bool {
    match fields.get("tools") {
        None | Some(Value::Null) => false,
        Some(Value::Array(tools)) => {
            tools.iter().any(|tool| tool.get("type").and_then(Value::as_str) == Some("code_interpreter"))
        }
        Some(_) => true,
    }
}
