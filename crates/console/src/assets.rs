//! Styles, scripts and pictures of the console, part of the program. They are at an address that changes when
//! they do, so a browser asks for each of them once.

use std::io::Write;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use crate::problem::Problem;

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Name, kind and content of each.
const ALL: [(&str, &str, &str); 14] = [
    ("console.css", "text/css; charset=utf-8", include_str!("assets/console.css")),
    ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
    ("console.js", SCRIPT, include_str!("assets/console.js")),
    ("live.js", SCRIPT, include_str!("assets/live.js")),
    ("keyboard.js", SCRIPT, include_str!("assets/keyboard.js")),
    ("workbench.css", "text/css; charset=utf-8", include_str!("assets/workbench.css")),
    ("events.js", SCRIPT, include_str!("assets/events.js")),
    ("output.js", SCRIPT, include_str!("assets/output.js")),
    ("plots.js", SCRIPT, include_str!("assets/plots.js")),
    ("files.js", SCRIPT, include_str!("assets/files.js")),
    ("notebook.js", SCRIPT, include_str!("assets/notebook.js")),
    ("terminal.js", SCRIPT, include_str!("assets/terminal.js")),
    ("playground.js", SCRIPT, include_str!("assets/playground.js")),
    ("snippets.js", SCRIPT, include_str!("assets/snippets.js")),
];

struct Packed {
    name: &'static str,
    kind: &'static str,
    plain: &'static str,
    gzip: Option<Bytes>,
}

static PACKED: LazyLock<Vec<Packed>> = LazyLock::new(|| {
    let pack = |(name, kind, plain): (_, _, &'static str)| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        // Writing to memory does not fail.
        let gzip = encoder.write_all(plain.as_bytes()).and_then(|()| encoder.finish()).ok();
        Packed { name, kind, plain, gzip: gzip.map(Bytes::from) }
    };
    ALL.into_iter().map(pack).collect()
});

/// Of all of them together, so that scripts can name each other.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    for (name, _, content) in ALL {
        digest.update(name);
        digest.update(content);
    }
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
});

/// Where the asset of this name is.
pub(crate) fn address(name: &str) -> String {
    format!("/console/assets/{}/{name}", *VERSION)
}

/// Whatever the version: a page that is older than the server gets what there is.
pub(crate) async fn serve(
    Path((version, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let asset = PACKED.iter().find(|asset| asset.name == name).ok_or(Problem::NotFound)?;
    let takes_gzip = headers
        .get(ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains("gzip"));
    let mut response = match &asset.gzip {
        Some(gzip) if takes_gzip => ([(CONTENT_ENCODING, "gzip")], gzip.clone()).into_response(),
        _ => asset.plain.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    let is_this = version == *VERSION;
    let cache = if is_this { "public, max-age=31536000, immutable" } else { "no-store" };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    Ok(response)
}

#[cfg(test)]
#[path = "assets_tests.rs"]
mod tests;
