//! What can go wrong between us and a model. Nothing here carries a key or the upstream's address: these
//! texts reach clients.

use ::http::{HeaderMap, HeaderValue, StatusCode, header};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::error::Said;

#[derive(Debug, Clone, thiserror::Error)]
pub enum UpstreamError {
    /// The upstream answered, and not with success. The body is as it came.
    #[error("the upstream answered with status {}", status.as_u16())]
    Status { status: StatusCode, headers: Box<HeaderMap>, body: Bytes },
    #[error("the upstream cannot be reached: {0}")]
    Unreachable(String),
    #[error("the upstream sent nothing for {seconds} s")]
    TimedOut { seconds: u64 },
    /// The connection or what came over it ended in a way that leaves the answer incomplete.
    #[error("the upstream's answer is broken: {0}")]
    Broken(String),
    #[error("this upstream cannot do that: {0}")]
    Unsupported(String),
}

impl UpstreamError {
    /// In one word, for counting.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Status { .. } => "status",
            Self::Unreachable(_) => "unreachable",
            Self::TimedOut { .. } => "timed_out",
            Self::Broken(_) => "broken",
            Self::Unsupported(_) => "unsupported",
        }
    }

    /// A refusal of our own in the upstream's name, for what its protocol cannot express.
    pub(crate) fn refused(message: &str, param: Option<&str>) -> Self {
        let body = json!({"error": {
            "message": message, "type": "invalid_request_error", "param": param, "code": "unsupported_value",
        }});
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self::Status {
            status: StatusCode::BAD_REQUEST,
            headers: Box::new(headers),
            body: body.to_string().into(),
        }
    }

    /// For a place that has no status: the upstream's own words, where it had some.
    pub(crate) fn said(&self) -> Said {
        let Self::Status { status, body, .. } = self else {
            return Said { kind: "server_error", code: "server_error".to_owned(), message: self.to_string() };
        };
        let (kind, code) = match status.as_u16() {
            429 => ("rate_limit_error", "rate_limit_exceeded"),
            400..=499 => ("invalid_request_error", "invalid_prompt"),
            _ => ("server_error", "server_error"),
        };
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let own = |name: &str| body["error"][name].as_str().filter(|text| !text.is_empty());
        let message = own("message").or_else(|| body["error"].as_str());
        Said {
            kind,
            code: own("code").unwrap_or(code).to_owned(),
            message: message.map_or_else(|| self.to_string(), ToOwned::to_owned),
        }
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
