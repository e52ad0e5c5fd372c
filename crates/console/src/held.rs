//! Code of a page that waits for a person: the page is told, so that nobody wonders why nothing happens.

use std::pin::pin;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Console;
use crate::pages::approvals;

/// Between two looks at the list, should no change of it be told.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// What a script is told, with where it can be decided.
pub(crate) fn event() -> Value {
    json!({"type": "held", "where": approvals::PATH})
}

/// Does `work`, and tells once if something of this request is held meanwhile.
pub(crate) async fn while_telling<T>(
    console: &Console,
    request: &str,
    work: impl Future<Output = T>,
    tell: impl AsyncFnOnce(Value),
) -> T {
    let mut work = pin!(work);
    tokio::select! {
        done = &mut work => return done,
        () = until(console, request) => {}
    }
    let (done, ()) = tokio::join!(work, tell(event()));
    done
}

/// Ends when something of this request waits for a person.
pub(crate) async fn until(console: &Console, request: &str) {
    let approvals = &console.parts().approvals;
    let (mut held, mut version) = approvals.held();
    while !held.iter().any(|held| held.facts().request_id == request) {
        (held, version) = approvals.held_after(Some(version), LOOK_EVERY).await;
    }
}
