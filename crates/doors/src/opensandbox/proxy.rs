//! The ways into a sandbox: `/sandboxes/ID/proxy/PORT/…`. The port says who answers, and what must be shown.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::{Lease, LeaseState, Rank, now_ms};
use serde_json::json;
use tower_service::Service;

use super::details::Details;
use super::error::{Answered, Refusal};
use super::lifecycle::{API_KEY, refused};
use super::target::Target;
use super::{DOOR, Door, EGRESS_PORT, EXECD_PORT, OpenSandboxDoor, egress, execd};
use crate::access::Access;
use crate::lent::carry::{NotCarried, Way, carry};
use crate::lent::{Asked, Maker, Shown, cut_when, shown, with_path};
use crate::local::foreign_host;
use crate::patience::patient_body;

pub(super) const EXECD_HEADER: &str = "X-EXECD-ACCESS-TOKEN";
pub(super) const EGRESS_HEADER: &str = "OPENSANDBOX-EGRESS-AUTH";
pub(super) const PORT_HEADER: &str = "OpenSandbox-Secure-Access";
const RENEW_HEADER: &str = "opensandbox-access-renew";
/// What does not travel into a sandbox: the original drops these too.
const STAYS: [&str; 8] = [
    EXECD_HEADER,
    EGRESS_HEADER,
    PORT_HEADER,
    API_KEY,
    RENEW_HEADER,
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
];
/// An end that is put off by less than this is not written down.
const WORTH_RENEWING_MS: u64 = 10_000;

/// Those who answer inside.
#[derive(Clone, Debug)]
pub(super) struct Proxy {
    door: Door,
    access: Access,
    execd: Router,
    egress: Router,
}

impl Proxy {
    pub(super) fn new(door: Door, access: Access) -> Self {
        let execd = execd::router().with_state(Arc::clone(&door));
        let egress = egress::router().with_state(Arc::clone(&door));
        Self { door, access, execd, egress }
    }

    pub(super) async fn answer(&self, request: Request) -> Response {
        match self.pass(request).await {
            Ok(response) => response,
            Err(refusal) => refusal.into_response(),
        }
    }

    async fn pass(&self, request: Request) -> Answered<Response> {
        let (id, port, path) = wanted(request.uri().path())?;
        let lease = self.door.leases.find(DOOR, &id).map_err(|_| Refusal::no_such_sandbox(&id))?;
        let details = Details::of(&lease);
        if let Some(response) = self.refusal(&lease, &details, port, request.headers()).await? {
            return Ok(response);
        }
        if lease.state == LeaseState::Paused {
            return Err(Refusal::not_running());
        }
        self.door.renew(&lease, &details, request.headers());
        let container = self.door.leases.container(&lease)?;
        container.keep_alive();
        let gone = self.door.leases.gone(&lease.id);
        let maker =
            Maker::of(&self.door.store, &*details).await.map_err(|error| Refusal::internal(&error))?;
        let limits = maker.limits(&*details);
        let (asked, runs) = (Asked::by(&request), self.door.runs.clone());
        let target = Target { lease, details, container, limits, asked, runs };
        let request = with_path(request, &path);
        let mut request =
            request.ok_or_else(|| Refusal::invalid("the path of the request cannot be read"))?;
        let mut inside = match port {
            EXECD_PORT => self.execd.clone(),
            EGRESS_PORT => self.egress.clone(),
            _ => return to_port(&self.door, &target, port, request).await,
        };
        // Whoever asks whether it is ready looks for the code interpreter next.
        if port == EXECD_PORT && path == "/ping" {
            target.interpreter_listens().await;
        }
        request.extensions_mut().insert(target);
        let request = request.map(|body| patient_body(body, self.door.state.patience));
        let Ok(response) = inside.call(request).await;
        Ok(match gone {
            Some(gone) => response.map(|body| cut_when(gone, body)),
            None => response,
        })
    }

    /// None: whoever asks may come in, by the token of this way in, or by the key of the sandbox's owner.
    async fn refusal(
        &self,
        lease: &Lease,
        details: &Details,
        port: u16,
        headers: &HeaderMap,
    ) -> Answered<Option<Response>> {
        let (name, token) = token(details, port);
        match shown(headers, name, token) {
            Shown::Right => return Ok(None),
            Shown::Wrong => return Ok(Some(no_token(name))),
            Shown::Nothing => {}
        }
        let key = headers.get(API_KEY).and_then(|key| key.to_str().ok()).filter(|key| !key.is_empty());
        let Some(key) = key else { return Ok(Some(no_token(name))) };
        let principal = self.access.principal(Some(key.to_owned())).await.map_err(refused)?;
        // Without keys, what protects the server is that only this machine reaches it.
        if principal.rank == Rank::Open
            && let Some(refusal) = foreign_host(headers)
        {
            let status = StatusCode::MISDIRECTED_REQUEST;
            return Err(Refusal::new(status, "FOREIGN_HOST", refusal.to_string()));
        }
        // Another's sandbox is as good as none.
        if principal.owner == lease.owner { Ok(None) } else { Err(Refusal::no_such_sandbox(&lease.id)) }
    }
}

