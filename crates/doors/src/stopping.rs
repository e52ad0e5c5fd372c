//! The end of a server: new work is told to come back later, while what is under way goes on. The socket
//! stays open meanwhile, so that whoever spreads the load sees an answer instead of a refused connection.

use std::time::Duration;

use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::access::{HEALTH, METRICS};
use crate::openai::ApiError;

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
    pub(crate) fn admit(&self, path: &str) -> Result<TaskTrackerToken, Box<Response>> {
        // Taken before the look: a stop in between waits for it.
        let token = self.tasks.token();
        // How a server is that stops can still be asked.
        if !self.asked.is_cancelled() || path == METRICS {
            return Ok(token);
        }
        Err(Box::new(if path == HEALTH { ill() } else { refusal() }))
    }
}

/// `Retry-After` comes with the status.
pub(crate) fn refusal() -> Response {
    let message = "The server is stopping and takes no new requests. Try again in a moment.";
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
