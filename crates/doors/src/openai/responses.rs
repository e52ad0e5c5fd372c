//! `POST /v1/responses`: with a code tool, or anything else that is ours, through the gate; otherwise
//! straight on to the upstream.

use std::sync::Arc;

use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Json, Response};
use bytes::Bytes;
use sandgate_gate::upstream::Credentials;
use sandgate_gate::{Answer, Caller as GateCaller, CreateRequest, may_concern_us};
use serde_json::{Map, Value};

use super::body::{is_kind, not_declared, parse, unreadable};
use super::error::ApiResult;
use super::request_id::RequestId;
use super::{Door, OpenAiDoor, sse};
use crate::access::check_model;
use crate::owner::Who;

const PATH: &str = "/v1/responses";

pub(super) async fn create(State(door): State<Door>, Who(who): Who, request: Request) -> ApiResult<Response> {
    if !is_kind(request.headers(), "application/json") {
        return Err(not_declared("application/json"));
    }
    let (head, body) = request.into_parts();
    let copy = head.clone();
    let body = Bytes::from_request(Request::from_parts(head, body), &()).await.map_err(unreadable)?;
    check_model(&who.limits, &body)?;
    let passes = door.passes_body(PATH, &body);
    if passes && !may_concern_us(&body) {
        return door.pass_create(&who, copy, body).await;
    }
    let fields = parse(&body)?;
    door.check_previous(&who, &fields).await?;
    let caller = GateCaller {
        owner: who.owner.clone(),
        limits: Arc::clone(&who.limits),
        credentials: Credentials::from_headers(&copy.headers),
        request_id: copy.extensions.get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default(),
    };
    if passes && !concerns_us(&door, &caller, &fields).await? {
        return door.pass_create(&who, copy, body).await;
    }
    let request = CreateRequest::parse(fields)?;
    Ok(match door.gate.create(caller, request).await? {
        Answer::Whole { response, headers } => {
            let mut answer = Json(response).into_response();
            answer.headers_mut().extend(headers);
            answer
        }
        Answer::Stream { events, headers } => sse::answer(events, headers),
    })
}

/// The words were there; whether they mean something of ours takes a closer look.
async fn concerns_us(door: &OpenAiDoor, caller: &GateCaller, fields: &Map<String, Value>) -> ApiResult<bool> {
    let has_kind = |list: &str, kinds: &[&str]| {
        let items = fields.get(list).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(|item| item.get("type").and_then(Value::as_str)).any(|kind| kinds.contains(&kind))
    };
    let odd_tools = fields.get("tools").is_some_and(|tools| !tools.is_array() && !tools.is_null());
    if odd_tools
        || has_kind("tools", &["code_interpreter"])
        || has_kind("input", &["code_interpreter_call", "item_reference"])
        || fields.get("conversation").is_some_and(|value| !value.is_null())
    {
        return Ok(true);
    }
    if let Some(previous) = fields.get("previous_response_id").and_then(Value::as_str)
        && door.gate.has_response(&caller.owner, previous).await?
    {
        return Ok(true);
    }
    Ok(door.gate.has_files_in(&caller.owner, fields).await?)
}
