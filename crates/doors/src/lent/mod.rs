//! What the doors share that lend sandboxes: E2B's and OpenSandbox's.

mod ascii;
pub(crate) mod carry;
mod content;
mod cut;
mod ended;
mod file;
pub(crate) mod home;
mod ids;
mod inner_tls;
mod kept;
mod keys;
mod leftover;
mod path;
mod reach;
mod running;
mod runs;
pub(crate) mod shared;
mod target;
mod tokens;
mod turns;

use std::time::Duration;

use sandgate_core::{BackendError, Limits, Principal, Rank};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

pub(crate) use ascii::add_line;
pub(crate) use content::{Broken, Content};
pub(crate) use cut::cut_when;
pub(crate) use ended::Ended;
pub(crate) use file::{NoSuchPart, send};
pub(crate) use ids::Ids;
pub(crate) use kept::{Kept, keep};
pub(crate) use keys::Maker;
pub(crate) use leftover::read_to_the_end;
pub(crate) use path::{uri_with_path, with_path};
pub(crate) use reach::read_target;
pub(crate) use running::{ABORTED, BROKEN, Said, stopped_by, stream};
pub(crate) use runs::Asked;
pub use runs::Runs;
pub(crate) use target::{Lent, Target};
pub(crate) use tokens::{Shown, new_token, same, shown};
pub(crate) use turns::Turns;

/// The lease's end decides, and nothing else.
pub(crate) const NEVER_IDLE: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// How long one execution may take in a sandbox that is lent for at most `longest`. Its end bounds what runs in it,
/// and its clients have their own time-outs; so the usual bound, which is for who waits for an answer, counts only
/// where the operator has set another.
pub(crate) fn wall(limits: &Limits, longest: Duration) -> Duration {
    if limits.wall == Limits::default().wall { longest } else { limits.wall }
}

/// The id of the key that somebody came with.
pub(crate) fn key_of(who: &Principal) -> Option<String> {
    match &who.rank {
        Rank::Key(id) => Some(id.clone()),
        Rank::Open | Rank::Nobody | Rank::Master => None,
    }
}

/// Milliseconds since 1970 as ISO 8601 writes them, in UTC.
pub(crate) fn iso(ms: u64) -> String {
    let nanos = i128::from(ms) * 1_000_000;
    let time = OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    time.format(&Rfc3339).unwrap_or_default()
}

/// The names and values behind a question mark, or of a form.
pub(crate) fn form(text: &str) -> Vec<(String, String)> {
    form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

/// Bytes of all variables of a sandbox, and of all its metadata: both are kept with it.
pub(crate) const LARGEST_TEXTS: usize = 64 << 10;

/// Whether these are more than a sandbox keeps.
pub(crate) fn are_too_large(texts: &std::collections::BTreeMap<String, String>) -> bool {
    texts.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > LARGEST_TEXTS
}

/// Work that goes on to its end even when the client hangs up; what it gives is dropped then.
pub(crate) async fn to_the_end<T, E>(
    tasks: &TaskTracker,
    work: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<BackendError> + Send + 'static,
{
    let (sender, receiver) = oneshot::channel();
    tasks.spawn(async move {
        let _ = sender.send(work.await);
    });
    let abandoned = |_| BackendError::Engine("the work of a request was abandoned".to_owned());
    receiver.await.map_err(abandoned)?
}
