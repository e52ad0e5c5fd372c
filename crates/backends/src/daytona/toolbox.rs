//! The toolbox of one sandbox: requests to it, and what its statuses mean.

use http::{Method, StatusCode};

use super::place::DaytonaPlace;
use crate::http::{Answer, Call, HttpError};
use crate::{ProviderError, ProviderResult};

impl DaytonaPlace {
    pub(super) fn call(&self, method: Method, path: &str, query: &[(&str, &str)]) -> Result<Call, HttpError> {
        Ok(Call::new(method, &self.toolbox, path, query)?.with(&self.control.headers))
    }

    /// About a file or a folder.
    pub(super) async fn of_file(&self, path: &str, call: Call) -> ProviderResult<Answer> {
        self.control.client.demand(call).await.map_err(about_file(path))
    }
}

pub(super) fn about_file(path: &str) -> impl Fn(HttpError) -> ProviderError {
    move |error| {
        let HttpError::Refused { status, message, .. } = &error else { return error.into() };
        let (path, reason) = (path.to_owned(), message.clone());
        match *status {
            StatusCode::NOT_FOUND => ProviderError::NoSuchFile(path),
            StatusCode::BAD_REQUEST | StatusCode::CONFLICT | StatusCode::FORBIDDEN => {
                ProviderError::File { path, reason }
            }
            _ => error.into(),
        }
    }
}
