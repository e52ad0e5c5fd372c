//! The way of a request into a sandbox: which one it means, whether it may go there, and who answers it.

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use sandgate_core::{KeyLimits, Lease, LeaseError, LeaseState, now_ms};
use serde_json::json;
use tower_service::Service;

use super::details::Details;
use super::error::{E2bError, E2bResult};
use super::host::{port_number, sandbox_id};
use super::tokens::{ENVD_HEADER, Signature, Signed, opens_port};
use super::{CODE_PORT, DOOR, Door, E2bDoor, ENVD_PORT, code, envd, ports};
use crate::lent::{Asked, Maker, Shown, cut_when, form, read_to_the_end, shown};
use crate::patience::{BodyPatience, patient_body};

pub(super) const ID_HEADER: &str = "e2b-sandbox-id";
pub(super) const PORT_HEADER: &str = "e2b-sandbox-port";
/// What a sandbox that traffic has woken lasts at least, in seconds.
const LEAST_AFTER_WAKING: u64 = 300;
const STREAM_INPUT: &str = "/process.Process/StreamInput";
const NO_ENVD_TOKEN: &str =
    "unauthorized access, please provide a valid access token or method signing if supported";

/// The sandbox that a request of the data plane is for.
pub(super) type Target = crate::lent::Target<Details>;

impl<S: Sync> FromRequestParts<S> for Target {
    type Rejection = E2bError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> E2bResult<Self> {
        let found = parts.extensions.get::<Self>().cloned();
        found.ok_or_else(|| E2bError::internal(&"a handler of the data plane was asked without a sandbox"))
    }
}

/// What a request says about where it wants to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Sandbox {
        id: String,
        port: u16,
    },
    /// A file, by nothing but a signature.
    SignedFile,
}

impl Wanted {
    /// None: the headers name no sandbox.
    pub(super) fn by_headers(headers: &HeaderMap) -> Option<E2bResult<Self>> {
        let id = headers.get(ID_HEADER)?;
        let port = headers.get(PORT_HEADER);
        let text = |value: &axum::http::HeaderValue| value.to_str().ok().map(str::to_owned);
        let id = text(id).and_then(|id| sandbox_id(&id).map(str::to_owned));
        let port = port.and_then(text).and_then(|port| port_number(&port));
        Some(match (id, port) {
            (Some(id), Some(port)) => Ok(Self::Sandbox { id, port }),
            (None, _) => Err(E2bError::bad_request(format!("the header {ID_HEADER} is no id of a sandbox"))),
            (_, None) => {
                Err(E2bError::bad_request(format!("the header {PORT_HEADER} is missing or no port")))
            }
        })
    }
}

/// Those who answer inside.
#[derive(Clone, Debug)]
pub(super) struct DataPlane {
    door: Door,
    envd: Router,
    code: Router,
}

impl DataPlane {
    pub(super) fn new(door: Door) -> Self {
        let envd = envd::router().with_state(Arc::clone(&door));
        let code = code::router().with_state(Arc::clone(&door));
        Self { door, envd, code }
    }

    /// `request`: with its path as it is inside the sandbox.
    pub(super) async fn answer(&self, wanted: Wanted, request: Request) -> Response {
        let request = request.map(read_to_the_end);
        match self.pass(wanted, request).await {
            Ok(response) => response,
            Err(error) => error.into_response(),
        }
    }

    async fn pass(&self, wanted: Wanted, mut request: Request) -> E2bResult<Response> {
        let (lease, port) = match wanted {
            Wanted::Sandbox { id, port } => {
                let found = self.door.leases.find(DOOR, &id);
                (found.map_err(|_| E2bError::sandbox_gone(&id))?, port)
            }
            Wanted::SignedFile => (self.door.signer(&request)?, ENVD_PORT),
        };
        let details = Details::of(&lease);
        if port == ENVD_PORT {
            if let Err(error) = check_envd(&details, &request) {
                return Ok(envd_refusal(error, request.uri().path()));
            }
        } else {
            let request = &mut request;
            match ports::entry(&self.door, &lease, &details, port, request) {
                ports::Entry::Open => {}
                ports::Entry::Answered(response) => return Ok(*response),
            }
        }
        let wakes = port != ENVD_PORT || !is_health(&request);
        let maker =
            Maker::of(&self.door.store, &*details).await.map_err(|error| E2bError::internal(&error))?;
        let is_good = maker.is_good();
        let limits = maker.limits(&*details);
        let lease = self.door.awake(lease, &details, wakes && is_good, &limits).await?;
        let gone = self.door.leases.gone(&lease.id);
        let container = self.door.leases.container(&lease).map_err(|_| E2bError::sandbox_gone(&lease.id))?;
        container.keep_alive();
        let (asked, runs) = (Asked::by(&request), self.door.runs.clone());
        let target = Target { lease, details, container, limits, asked, runs };
        request.extensions_mut().insert(target.clone());
        let mut inside = match port {
            ENVD_PORT => self.envd.clone(),
            CODE_PORT => self.code.clone(),
            _ => return ports::pass(&self.door, target, port, request).await,
        };
        // What is typed into a program comes as it is typed.
        if request.uri().path() != STREAM_INPUT {
            request = request.map(|body| patient_body(body, BodyPatience::USUAL));
        }
        let Ok(response) = inside.call(request).await;
        Ok(match gone {
            Some(gone) => response.map(|body| cut_when(gone, body)),
            None => response,
        })
    }
}

