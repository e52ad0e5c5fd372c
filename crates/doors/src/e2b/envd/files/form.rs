//! An upload as a form (`multipart/form-data`): each part named `file` is one.

use std::collections::BTreeSet;
use std::io;

use axum::body::Body;
use axum::extract::multipart::Multipart;
use axum::extract::{FromRequest, Request};
use futures_util::TryStreamExt;
use sandgate_core::Entry;
use tokio_util::io::StreamReader;

use super::super::paths::resolve;
use super::super::refusal::Refusal;
use super::content::broken;
use super::upload::Upload;
use crate::lent::Content;
use crate::paced::{Allowance, Paced};

/// Between two parts there is little: the name of the next one.
const BETWEEN_PARTS: u64 = 256 << 10;
const MOST_FILES: usize = 10_000;

/// `path`: that of the query, which wins over those of the parts.
pub(super) async fn write(
    upload: &Upload,
    path: Option<&str>,
    request: Request,
) -> Result<Vec<Entry>, Refusal> {
    let allowance = Allowance::default();
    allowance.set(BETWEEN_PARTS);
    let request = request.map(|body| Body::from_stream(Paced::new(body, allowance.clone())));
    let mut form = Multipart::from_request(request, &()).await.map_err(|rejection| {
        Refusal::invalid(format!("error parsing multipart form: {}", rejection.body_text()))
    })?;
    let (mut written, mut paths) = (Vec::new(), BTreeSet::new());
    loop {
        allowance.set(BETWEEN_PARTS);
        let Some(part) = form.next_field().await.map_err(|error| broken(&error))? else { return Ok(written) };
        if part.name() != Some("file") {
            continue;
        }
        // How browsers, and libraries that follow them, write a quote in a quoted name.
        let filename = part.file_name().map(|name| name.replace("%22", "\""));
        let wanted = path.or(filename.as_deref()).filter(|path| !path.is_empty());
        let wanted =
            wanted.ok_or_else(|| Refusal::invalid("a file of the form has no name, and no path is given"))?;
        let path = resolve(wanted)?;
        if !paths.insert(path.clone()) {
            let message = format!(
                "you cannot upload multiple files to the same path '{path}' in one upload request, only the first specified file was uploaded"
            );
            return Err(Refusal::invalid(message));
        }
        if paths.len() > MOST_FILES {
            return Err(Refusal::invalid(format!("at most {MOST_FILES} files can be uploaded at once")));
        }
        allowance.set(u64::MAX);
        let content = Content::new(StreamReader::new(part.map_err(io::Error::other)));
        written.push(upload.write(&path, content).await?);
    }
}
