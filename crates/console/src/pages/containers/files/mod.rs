//! The files of a container: folders to walk through, a look at one file, and the ways in and out.

mod csv;
mod preview;
mod transfer;

use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use maud::{Markup, html};
use sandgate_core::{Container, FileKind, FileStat, SandboxPath, human_bytes};

use super::Which;
use super::one::{Tab, page};
use crate::Console;
use crate::fields::{Asked, Fields};
use crate::layout::icon;
use crate::pieces::{action, empty, heads, number};
use crate::problem::Problem;
use crate::times::ago_ms;
use crate::visible::{quoted, visible};
use crate::visitor::Visitor;

const PATH: &str = "/console/containers/files";
/// Folders that outlive a sandbox's processes.
const ROOTS: [&str; 2] = [SandboxPath::WORKING_DIR, "/home/user"];
/// Of one folder.
const MOST_SHOWN: usize = 500;

const FOLDER: &str = "M1.500 4v8.500h13V5.500H8L6.500 3.500h-5z";
const FILE: &str = "M3.500 1.500h6l3 3v10h-9zM9.500 1.500v3h3";
const LINK: &str =
    "M6.500 9.500l3-3M7 4.500l1-1a2.800 2.800 0 0 1 4 4l-1 1M9 11.500l-1 1a2.800 2.800 0 0 1-4-4l1-1";

pub(super) fn router() -> Router<Console> {
    Router::new()
        .route(PATH, get(show))
        .route("/console/containers/files/image", get(transfer::image))
        .route("/console/containers/files/download", get(transfer::download))
        .route("/console/containers/files/upload", post(transfer::upload))
        .route("/console/containers/files/delete", post(transfer::delete))
}

fn link_to(what: &str, container: &Container, path: &str) -> String {
    let address = if what.is_empty() { PATH.to_owned() } else { format!("{PATH}/{what}") };
    Fields::default().link(&address, &[], &[("id", container.id().as_str()), ("path", path)])
}

/// The path that an address is about.
fn path_in(asked: &Fields) -> Result<SandboxPath, Problem> {
    Ok(SandboxPath::parse(asked.get("path").unwrap_or(SandboxPath::WORKING_DIR))?)
}

async fn show(visitor: Visitor, Which(container): Which, Asked(asked): Asked) -> Result<Response, Problem> {
    let path = path_in(&asked)?;
    let files = container.files().await?;
    let stat = files.stat(&path).await?;
    let body = match stat.kind {
        FileKind::Directory => {
            let entries = files.list(&path, 1).await?;
            folder(&container, &visitor, &path, entries)
        }
        FileKind::File => preview::show(&container, &visitor, &*files, &path, &stat).await?,
        FileKind::Symlink => html! {
            p.hint { "A link to " code { (stat.link_target.as_deref().unwrap_or("nothing")) } "." }
            (ways(&container, &visitor, &stat))
        },
        FileKind::Other => html! {
            p.hint { "A pipe, a socket or a device: there is nothing to show." }
            (ways(&container, &visitor, &stat))
        },
    };
    let body = html! { (crumbs(&container, &path)) (body) };
    page(&container, &visitor, Tab::Files, &["files.js"], &body).await
}

fn crumbs(container: &Container, path: &SandboxPath) -> Markup {
    let mut above = Vec::new();
    let mut at = Some(path.clone());
    while let Some(path) = at {
        at = path.split().map(|(parent, name)| {
            above.push((path.as_str().to_owned(), name.to_owned()));
            parent
        });
    }
    html! {
        div.place {
            nav.path aria-label="Where this is" {
                @for (path, name) in above.iter().rev() {
                    span.soft aria-hidden="true" { "/" }
                    a href=(link_to("", container, path)) { bdi { (visible(name)) } }
                }
            }
            span.roots {
                @for root in ROOTS { a.button.quiet href=(link_to("", container, root)) { (root) } }
            }
        }
    }
}

fn folder(
    container: &Container,
    visitor: &Visitor,
    path: &SandboxPath,
    mut entries: Vec<FileStat>,
) -> Markup {
    entries.sort_by_key(|entry| (entry.kind != FileKind::Directory, entry.path.clone()));
    let count = entries.len();
    entries.truncate(MOST_SHOWN);
    html! {
        div.drop data-upload=(link_to("upload", container, path.as_str())) {
            label.button for="upload" { "Upload files" }
            input.visually-hidden type="file" id="upload" multiple;
            span.hint { "or drop them here" }
            output aria-live="polite" data-upload-status {}
        }
        div id="entries" {
            @if entries.is_empty() {
                (empty("An empty folder", &html! { "What code writes here is kept with the container." }))
            } @else {
                table.list data-rows {
                    (heads(&["Name", "Size", "Changed", ""], &["Size"]))
                    tbody { @for entry in &entries { (row(container, visitor, entry)) } }
                }
                @if count > entries.len() {
                    p.hint { "The first " (number(MOST_SHOWN as u64)) " of " (number(count as u64)) "." }
                }
            }
        }
    }
}

fn row(container: &Container, visitor: &Visitor, entry: &FileStat) -> Markup {
    let name = entry.path.rsplit('/').next().unwrap_or_default();
    let picture = match entry.kind {
        FileKind::Directory => FOLDER,
        FileKind::Symlink => LINK,
        FileKind::File | FileKind::Other => FILE,
    };
    let size = (entry.kind == FileKind::File).then(|| human_bytes(entry.size));
    html! {
        tr {
            td data-name="Name" {
                a.entry href=(link_to("", container, &entry.path)) { (icon(picture)) bdi { (name_of(name)) } }
            }
            td.number data-name="Size" { @if let Some(size) = size { (size) } }
            td data-name="Changed" { (ago_ms(u64::try_from(entry.modified_ms).unwrap_or_default())) }
            td data-name="" { (ways(container, visitor, entry)) }
        }
    }
}

/// Also one of blanks has something to be seen and pressed.
fn name_of(name: &str) -> Markup {
    let is_bare = name.trim() == name;
    html! { @if is_bare { (visible(name)) } @else { "“" (visible(name)) "”" } }
}

/// Out of the container, or away.
fn ways(container: &Container, visitor: &Visitor, entry: &FileStat) -> Markup {
    // The whole path, as it is: blanks at its ends count.
    let question = match entry.kind {
        FileKind::Directory => format!("Delete the folder {} with all it holds?", quoted(&entry.path)),
        FileKind::File | FileKind::Symlink | FileKind::Other => {
            format!("Delete the file {}?", quoted(&entry.path))
        }
    };
    html! {
        div.actions {
            @if entry.kind == FileKind::File {
                a.button.quiet href=(link_to("download", container, &entry.path)) download { "Download" }
            }
            (action(visitor, &link_to("delete", container, &entry.path), "Delete", "quiet", Some(&question)))
        }
    }
}

#[cfg(test)]
mod tests;