fn is_health(request: &Request) -> bool {
    request.method() == Method::GET && request.uri().path() == "/health"
}

/// Everything of envd takes its token, files also a signature, and its health nothing.
fn check_envd(details: &Details, request: &Request) -> E2bResult<()> {
    let refused = || E2bError::unauthorized(NO_ENVD_TOKEN);
    if is_health(request) {
        return Ok(());
    }
    match shown(request.headers(), ENVD_HEADER, &details.envd_token) {
        Shown::Right => return Ok(()),
        Shown::Wrong => return Err(refused()),
        Shown::Nothing => {}
    }
    let signed = Signed::of(request.method(), request.uri().path(), request.uri()).ok_or_else(refused)?;
    match signed.check(&details.envd_token) {
        Signature::Good => Ok(()),
        Signature::Wrong => Err(E2bError::unauthorized("invalid signature")),
        Signature::Expired => Err(E2bError::unauthorized("signature is already expired")),
    }
}

/// Procedures have names for their codes.
fn envd_refusal(error: E2bError, path: &str) -> Response {
    let is_procedure = path.split('/').nth(1).is_some_and(|service| service.contains('.'));
    if is_procedure && error.status() == StatusCode::UNAUTHORIZED {
        let body = json!({"code": "unauthenticated", "message": NO_ENVD_TOKEN});
        return (StatusCode::UNAUTHORIZED, axum::Json(body)).into_response();
    }
    error.into_response()
}

impl E2bDoor {
    /// Whose token a URL to a file was signed with. Every token is tried, so that the time says nothing.
    fn signer(&self, request: &Request) -> E2bResult<Arc<Lease>> {
        let refused = || E2bError::unauthorized("invalid signature");
        let signed = Signed::of(request.method(), request.uri().path(), request.uri()).ok_or_else(refused)?;
        let mut found = None;
        for lease in self.leases.all(DOOR) {
            if signed.check(&Details::of(&lease).envd_token) != Signature::Wrong {
                found = Some(lease);
            }
        }
        found.ok_or_else(refused)
    }

    /// The lease of a sandbox that runs; one that is paused is woken where its maker asked for that and `wakes`.
    async fn awake(
        &self,
        lease: Arc<Lease>,
        details: &Details,
        wakes: bool,
        limits: &KeyLimits,
    ) -> E2bResult<Arc<Lease>> {
        if lease.state == LeaseState::Running && !lease.is_over(now_ms()) {
            return Ok(lease);
        }
        if !lease.wakes || lease.files_only || !wakes {
            return Err(E2bError::sandbox_gone(&lease.id));
        }
        let lasts = details.timeout.max(LEAST_AFTER_WAKING).min(self.settings.max_timeout.as_secs());
        let ends = now_ms().saturating_add(lasts.saturating_mul(1000));
        match self.leases.resume(&lease.id, Some(ends), limits).await {
            Ok(lease) => Ok(lease),
            // Somebody else's request woke it, or its end is about to pause it and it runs on.
            Err(LeaseError::Running) => Ok(self.leases.extend_to(&lease.id, ends).await?),
            Err(LeaseError::NotFound) => Err(E2bError::sandbox_gone(&lease.id)),
            Err(error) => Err(E2bError::from(error).of(&lease.id)),
        }
    }

    /// Whether a request shows what a port other than envd's asks for.
    pub(super) fn may_enter(&self, details: &Details, port: u16, headers: &HeaderMap) -> bool {
        opens_port(details, headers, port == CODE_PORT, self.settings.open_ports)
    }
}

/// The names and values behind the question mark, decoded.
pub(super) fn query(uri: &Uri) -> Vec<(String, String)> {
    form(uri.query().unwrap_or_default())
}

#[cfg(test)]
#[path = "route_tests.rs"]
mod tests;
