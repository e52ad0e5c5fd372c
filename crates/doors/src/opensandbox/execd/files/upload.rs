//! Files into a sandbox: a form in which each file comes after a part that says where it goes.

use std::collections::BTreeMap;
use std::io;

use axum::body::Body;
use axum::extract::multipart::{Field, Multipart};
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::Response;
use futures_util::TryStreamExt;
use sandgate_core::{Inside, SandboxPath};
use serde::Deserialize;
use tokio_util::io::StreamReader;

use super::super::body::nothing;
use super::super::guest::Guest;
use super::super::refusal::{Code, Refusal};
use super::mode::Permission;
use crate::lent::{Broken, Content};
use crate::paced::{Allowance, Paced};

/// Between two files there is little: where the next one goes.
const BETWEEN_FILES: u64 = 256 << 10;
const MOST_FILES: usize = 10_000;
/// Read of what nobody wants.
const DRAINED: u64 = 1 << 20;

#[derive(Debug, Deserialize)]
struct Metadata {
    #[serde(default)]
    path: String,
    #[serde(flatten)]
    permission: Permission,
}

pub(super) async fn upload(guest: Guest, request: Request) -> Result<Response, Refusal> {
    let allowance = Allowance::default();
    allowance.set(BETWEEN_FILES);
    let request = request.map(|body| Body::from_stream(Paced::new(body, allowance.clone())));
    let mut form = Multipart::from_request(request, &())
        .await
        .map_err(|_| bad(Code::InvalidFile, "multipart form is empty"))?;
    let written = write_all(&guest, &mut form, &allowance).await;
    if written.is_err() {
        drain(&mut form, &allowance).await;
    }
    written.map(|()| nothing())
}

async fn write_all(guest: &Guest, form: &mut Multipart, allowance: &Allowance) -> Result<(), Refusal> {
    let inside = guest.inside().await?;
    let mut next: Option<(SandboxPath, Option<u32>)> = None;
    let mut written = 0;
    loop {
        allowance.set(BETWEEN_FILES);
        let part = form.next_field().await.map_err(|error| Refusal::from(Broken::of(&error)))?;
        let Some(part) = part else { break };
        match part.name() {
            Some("metadata") if next.is_some() => {
                return Err(bad(Code::InvalidFile, "metadata and file count mismatch: a file is missing"));
            }
            Some("metadata") => next = Some(place(guest, part).await?),
            Some("file") => {
                let message = "metadata file is missing";
                let to = next.take().ok_or_else(|| bad(Code::InvalidFileMetadata, message))?;
                written += 1;
                if written > MOST_FILES {
                    let message = format!("at most {MOST_FILES} files can be uploaded at once");
                    return Err(bad(Code::InvalidFile, &message));
                }
                allowance.set(u64::MAX);
                write(&*inside, &to, part).await?;
            }
            _ => {}
        }
    }
    match (written, next) {
        (_, Some(_)) => Err(bad(Code::InvalidFileContent, "file is missing")),
        (0, None) => Err(bad(Code::InvalidFileMetadata, "metadata file is missing")),
        (_, None) => Ok(()),
    }
}

/// A client that is still sending when the connection closes would not hear why. Much is not waited for.
async fn drain(form: &mut Multipart, allowance: &Allowance) {
    allowance.set(DRAINED);
    while let Ok(Some(mut part)) = form.next_field().await {
        while let Ok(Some(_)) = part.chunk().await {}
    }
}

fn bad(code: Code, message: &str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, code, message).closing()
}

async fn place(guest: &Guest, part: Field<'_>) -> Result<(SandboxPath, Option<u32>), Refusal> {
    let text = part.bytes().await.map_err(|error| Refusal::from(Broken::of(&error)))?;
    let metadata: Metadata = serde_json::from_slice(&text)
        .map_err(|error| bad(Code::InvalidFileMetadata, &format!("invalid metadata format. {error}")))?;
    if metadata.path.is_empty() {
        return Err(bad(Code::InvalidFileMetadata, "metadata path is empty"));
    }
    let bits = metadata.permission.bits().map_err(Refusal::closing)?;
    Ok((guest.resolve(&metadata.path).map_err(Refusal::closing)?, bits))
}

async fn write(
    inside: &dyn Inside,
    (path, bits): &(SandboxPath, Option<u32>),
    part: Field<'_>,
) -> Result<(), Refusal> {
    let mut content = Content::new(StreamReader::new(part.map_err(io::Error::other)));
    let written = inside.write(path, &mut content, &BTreeMap::new()).await;
    written.map_err(|error| match content.broken() {
        Some(broken) => broken.into(),
        None => Refusal::from(error).in_words(&format!("error copying file {path}. ")).closing(),
    })?;
    match bits {
        Some(bits) => Ok(inside.set_mode(path, *bits).await?),
        None => Ok(()),
    }
}
