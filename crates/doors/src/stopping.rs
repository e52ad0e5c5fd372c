//! The end of a server: new work is told to come back later, while what is under way goes on. The socket
//! stays open meanwhile, so that whoever spreads the load sees an answer instead of a refused connection.

use std::time::Duration;

use axum::Extension;
use axum::http::header::{CONNECTION, RETRY_AFTER};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::access::{HEALTH, METRICS};
use crate::openai::ApiError;

/// Words for doors that say no in a form of their own.
pub(crate) const E2B: &str = "e2b";
pub(crate) const OPENSANDBOX: &str = "opensandbox";

/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Stopping {
    asked: CancellationToken,
    /// Requests under way, and what goes on behind them.
    tasks: TaskTracker,
    /// The server waits no longer: what is under way ends, and says so where it can.
    cut: CancellationToken,
}

/// What has not ended by itself so long after the cut is ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Stopping {
    #[must_use]
    pub fn new(tasks: TaskTracker, cut: CancellationToken) -> Self {
        Self { asked: CancellationToken::new(), tasks, cut }
    }

    pub(crate) fn told(&self) -> Stops {
        Stops(self.asked.clone())
    }

    /// From now on new work is refused.
    pub fn begin(&self) {
        self.asked.cancel();
        self.tasks.close();
    }

    /// Ends what is under way.
    pub fn cut(&self) {
        self.begin();
        self.cut.cancel();
    }

    /// Ends when whoever did not end by the cut itself is to be ended.
    pub(crate) async fn past_cut(self) {
        self.cut.cancelled().await;
        tokio::time::sleep(LAST_WORDS).await;
    }

    /// Stopping has begun, and nothing is under way any more.
    pub async fn quiet(&self) {
        self.asked.cancelled().await;
        self.tasks.wait().await;
    }

    /// Something is under way for as long as the token is held. The answer, where it is too late.
    /// `api`: the word for the door that is asked.
    pub(crate) fn admit(
        &self,
        method: &Method,
        path: &str,
        api: &str,
    ) -> Result<TaskTrackerToken, Box<Response>> {
        // Taken before the look: a stop in between waits for it.
        let token = self.tasks.token();
        // How a server is that stops can still be asked.
        // A path means something else inside a sandbox.
        let is_own = api != E2B;
        if !self.asked.is_cancelled() || (is_own && is_about_what_is_under_way(method, path)) {
            return Ok(token);
        }
        Err(Box::new(if is_own && path == HEALTH { ill() } else { refusal(api) }))
    }
}

/// In a request's extensions: tells when the server begins to stop.
#[derive(Clone, Debug)]
pub(crate) struct Stops(CancellationToken);

impl Stops {
    /// Never, where a door stands alone.
    pub(crate) async fn begun(stops: Option<Extension<Self>>) {
        match stops {
            Some(Extension(Self(asked))) => asked.cancelled().await,
            None => std::future::pending().await,
        }
    }
}

/// Without these what is under way could not come to its end, or nobody would hear of it.
fn is_about_what_is_under_way(method: &Method, path: &str) -> bool {
    // By whichever door a person decides.
    const APPROVALS: [&str; 3] = ["/v1/admin/approvals", "/console/approvals", "/console/assets"];
    let is_below =
        |place: &&str| path.strip_prefix(*place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if path == METRICS || APPROVALS.iter().any(is_below) {
        return true;
    }
    path.strip_prefix("/v1/responses/")
        .is_some_and(|rest| method == Method::GET || (method == Method::POST && rest.ends_with("/cancel")))
}

/// As the door says it that was asked. `Retry-After` comes with the status.
pub(crate) fn refusal(api: &str) -> Response {
    let message = "The server is stopping and takes no new requests. Try again in a moment.";
    let status = StatusCode::SERVICE_UNAVAILABLE;
    let retry = [(RETRY_AFTER, HeaderValue::from_static("1"))];
    if api == E2B {
        return closing((status, retry, Json(json!({"code": status.as_u16(), "message": message}))));
    }
    if api == OPENSANDBOX {
        return closing((status, retry, Json(json!({"code": "SERVER_STOPPING", "message": message}))));
    }
    closing(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message).coded("shutting_down"))
}

fn ill() -> Response {
    let body = json!({"status": "stopping", "version": env!("CARGO_PKG_VERSION")});
    closing((StatusCode::SERVICE_UNAVAILABLE, Json(body)))
}

/// The next request should go elsewhere.
fn closing(answer: impl IntoResponse) -> Response {
    let mut response = answer.into_response();
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

#[cfg(test)]
#[path = "stopping_tests.rs"]
mod tests;
