//! Pictures and tables that code made. Pictures of points go into the page; whatever may hold markup goes into
//! a frame of its own, where nothing runs.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use sandgate_store::LedgerRecord;
use serde_json::Value;

use super::one::{MOST_CHILDREN, MOST_REQUESTS};
use crate::Console;
use crate::documents::{Kind, framed};
use crate::fields::{Asked, Fields};
use crate::problem::Problem;
use crate::rich::{base64_of, frame_height};
use crate::visitor::Visitor;

pub(super) const PATH: &str = "/console/requests/shown";

pub(super) fn show(record: &LedgerRecord) -> Markup {
    let left_out = record.body.get("shown").and_then(|shown| shown.get("left_out")).and_then(Value::as_u64);
    html! {
        @for (place, (kind, data)) in all(record).enumerate() {
            @match kind {
                "image/png" | "image/jpeg" => @if let Some(data) = base64_of(data) {
                    img src={ "data:" (kind) ";base64," (data) } alt="A picture that the code made";
                },
                "image/svg+xml" | "text/html" => {
                    iframe src=(address(record, place)) sandbox="" height=(frame_height(data)) title="What the code made" {}
                }
                _ => {}
            }
        }
        @if let Some(count) = left_out.filter(|count| *count > 0) {
            p.hint { (count) " more were too large to keep." }
        }
    }
}

fn all(record: &LedgerRecord) -> impl Iterator<Item = (&str, &str)> {
    let data = record.body.get("shown").and_then(|shown| shown.get("data")).and_then(Value::as_array);
    data.into_iter().flatten().map(|one| {
        let text = |name: &str| one.get(name).and_then(Value::as_str).unwrap_or_default();
        (text("kind"), text("data"))
    })
}

fn address(record: &LedgerRecord, place: usize) -> String {
    let place = place.to_string();
    let fields = [("id", record.request.as_str()), ("of", &record.id), ("place", &place)];
    Fields::default().link(PATH, &[], &fields)
}

/// One document that code made, for a frame.
pub(super) async fn frame(
    State(console): State<Console>,
    _visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Response, Problem> {
    let request = asked.get("id").ok_or(Problem::NotFound)?;
    let trees = console.parts().store.ledger_trees(request, None, MOST_REQUESTS, MOST_CHILDREN).await?;
    let record =
        trees.iter().flat_map(|tree| &tree.children).find(|child| asked.get("of") == Some(&child.id));
    let place = asked.get("place").and_then(|place| place.parse().ok()).ok_or(Problem::NotFound)?;
    let (kind, data) = record.and_then(|record| all(record).nth(place)).ok_or(Problem::NotFound)?;
    let kind = match kind {
        "image/svg+xml" => Kind::Svg,
        "text/html" => Kind::Html,
        _ => return Err(Problem::NotFound),
    };
    Ok(framed(kind, data))
}
