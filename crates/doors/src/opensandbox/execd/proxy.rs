//! `/proxy/PORT/…`: to whatever listens on a port of the sandbox, by way of its agent.

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};

use super::super::proxy::{port_number, to_port};
use super::super::{Door, EXECD_PORT};
use super::guest::Guest;
use super::refusal::Refusal;
use crate::lent::with_path;

pub(super) async fn pass(
    State(door): State<Door>,
    guest: Guest,
    request: Request,
) -> Result<Response, Refusal> {
    let mut parts = request.uri().path().splitn(4, '/').skip(2);
    let port = match port_number(parts.next().unwrap_or_default()) {
        Ok(port) => port,
        Err(refusal) => return Ok(refusal.into_response()),
    };
    let path = format!("/{}", parts.next().unwrap_or_default());
    if port == EXECD_PORT {
        return Err(Refusal::invalid("this is where one is already; leave '/proxy' and the port away"));
    }
    let request = with_path(request, &path)
        .ok_or_else(|| Refusal::invalid("the path of the request cannot be read"))?;
    Ok(to_port(&door, &guest.target, port, request).await.unwrap_or_else(IntoResponse::into_response))
}
