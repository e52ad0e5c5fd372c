//! Requests that are none of our business: passed on to the upstream, byte for byte, and its answer back.

use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Request};
use axum::response::{Json, Response};
use bytes::Bytes;
use sandgate_gate::upstream::{Credentials, body_of, model_in};
use sandgate_gate::{Call, Place, Watch, may_concern_us};
use serde_json::Value;

use super::body::{parse, whole};
use super::error::{ApiError, ApiResult};
use super::hosted_tools::refuse_hosted;
use super::responses::concerns_us;
use super::{Door, OpenAiDoor};
use crate::access::check_model;
use crate::front::Passed;
use crate::owner::Who;
use crate::request_id::{REQUEST_ID, RequestId};

impl OpenAiDoor {
    /// Whether some upstream has this path.
    pub(super) fn passes(&self, path: &str) -> bool {
        self.gate.upstream().forwards(path)
    }

    /// Whether the upstream of the model that this body names has this path.
    pub(super) fn passes_body(&self, path: &str, body: &[u8]) -> bool {
        self.gate.upstream().forwards_body(path, body)
    }

    pub(super) async fn pass(&self, mut head: Parts, body: Bytes) -> ApiResult<Response> {
        let watch = head.extensions.get::<Watch>().cloned().unwrap_or_default();
        let call = head.extensions.get::<Call>().cloned().unwrap_or_default();
        call.passes(body.len());
        // The upstream's log and our records can be laid side by side.
        if let Ok(id) = HeaderValue::try_from(RequestId::of(&head.extensions)) {
            head.headers.insert(REQUEST_ID, id);
        }
        head.headers.extend(watch.trace_headers());
        let waits = watch.outside(Place::Model);
        let forward = self.gate.upstream().forward(Request::from_parts(head, body_of(body.clone())));
        // Only records and figures need it, so it is read once the request is on its way.
        let look = async {
            tokio::task::yield_now().await;
            model_in(&body)
        };
        let (answer, model) = tokio::join!(forward, look);
        drop(waits);
        if let Some(model) = model {
            watch.asks_for(&model);
            call.asks_for(Some(&model));
        }
        let answer = answer?;
        let (head, body) = answer.into_parts();
        let mut answer = Response::from_parts(head, Body::new(body));
        answer.extensions_mut().insert(Passed);
        Ok(answer)
    }
}

/// `/v1/responses/input_tokens` and `/compact`, which only the upstream can answer. What is kept here is put into
/// the request for it.
pub(super) async fn count_or_compact(
    State(door): State<Door>,
    Who(who): Who,
    request: Request<Body>,
) -> ApiResult<Response> {
    let path = request.uri().path().to_owned();
    let (mut head, body) = whole(request).await?;
    if !door.passes_body(&path, &body) {
        return Err(ApiError::unknown_url(&head.method, &path));
    }
    check_model(&who.limits, &body)?;
    if !may_concern_us(&body) {
        return door.pass(head, body).await;
    }
    let fields = parse(&body)?;
    refuse_hosted(&fields)?;
    if let Some(kept_by) = door.check_previous(&who, &fields).await? {
        head.extensions.insert(kept_by);
    }
    if !concerns_us(&door, &who.owner, &fields).await? {
        return door.pass(head, body).await;
    }
    let fields = door.gate.spelled_out(&who.owner, fields).await?;
    door.pass(head, Value::Object(fields).to_string().into()).await
}

/// Those that the key may use.
pub(super) async fn models(
    State(door): State<Door>,
    Who(who): Who,
    headers: HeaderMap,
) -> ApiResult<Json<Value>> {
    let mut list = door.gate.upstream().models(&Credentials::from_headers(&headers)).await?;
    if let Some(models) = list.get_mut("data").and_then(Value::as_array_mut) {
        models.retain(|model| who.limits.allows_model(model["id"].as_str().unwrap_or_default()));
    }
    Ok(Json(list))
}
