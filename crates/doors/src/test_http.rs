//! Requests and answers for the tests of doors, which are asked without a socket.

use axum::body::{Body, to_bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Request, request};
use axum::response::Response;
use bytes::Bytes;
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// With the body as JSON, or none.
pub(crate) fn with_json(request: request::Builder, body: Option<Value>) -> Request<Body> {
    let request = match body {
        Some(body) => request.header(CONTENT_TYPE, "application/json").body(Body::from(body.to_string())),
        None => request.body(Body::empty()),
    };
    request.unwrap()
}

impl Answer {
    pub(crate) async fn of(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, body: to_bytes(response.into_body(), usize::MAX).await.unwrap() }
    }

    /// `null` if it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The JSON of an answer that must be a good one.
    #[track_caller]
    pub(crate) fn good(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A field of the JSON that is a text, empty if it is not there.
    pub(crate) fn field(&self, name: &str) -> String {
        self.json()[name].as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}: {self:?}")).to_str().unwrap()
    }

    /// Asserts that it is a refusal in OpenAI's one shape, and gives its sentence.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, param: Option<&str>, code: Option<&str>) -> String {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}"));
        let error = body["error"].as_object().unwrap_or_else(|| panic!("{self:?}"));
        assert_eq!(error.keys().collect::<Vec<_>>(), ["message", "type", "param", "code"], "{self:?}");
        let said = (self.status, error["param"].as_str(), error["code"].as_str());
        assert_eq!(said, (status, param, code), "{self:?}");
        error["message"].as_str().unwrap().to_owned()
    }
}
