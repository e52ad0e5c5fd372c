//! Forms with files in them (`multipart/form-data`), read part by part as they arrive: no file is ever
//! held in memory.

use std::io;

use axum::body::Body;
use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use futures_util::TryStreamExt;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::io::StreamReader;

use super::body::{is_kind, not_declared, too_slow};
use super::error::{ApiError, ApiResult};
use crate::paced::{Allowance, Paced};
use crate::patience::TooSlow;

pub(super) const FORM: &str = "multipart/form-data";

/// Between two parts there is little: the name of the next one.
const BETWEEN_PARTS: u64 = 256 << 10;
/// Of a part that is text.
const LONGEST_TEXT: u64 = 4 << 10;

pub(super) struct Form {
    parts: Multipart,
    allowance: Allowance,
}

pub(super) struct Part<'a> {
    pub(super) name: String,
    /// As the client wrote it; anything may be in it.
    pub(super) filename: String,
    field: Field<'a>,
    allowance: Allowance,
}

impl Form {
    pub(super) async fn read(request: Request) -> ApiResult<Self> {
        if !is_kind(request.headers(), FORM) {
            return Err(not_declared(FORM));
        }
        let allowance = Allowance::default();
        allowance.set(BETWEEN_PARTS);
        let mut request = request.map(|body| Body::from_stream(Paced::new(body, allowance.clone())));
        // The allowance counts instead.
        DefaultBodyLimit::disable().apply(&mut request);
        let parts = Multipart::from_request(request, &()).await.map_err(|rejection| {
            ApiError::bad_request(format!("The form cannot be read: {}.", rejection.body_text()))
        })?;
        Ok(Self { parts, allowance })
    }

    /// None after the last.
    pub(super) async fn next(&mut self) -> ApiResult<Option<Part<'_>>> {
        self.allowance.set(BETWEEN_PARTS);
        let allowance = self.allowance.clone();
        let Some(field) = self.parts.next_field().await.map_err(|error| unreadable(&error))? else {
            return Ok(None);
        };
        let name = field.name().unwrap_or_default().to_owned();
        // How browsers, and libraries that follow them, write a quote in a quoted name.
        let filename = field.file_name().unwrap_or_default().replace("%22", "\"");
        Ok(Some(Part { name, filename, field, allowance }))
    }
}

impl<'a> Part<'a> {
    pub(super) async fn text(self) -> ApiResult<String> {
        let name = self.name.clone();
        let mut text = Vec::new();
        let read = self.content(LONGEST_TEXT).read_to_end(&mut text).await;
        read.map_err(|error| ApiError::bad_request(format!("The form cannot be read: {error}.")))?;
        match String::from_utf8(text) {
            Ok(text) if text.len() as u64 <= LONGEST_TEXT => Ok(text),
            Ok(_) => Err(ApiError::bad_request(format!("Invalid '{name}': too long.")).about(name)),
            Err(_) => Err(ApiError::bad_request(format!("Invalid '{name}': not UTF-8 text.")).about(name)),
        }
    }

    /// What is in it, up to one byte more than `limit`: whoever gets that many knows it is too much.
    pub(super) fn content(self, limit: u64) -> impl AsyncRead + Send + Unpin + use<'a> {
        // Some of what comes after the part is read with its end.
        self.allowance.set(limit.saturating_add(BETWEEN_PARTS));
        let pieces = self.field.map_err(|error| io::Error::other(error.body_text()));
        StreamReader::new(pieces).take(limit.saturating_add(1))
    }
}

fn unreadable(error: &MultipartError) -> ApiError {
    if TooSlow::is_behind(error) {
        return too_slow();
    }
    ApiError::bad_request(format!("The form cannot be read: {}.", error.body_text()))
}
