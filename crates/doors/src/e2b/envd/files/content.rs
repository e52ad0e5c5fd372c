//! The body of an upload, unpacked where it is packed, and what is said when it breaks off.

use std::io;

use async_compression::tokio::bufread::GzipDecoder;
use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_ENCODING;
use futures_util::TryStreamExt;
use tokio_util::io::{ReaderStream, StreamReader};

use super::super::refusal::{Kind, Refusal};
use crate::lent::Broken;

const PIECE: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    None,
    Gzip,
}

impl Packing {
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
        let Some(value) = headers.get(CONTENT_ENCODING) else { return Ok(Self::None) };
        match value.to_str().unwrap_or("?").trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::None),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            other => Err(Refusal::invalid(format!("unsupported content encoding '{other}', expected gzip"))),
        }
    }
}

/// The body as it was before it was packed.
pub(super) fn unpacked(body: Body, packing: Packing) -> Body {
    match packing {
        Packing::None => body,
        Packing::Gzip => {
            let packed = StreamReader::new(body.into_data_stream().map_err(io::Error::other));
            let mut decoder = GzipDecoder::new(packed);
            decoder.multiple_members(true);
            Body::from_stream(ReaderStream::with_capacity(decoder, PIECE))
        }
    }
}

pub(super) fn broken(error: &(dyn std::error::Error + 'static)) -> Refusal {
    refused(Broken::of(error))
}

pub(super) fn refused(broken: Broken) -> Refusal {
    match broken {
        Broken::TooSlow => Refusal::new(Kind::TooSlow, broken.to_string()),
        Broken::Unreadable(_) => Refusal::invalid(broken.to_string()),
    }
}
