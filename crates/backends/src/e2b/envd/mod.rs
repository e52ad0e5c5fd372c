//! E2B's agent inside a sandbox: files over HTTP, the rest by the Connect protocol with JSON.

mod entry;
mod files;
mod folder;
mod frames;
mod messages;
mod processes;

pub(super) use processes::EnvdProcesses;

use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::place::{E2bPlace, ENVD_PORT, gone_or};
use crate::http::{Call, HttpError};
use crate::{ProviderError, ProviderResult};

const PROTOCOL: HeaderName = HeaderName::from_static("connect-protocol-version");
/// Of an answer that is no stream: a list of many files is the longest.
const LARGEST: usize = 64 << 20;

impl E2bPlace {
    /// A call that has one answer.
    async fn rpc<T: DeserializeOwned>(
        &self,
        method: &str,
        body: &impl Serialize,
        path: &str,
    ) -> ProviderResult<T> {
        let call = self.rpc_call(method)?.json(body)?;
        let answer = self.client().demand(call).await.map_err(of_file(path))?;
        answer.json(LARGEST).await.map_err(Into::into)
    }

    fn rpc_call(&self, method: &str) -> Result<Call, HttpError> {
        let call = self.call(ENVD_PORT, Method::POST, &format!("/{method}"), &[])?;
        Ok(call.plain(PROTOCOL, HeaderValue::from_static("1")))
    }
}

/// What the agent says about a file.
fn of_file(path: &str) -> impl Fn(HttpError) -> ProviderError {
    move |error| {
        let HttpError::Refused { status, message, .. } = &error else { return gone_or(error) };
        let (path, reason) = (path.to_owned(), message.clone());
        match *status {
            StatusCode::NOT_FOUND => ProviderError::NoSuchFile(path),
            StatusCode::BAD_REQUEST
            | StatusCode::FORBIDDEN
            | StatusCode::CONFLICT
            | StatusCode::INSUFFICIENT_STORAGE => ProviderError::File { path, reason },
            _ => gone_or(error),
        }
    }
}