/// The header and the token that a port asks for.
pub(super) fn token(details: &Details, port: u16) -> (&'static str, &str) {
    match port {
        EXECD_PORT => (EXECD_HEADER, &details.execd_token),
        EGRESS_PORT => (EGRESS_HEADER, &details.egress_token),
        _ => (PORT_HEADER, &details.port_token),
    }
}

/// In the words of execd, and in those of the rest.
fn no_token(name: &str) -> Response {
    let message = format!("Unauthorized: invalid or missing header {name}");
    let body = json!({"code": "UNAUTHORIZED", "message": message, "error": message});
    (StatusCode::UNAUTHORIZED, Json(body)).into_response()
}

/// The sandbox, the port, and the path as it is inside.
fn wanted(path: &str) -> Answered<(String, u16, String)> {
    // Front of it: nothing, `sandboxes`, the id, `proxy`.
    let mut parts = path.splitn(6, '/').skip(2);
    let id = parts.next().unwrap_or_default().to_owned();
    let port = parts.nth(1).unwrap_or_default();
    let rest = parts.next().unwrap_or_default();
    Ok((id, port_number(port)?, format!("/{rest}")))
}

pub(super) fn port_number(text: &str) -> Answered<u16> {
    let digits = text.chars().all(|c| c.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0).ok_or_else(|| {
        let message = format!("'{text}' is no port; a number between 1 and 65535 is wanted");
        Refusal::new(StatusCode::BAD_REQUEST, "DOCKER::INVALID_PORT", message)
    })
}

/// To whatever listens on a port inside. `request`: with its path as it is inside.
pub(super) async fn to_port(
    door: &OpenSandboxDoor,
    target: &Target,
    port: u16,
    mut request: Request,
) -> Answered<Response> {
    let headers = request.headers_mut();
    for name in STAYS {
        headers.remove(name);
    }
    headers.remove(AUTHORIZATION);
    headers.remove(COOKIE);
    let sandbox = target.sandbox().await?;
    let way = Way {
        leases: &door.leases,
        id: &target.lease.id,
        owner: &target.lease.owner,
        sandbox: &sandbox,
        port,
        tunnels: &door.state.tunnels,
        is_by_path: true,
        is_over_tls: false,
    };
    carry(&way, request).await.map_err(|error| match error {
        NotCarried::Closed => Refusal::new(
            StatusCode::BAD_GATEWAY,
            "BACKEND_CONNECTION_FAILED",
            format!("nothing listens on port {port} of the sandbox"),
        ),
        NotCarried::NoAnswer | NotCarried::NoTls | NotCarried::Unasked => {
            Refusal::new(StatusCode::BAD_GATEWAY, "BACKEND_RESPONSE_FAILED", error.to_string())
        }
        NotCarried::TooManyTunnels => {
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "SANDBOX::TOO_MANY_TUNNELS", error.to_string())
                .retry_after(5)
        }
        NotCarried::BadPath => Refusal::invalid(error.to_string()),
        NotCarried::Backend(error) => error.into(),
    })
}

impl OpenSandboxDoor {
    /// Puts off the end of a sandbox whose maker asked for that, unless the request says not to.
    fn renew(&self, lease: &Lease, details: &Details, headers: &HeaderMap) {
        let skip =
            headers.get(RENEW_HEADER).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"skip"));
        let (Some(seconds), Some(ends), false) = (details.renews, lease.ends_ms, skip) else { return };
        let until = now_ms().saturating_add(seconds.saturating_mul(1000));
        if until <= ends.saturating_add(WORTH_RENEWING_MS) {
            return;
        }
        let (leases, id) = (Arc::clone(&self.leases), lease.id.clone());
        self.tasks.spawn(async move {
            if let Err(error) = leases.extend_to(&id, until).await {
                tracing::debug!(lease = id, %error, "the end of a sandbox in use could not be put off");
            }
        });
    }
}

#[cfg(test)]
#[path = "proxy_tests.rs"]
mod tests;
