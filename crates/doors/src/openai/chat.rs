//! `POST /v1/chat/completions`: with a code tool through the gate; otherwise straight on to the upstream.

use axum::extract::{Request, State};
use axum::response::Response;
use sandgate_gate::upstream::model_in;
use sandgate_gate::{ChatRequest, chat_may_concern_us, forget_code};
use serde_json::{Map, Value};

use super::Door;
use super::body::{parse, whole_json};
use super::error::ApiResult;
use super::through::{answered, caller};
use crate::access::check_model;
use crate::owner::Who;

const PATH: &str = "/v1/chat/completions";
/// What it is called in records.
const DOOR: &str = "chat";

pub(super) async fn create(State(door): State<Door>, Who(who): Who, request: Request) -> ApiResult<Response> {
    let (head, body) = whole_json(request).await?;
    check_model(&who.limits, &body)?;
    let passes = door.gate.upstream().forwards_for(PATH, model_in(&body).as_deref());
    if passes && !chat_may_concern_us(&body) {
        return door.pass(head, body).await;
    }
    let mut fields = parse(&body)?;
    if passes && !has_code_tool(&fields) {
        // What earlier answers told of code, and files that were uploaded here, are nothing the upstream knows.
        let is_changed = forget_code(&mut fields) | door.gate.put_files_into(&who.owner, &mut fields).await?;
        let body = if is_changed { Value::Object(fields).to_string().into() } else { body };
        return door.pass(head, body).await;
    }
    let answer = door.gate.chat(caller(&who, &head, DOOR), ChatRequest::parse(fields)?).await?;
    Ok(answered(answer))
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
