//! Files below a folder whose name fits a pattern.

use axum::extract::Request;
use axum::response::Json;
use sandgate_core::FileKind;

use super::super::guest::{Guest, asked_one};
use super::super::refusal::Refusal;
use super::info::Info;
use crate::lent::home::name_of;

const EVERYTHING: &str = "**";
/// Folders within folders.
const DEPTH: u32 = 64;
const LONGEST_PATTERN: usize = 1000;

pub(super) async fn search(guest: Guest, request: Request) -> Result<Json<Vec<Info>>, Refusal> {
    let path = asked_one(request.uri(), "path").ok_or_else(|| Refusal::missing("path"))?;
    let pattern = asked_one(request.uri(), "pattern").unwrap_or_else(|| EVERYTHING.to_owned());
    if pattern.len() > LONGEST_PATTERN {
        return Err(Refusal::invalid(format!("a pattern has at most {LONGEST_PATTERN} letters")));
    }
    let path = guest.resolve(&path)?;
    let inside = guest.inside().await?;
    let entry = inside.stat(&path).await?;
    let found =
        if entry.kind == FileKind::Directory { inside.list(&path, DEPTH).await? } else { vec![entry] };
    let is_folder = |kind: FileKind, is_link: bool| kind == FileKind::Directory && !is_link;
    let files = found.into_iter().filter(|entry| !is_folder(entry.kind, entry.is_link));
    let fits = files.filter(|entry| fast_glob::glob_match(&pattern, name_of(&entry.path)));
    Ok(Json(fits.map(Info::from).collect()))
}
