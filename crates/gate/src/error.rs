//! Everything that can keep a request from being answered. Doors turn it into a status and a body,
//! the stream into an `error` event; both say the same words.

use std::time::Duration;

use sandgate_core::BackendError;
use sandgate_store::StoreError;
use serde_json::{Map, Value};

use crate::container_files::ContainerFilesError;
use crate::upstream::UpstreamError;

#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The client's request cannot be served as it is.
    #[error("{message}")]
    Invalid { message: String, param: Option<String>, code: Option<&'static str> },
    /// What it names is not there, or another owner's.
    #[error("{message}")]
    NotFound { message: String, param: Option<&'static str> },
    #[error("Container is expired.")]
    ContainerExpired,
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// The upstream said in its stream, or in its response, that it failed.
    #[error("{message}")]
    ModelFailed { code: String, message: String },
    #[error(transparent)]
    Backend(#[from] BackendError),
    #[error("the store failed: {0}")]
    Store(StoreError),
    /// What runs must be on record first.
    #[error("The server could not write down what it would have run, so nothing ran.")]
    NotRecorded,
    /// One of the gate's own limits, in words.
    #[error("{0}")]
    LimitReached(String),
    /// The owner, or the server, has as much under way as it may.
    #[error("{0}")]
    Busy(String),
    /// The server waits no longer for what is under way.
    #[error("The server was stopped while it worked on this response.")]
    Stopping,
    /// The client hung up or cancelled: nobody is left to answer.
    #[error("the request was cancelled")]
    Cancelled,
}

pub(crate) type Result<T, E = GateError> = std::result::Result<T, E>;

impl From<StoreError> for GateError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<ContainerFilesError> for GateError {
    fn from(error: ContainerFilesError) -> Self {
        match error {
            ContainerFilesError::NoSuchFile(id) => {
                Self::NotFound { message: format!("File with id '{id}' not found."), param: None }
            }
            ContainerFilesError::Store(error) => Self::Store(error),
            ContainerFilesError::Backend(error) => Self::Backend(error),
        }
    }
}

/// What a failure looks like where there is no HTTP status any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub kind: &'static str,
    pub code: String,
    pub message: String,
}

impl GateError {
    pub fn missing(param: impl Into<String>) -> Self {
        let param = param.into();
        let message = format!("Missing required parameter: '{param}'.");
        Self::Invalid { message, param: Some(param), code: Some("missing_required_parameter") }
    }

    pub fn unknown_parameter(param: impl Into<String>) -> Self {
        let param = param.into();
        let message = format!("Unknown parameter: '{param}'.");
        Self::Invalid { message, param: Some(param), code: Some("unknown_parameter") }
    }

    pub fn wrong_type(param: impl Into<String>, expected: &str, found: &Value) -> Self {
        let param = param.into();
        let found = kind_of(found);
        let message = format!("Invalid type for '{param}': expected {expected}, but got {found} instead.");
        Self::Invalid { message, param: Some(param), code: Some("invalid_type") }
    }

    pub fn bad_value(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { message: message.into(), param: Some(param.into()), code: Some("invalid_value") }
    }

    pub fn no_such_container(id: &str) -> Self {
        Self::NotFound { message: format!("Container with id '{id}' not found."), param: None }
    }

    /// The model was told that no more code runs, and calls for it all the same.
    pub(crate) fn too_many_rounds(rounds: u32) -> Self {
        Self::LimitReached(format!(
            "The model went on calling code after {rounds} rounds, which is the limit for one response."
        ))
    }

    pub(crate) fn out_of_time(limit: Duration) -> Self {
        let seconds = limit.as_secs();
        Self::LimitReached(format!("The response took longer than the limit of {seconds} seconds."))
    }

    /// An `error` that came in the place of an event or a chunk, nested or not.
    pub(crate) fn model_failed(event: &Map<String, Value>) -> Self {
        let error = event.get("error").and_then(Value::as_object).unwrap_or(event);
        let get = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
        Self::ModelFailed {
            code: get("code").unwrap_or_else(|| "server_error".to_owned()),
            message: get("message").unwrap_or_else(|| "The model failed.".to_owned()),
        }
    }

    /// For the `error` of a failed response and the `error` event of a stream. What went wrong inside
    /// the server is said in general words; the log has the rest.
    #[must_use]
    pub fn said(&self) -> Said {
        let (kind, code) = match self {
            Self::Invalid { code, .. } => ("invalid_request_error", code.unwrap_or("invalid_prompt")),
            Self::NotFound { .. } | Self::ContainerExpired => ("invalid_request_error", "invalid_prompt"),
            Self::ModelFailed { code, message } => {
                return Said { kind: "server_error", code: code.clone(), message: message.clone() };
            }
            Self::Upstream(error) => return error.said(),
            Self::Backend(
                BackendError::TooManyContainers { .. }
                | BackendError::TooManySandboxes { .. }
                | BackendError::TooManyExecutions { .. }
                | BackendError::Busy(_),
            ) => ("rate_limit_error", "rate_limit_exceeded"),
            Self::Backend(BackendError::NoSuchBackend { .. }) => ("invalid_request_error", "unknown_backend"),
            Self::Backend(BackendError::OtherBackend { .. }) => {
                ("invalid_request_error", "backend_not_allowed")
            }
            Self::Backend(BackendError::Unavailable { .. }) => ("server_error", "backend_unavailable"),
            Self::Backend(_)
            | Self::Store(_)
            | Self::NotRecorded
            | Self::LimitReached(_)
            | Self::Busy(_)
            | Self::Stopping
            | Self::Cancelled => ("server_error", "server_error"),
        };
        Said { kind, code: code.to_owned(), message: self.public_message() }
    }

    /// The sentence a client may read.
    #[must_use]
    pub fn public_message(&self) -> String {
        match self {
            Self::Store(_) => "The server's store failed; its log says why.".to_owned(),
            Self::Backend(BackendError::Engine(_) | BackendError::NoSuchSandbox(_)) => {
                "The sandbox that should run the code failed.".to_owned()
            }
            other => other.to_string(),
        }
    }
}

/// JSON's kinds in the words that OpenAI's errors use.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a decimal",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
