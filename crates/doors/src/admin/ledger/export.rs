//! The ledger as lines of JSON, the oldest first. It may be long, so it is read and sent piece by piece.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::Response;
use futures_util::stream;
use sandgate_store::{LedgerFilter, LedgerPlace, Store, StoreError};

use super::ledger_object;

/// Records read at once.
const PIECE: usize = 500;

pub(super) fn answer(store: Store, filter: LedgerFilter) -> Response {
    let begin = Some((store, filter, LedgerPlace::default()));
    // An error breaks the transfer off, so that nobody takes half of the ledger for all of it.
    let pieces = stream::try_unfold(begin, async |state| {
        let Some((store, filter, place)) = state else { return Ok::<_, StoreError>(None) };
        let found = store.ledger_after(&filter, place, PIECE).await;
        let (records, next) = found.inspect_err(|error| tracing::error!(%error, "an export broke off"))?;
        let mut text = String::new();
        for record in &records {
            text.push_str(&ledger_object(record).to_string());
            text.push('\n');
        }
        let more = (next != place).then_some((store, filter, next));
        Ok(Some((text, more)))
    });
    let mut response = Response::new(Body::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"ledger.jsonl\""));
    response
}
