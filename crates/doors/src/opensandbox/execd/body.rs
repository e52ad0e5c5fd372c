//! What comes in as JSON, and what goes out when there is nothing to say.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;

use super::refusal::{Code, Refusal};
use crate::lent::Broken;

/// Of everything but code.
pub(super) const LARGEST: u64 = 8 << 20;

/// Done. A client takes a body without a length for one that is still to come.
pub(super) fn nothing() -> Response {
    let mut response = Body::empty().into_response();
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(0));
    response
}

pub(super) async fn read<T: DeserializeOwned>(request: Request, most: u64) -> Result<T, Refusal> {
    parse(&all(request.into_body(), most).await?)
}

/// No body at all is as good as an empty object.
pub(super) async fn read_or_default<T: DeserializeOwned + Default>(
    request: Request,
    most: u64,
) -> Result<T, Refusal> {
    let body = all(request.into_body(), most).await?;
    if body.trim_ascii().is_empty() { Ok(T::default()) } else { parse(&body) }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| {
        Refusal::invalid(format!("error parsing request, MAYBE invalid body format. {error}"))
    })
}

async fn all(body: Body, most: u64) -> Result<Vec<u8>, Refusal> {
    let mut pieces = body.into_data_stream();
    let mut all = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| Refusal::from(Broken::of(&error)))?;
        if (all.len() + piece.len()) as u64 > most {
            let message = format!("the body is larger than the {most} bytes that it may have");
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, Code::InvalidRequest, message).closing());
        }
        all.extend_from_slice(&piece);
    }
    Ok(all)
}
