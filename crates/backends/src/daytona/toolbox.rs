//! The toolbox of one sandbox: requests to it, and what its statuses mean.

use http::{Method, StatusCode};

use super::place::DaytonaPlace;
use crate::http::{Answer, Call, HttpError};
use crate::{ProviderError, ProviderResult};

impl DaytonaPlace {
    pub(super) fn call(&self, method: Method, path: &str, query: &[(&str, &str)]) -> Result<Call, HttpError> {
        Ok(Call::new(method, &self.toolbox, path, query)?.with(&self.control.headers))
    }

    /// Asks for a success; `otherwise` says what a refusal means when the sandbox is there.
    pub(super) async fn demand(
        &self,
        call: Call,
        otherwise: impl FnOnce(HttpError) -> ProviderError + Send,
    ) -> ProviderResult<Answer> {
        self.understood(self.control.client.demand(call).await, otherwise).await
    }

    pub(super) async fn understood<T>(
        &self,
        answer: Result<T, HttpError>,
        otherwise: impl FnOnce(HttpError) -> ProviderError + Send,
    ) -> ProviderResult<T> {
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => Err(self.control.lost_or(&self.id, error, otherwise).await),
        }
    }

    /// About a file or a folder.
    pub(super) async fn of_file(&self, path: &str, call: Call) -> ProviderResult<Answer> {
        self.demand(call, about_file(path)).await
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
