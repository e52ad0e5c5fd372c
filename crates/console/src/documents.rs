//! Pages and drawings that code in a sandbox made, kept for a while so that a frame can show them from an address
//! of their own, where nothing in them runs.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use sandgate_core::random_hex;

use crate::Console;
use crate::fields::{Asked, Fields};
use crate::headers::Hostile;
use crate::problem::Problem;
use crate::visitor::Visitor;

const PATH: &str = "/console/shown";
/// Past that, the oldest go.
const MOST: usize = 200;
const MOST_BYTES: usize = 32 << 20;
/// Before a page: code most often makes a bare table.
const LOOKS: &str = "<!doctype html><meta charset=utf-8><style>body{font:14px/1.5 system-ui,sans-serif;margin:.8rem}\
    table{border-collapse:collapse}th,td{border:1px solid #d8dde2;padding:.2rem .6rem;text-align:right}\
    thead th{background:#f0f2f4}</style>";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Html,
    Svg,
}

#[derive(Debug)]
struct Document {
    id: String,
    kind: Kind,
    content: Bytes,
}

#[derive(Debug, Default)]
pub(crate) struct Documents(Mutex<VecDeque<Document>>);

impl Documents {
    /// Where it can be seen; None if it is too large.
    pub(crate) fn keep(&self, kind: Kind, content: &str) -> Option<String> {
        if content.len() > MOST_BYTES {
            return None;
        }
        let id = random_hex(16);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back(Document { id: id.clone(), kind, content: Bytes::copy_from_slice(content.as_bytes()) });
        let mut bytes: usize = all.iter().map(|document| document.content.len()).sum();
        while all.len() > MOST || bytes > MOST_BYTES {
            bytes -= all.pop_front().map_or(0, |document| document.content.len());
        }
        Some(Fields::default().link(PATH, &[], &[("id", &id)]))
    }

    fn get(&self, id: &str) -> Option<(Kind, Bytes)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|document| document.id == id).map(|found| (found.kind, found.content.clone()))
    }
}

pub(crate) fn router() -> Router<Console> {
    Router::new().route(PATH, get(show))
}

async fn show(
    State(console): State<Console>,
    _visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Response, Problem> {
    let (kind, content) =
        console.documents().get(asked.get("id").unwrap_or_default()).ok_or(Problem::NotFound)?;
    Ok(framed(kind, &content))
}

/// A document for a frame in which nothing runs.
pub(crate) fn framed(kind: Kind, content: &[u8]) -> Response {
    let mut response = match kind {
        Kind::Html => {
            let page = [LOOKS.as_bytes(), content].concat();
            ([(CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
        }
        Kind::Svg => ([(CONTENT_TYPE, "image/svg+xml")], content.to_vec()).into_response(),
    };
    response.extensions_mut().insert(Hostile);
    response
}

#[cfg(test)]
#[path = "documents_tests.rs"]
mod tests;
