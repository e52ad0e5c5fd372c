//! A look at one file: a picture, a table, or text; never more of it than a page can bear.

use maud::{Markup, html};
use sandgate_core::{ByteRange, Container, FileStat, Files, SandboxPath, human_bytes};
use tokio::io::AsyncReadExt;

use super::{csv, link_to, ways};
use crate::code::drawn;
use crate::pieces::empty;
use crate::problem::Problem;
use crate::visitor::Visitor;

/// Of a text or a table.
const MOST_BYTES: u64 = 256 << 10;
/// A larger picture is for downloading.
pub(super) const MOST_OF_A_PICTURE: u64 = 16 << 20;

pub(super) async fn show(
    container: &Container,
    visitor: &Visitor,
    files: &dyn Files,
    path: &SandboxPath,
    stat: &FileStat,
) -> Result<Markup, Problem> {
    let head = head(files, path, MOST_BYTES).await?;
    let is_cut = stat.size > head.len() as u64;
    let content = match look(path.as_str(), &head) {
        Look::Picture if stat.size <= MOST_OF_A_PICTURE => html! {
            div.picture { img src=(link_to("image", container, path.as_str())) alt={ "The picture " (path) }; }
        },
        Look::Table(separator, text) => csv::table(text, separator),
        Look::Text(language, text) => {
            let text = text.to_owned();
            drawn(move |ink| html! { div.cell { (ink.code(language, &text)) } }).await?
        }
        Look::Picture | Look::Bytes => empty(
            "Nothing to show",
            &html! { "This is no text, and no picture that is shown here. It can be downloaded." },
        ),
    };
    Ok(html! {
        div.head.file {
            p.soft { (human_bytes(stat.size)) @if is_cut { ", the beginning is shown" } }
            (ways(container, visitor, stat))
        }
        (content)
    })
}

pub(super) async fn head(files: &dyn Files, path: &SandboxPath, most: u64) -> Result<Vec<u8>, Problem> {
    let open = files.open(path, Some(ByteRange { start: 0, length: Some(most) })).await?;
    let mut head = Vec::new();
    if let Err(error) = open.reader.take(most).read_to_end(&mut head).await {
        tracing::debug!(%error, "a file of a container could not be read");
        return Err(Problem::Conflict("The file cannot be read.".to_owned()));
    }
    Ok(head)
}

#[derive(Debug, PartialEq)]
enum Look<'a> {
    Picture,
    /// By what its cells are apart.
    Table(char, &'a str),
    /// In this language.
    Text(&'static str, &'a str),
    Bytes,
}

fn look<'a>(path: &str, head: &'a [u8]) -> Look<'a> {
    if picture_kind(head).is_some() {
        return Look::Picture;
    }
    let Some(text) = text(head) else { return Look::Bytes };
    let ending =
        path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "csv" => Look::Table(',', text),
        "tsv" => Look::Table('\t', text),
        "py" => Look::Text("python", text),
        _ => Look::Text("", text),
    }
}

/// Kinds of pictures that browsers show and that cannot hold a script, by their first bytes.
pub(super) fn picture_kind(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The end may be in the middle of a letter.
fn text(head: &[u8]) -> Option<&str> {
    if head.contains(&0) {
        return None;
    }
    match std::str::from_utf8(head) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(head.get(..error.valid_up_to())?).ok()
        }
        Err(_) => None,
    }
}

#[cfg(test)]
#[path = "preview_tests.rs"]
mod tests;
