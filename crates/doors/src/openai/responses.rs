//! `POST /v1/responses`: with a code tool, or anything else that is ours, through the gate; otherwise
//! straight on to the upstream.

use axum::extract::{Request, State};
use axum::response::Response;
use sandgate_core::Owner;
use sandgate_gate::{CreateRequest, is_reference, may_concern_us};
use serde_json::{Map, Value};

use super::body::{parse, whole_json};
use super::error::ApiResult;
use super::hosted_tools::refuse_hosted;
use super::through::{answered, caller};
use super::{Door, OpenAiDoor};
use crate::access::check_model;
use crate::owner::Who;

const PATH: &str = "/v1/responses";
/// What it is called in records.
const DOOR: &str = "responses";

pub(super) async fn create(State(door): State<Door>, Who(who): Who, request: Request) -> ApiResult<Response> {
    let (mut head, body) = whole_json(request).await?;
    check_model(&who.limits, &body)?;
    let passes = door.passes_body(PATH, &body);
    if passes && !may_concern_us(&body) {
        return door.pass_create(&who, head, body).await;
    }
    let fields = parse(&body)?;
    refuse_hosted(&fields)?;
    if let Some(kept_by) = door.check_previous(&who, &fields).await? {
        head.extensions.insert(kept_by);
    }
    if passes && !concerns_us(&door, &who.owner, &fields).await? {
        return door.pass_create(&who, head, body).await;
    }
    let answer = door.gate.create(caller(&who, &head, DOOR), CreateRequest::parse(fields)?).await?;
    Ok(answered(answer))
}

/// The words were there; whether they mean something of ours takes a closer look.
pub(super) async fn concerns_us(
    door: &OpenAiDoor,
    owner: &Owner,
    fields: &Map<String, Value>,
) -> ApiResult<bool> {
    let has_kind = |list: &str, kinds: &[&str]| {
        let items = fields.get(list).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(|item| item.get("type").and_then(Value::as_str)).any(|kind| kinds.contains(&kind))
    };
    let odd_tools = fields.get("tools").is_some_and(|tools| !tools.is_array() && !tools.is_null());
    if odd_tools
        || has_kind("tools", &["code_interpreter"])
        || has_kind("input", &["code_interpreter_call"])
        || fields.get("input").and_then(Value::as_array).into_iter().flatten().any(is_reference)
        || fields.get("conversation").is_some_and(|value| !value.is_null())
    {
        return Ok(true);
    }
    if let Some(previous) = fields.get("previous_response_id").and_then(Value::as_str)
        && door.gate.has_response(owner, previous).await?
    {
        return Ok(true);
    }
    Ok(door.gate.has_files_in(owner, fields).await?)
}
