//! Pages and drawings that code in a sandbox made, kept for a while so that a frame can show them from an address
//! of their own, where nothing in them runs.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
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
    thead th{background:#f0f2f4}img{max-width:100%}</style>";
/// Elements that a document of a sandbox has no use for.
const HINTS: [&str; 3] = ["link", "meta", "base"];
/// A run that shows without end takes the frames of nobody else.
const MOST_OF_A_RUN: usize = 50;
const GONE: &str = "<p>This is not kept any more. Run the code again to see it.</p>";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Html,
    Svg,
}

#[derive(Debug)]
struct Document {
    id: String,
    kind: Kind,
    content: Arc<str>,
    run: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Documents {
    all: Mutex<VecDeque<Document>>,
    runs: AtomicU64,
}

/// What one run shows.
#[derive(Debug)]
pub(crate) struct OfRun<'a> {
    documents: &'a Documents,
    run: u64,
    left: Cell<usize>,
}

impl OfRun<'_> {
    /// Where it can be seen; None if it is too large, or too many.
    pub(crate) fn keep(&self, kind: Kind, content: &str) -> Option<String> {
        self.left.set(self.left.get().checked_sub(1)?);
        self.documents.keep(kind, content, self.run)
    }
}

impl Documents {
    pub(crate) fn of_run(&self) -> OfRun<'_> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        OfRun { documents: self, run, left: Cell::new(MOST_OF_A_RUN) }
    }

    fn keep(&self, kind: Kind, content: &str, run: u64) -> Option<String> {
        if content.len() > MOST_BYTES {
            return None;
        }
        let id = random_hex(16);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back(Document { id: id.clone(), kind, content: content.into(), run });
        let mut bytes: usize = all.iter().map(|document| document.content.len()).sum();
        while all.len() > MOST || bytes > MOST_BYTES {
            let place = place_of_next(&all);
            bytes -= all.remove(place).map_or(0, |document| document.content.len());
        }
        Some(Fields::default().link(PATH, &[], &[("id", &id)]))
    }

    fn get(&self, id: &str) -> Option<(Kind, Arc<str>)> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|document| document.id == id).map(|found| (found.kind, Arc::clone(&found.content)))
    }
}

/// The oldest of the run that has most.
fn place_of_next(all: &VecDeque<Document>) -> usize {
    let mut bytes: HashMap<u64, usize> = HashMap::new();
    for document in all {
        *bytes.entry(document.run).or_default() += document.content.len().max(MOST_BYTES / MOST);
    }
    let most = bytes.values().copied().max().unwrap_or_default();
    all.iter().position(|document| bytes.get(&document.run) == Some(&most)).unwrap_or_default()
}

pub(crate) fn router() -> Router<Console> {
    Router::new().route(PATH, get(show))
}

async fn show(
    State(console): State<Console>,
    _visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Response, Problem> {
    // In a frame, where a page of ours would not be shown.
    let Some((kind, content)) = console.documents().get(asked.get("id").unwrap_or_default()) else {
        return Ok((StatusCode::NOT_FOUND, framed(Kind::Html, GONE)).into_response());
    };
    Ok(framed(kind, &content))
}

/// A document for a frame in which nothing runs.
pub(crate) fn framed(kind: Kind, content: &str) -> Response {
    let page = match kind {
        Kind::Html => format!("{LOOKS}{}", without_hints(content)),
        // As a picture it loads nothing, and its words are read as XML, where names can be built in too many ways
        // to be looked for.
        Kind::Svg => {
            let drawing = STANDARD.encode(content);
            format!(
                "{LOOKS}<img alt=\"A drawing that the code made\" src=\"data:image/svg+xml;base64,{drawing}\">"
            )
        }
    };
    // The kind says how its bytes are read: with another, other bytes would be the names of elements.
    let mut response = ([(CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response();
    response.extensions_mut().insert(Hostile);
    response
}

/// Without elements by which a page has the browser look up names and open connections, which no policy covers. An
/// element comes from its name right behind a `<` and from nothing else, so that is looked for wherever it stands,
/// and becomes the name of an element that does nothing.
fn without_hints(content: &str) -> String {
    let mut harmless = String::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at + 1);
        harmless.push_str(before);
        let is_hint = HINTS
            .iter()
            .any(|name| tag.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
        if is_hint {
            harmless.push_str("x-");
        }
        rest = tag;
    }
    harmless.push_str(rest);
    harmless
}

#[cfg(test)]
#[path = "documents_tests.rs"]
mod tests;
