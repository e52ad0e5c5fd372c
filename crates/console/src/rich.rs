//! A rich value of a sandbox as the page may show it: pictures of known kinds, pages and drawings in a frame of
//! their own, everything else as text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sandgate_core::MimeBundle;
use serde_json::{Value, json};

use crate::documents::{Kind, OfRun};

/// Pictures that cannot hold a script.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const FRAMED: [(&str, Kind); 2] = [("text/html", Kind::Html), ("image/svg+xml", Kind::Svg)];
const TEXTS: [&str; 3] = ["text/plain", "text/markdown", "text/latex"];

pub(crate) fn shown(data: &MimeBundle, documents: &OfRun<'_>) -> Value {
    let text = plain(data);
    if let Some((kind, picture)) = PICTURES.into_iter().find_map(|kind| Some((kind, picture(data, kind)?))) {
        return json!({"kind": "image", "url": format!("data:{kind};base64,{picture}"), "text": text});
    }
    for (name, kind) in FRAMED {
        if let Some(content) = data.get(name).and_then(Value::as_str)
            && let Some(address) = documents.keep(kind, content)
        {
            return json!({"kind": "frame", "src": address, "height": frame_height(content), "text": text});
        }
    }
    if let Some(value) = data.get("application/json") {
        let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
        return json!({"kind": "json", "text": pretty});
    }
    json!({"kind": "text", "text": text})
}

/// What a sandbox calls base64 is looked at before it goes into an address.
fn picture(data: &MimeBundle, kind: &str) -> Option<String> {
    base64_of(data.get(kind)?.as_str()?)
}

/// Without the line ends that it may have; None: it is no base64.
pub(crate) fn base64_of(encoded: &str) -> Option<String> {
    let compact: String = encoded.chars().filter(|letter| !letter.is_ascii_whitespace()).collect();
    STANDARD.decode(&compact).ok().map(|_| compact)
}

/// In pixels. A frame without powers cannot say how high it is; what code makes most often is a table.
pub(crate) fn frame_height(content: &str) -> usize {
    const ROW: usize = 32;
    const AROUND: usize = 30;
    match content.matches("<tr").count() {
        0 => 240,
        rows => (AROUND + rows.saturating_mul(ROW)).min(480),
    }
}

fn plain(data: &MimeBundle) -> String {
    let found = TEXTS.into_iter().find_map(|kind| data.get(kind)).or_else(|| data.values().next());
    match found {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

#[cfg(test)]
#[path = "rich_tests.rs"]
mod tests;
