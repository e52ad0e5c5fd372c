//! Runs code and answers with what it says while it says it. Closing the connection drops the execution, which
//! interrupts the code.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use super::super::Door;
use super::super::route::Target;
use super::Refusal;
use super::items::Items;
use super::request::{ExecuteBody, read};
use crate::lent::stream;

/// After so long a silence the client hears that it goes on; and the server, whether the client is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

pub(super) async fn execute(
    State(door): State<Door>,
    target: Target,
    request: Request,
) -> Result<Response, Refusal> {
    let request = read::<ExecuteBody>(&door, request).await?.into_request()?;
    let running = target.run(request).await.map_err(Refusal::of(&target.lease.id))?;
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson"),
        (CACHE_CONTROL, "no-store"),
        // nginx would hold the lines back otherwise.
        (axum::http::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, stream(running, Items::default(), KEEP_ALIVE)).into_response())
}
