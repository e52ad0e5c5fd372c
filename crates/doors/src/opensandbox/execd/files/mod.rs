//! Files and folders of a sandbox. The same paths below `/v1/filesystem/UID/GID` ask for a user by number; there is
//! one.

mod change;
mod directories;
mod download;
mod info;
mod mode;
mod replace;
mod search;
mod upload;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};

use super::super::Door;
use super::guest::check_ids;
use super::refusal::Refusal;
use crate::lent::Ids;

pub(super) fn routes() -> Router<Door> {
    plain().nest("/v1/filesystem/{uid}/{gid}", plain().layer(from_fn(as_user)))
}

fn plain() -> Router<Door> {
    Router::new()
        .route("/files", delete(change::remove))
        .route("/files/info", get(info::get))
        .route("/files/mv", post(change::rename))
        .route("/files/permissions", post(change::permissions))
        .route("/files/search", get(search::search))
        .route("/files/replace", post(replace::replace))
        .route("/files/upload", post(upload::upload))
        .route("/files/download", get(download::download))
        .route("/directories", post(directories::make).delete(directories::remove))
        .route("/directories/list", get(directories::list))
}

async fn as_user(Ids(ids): Ids<Vec<(String, String)>>, request: Request, next: Next) -> Response {
    let id = |name: &str| {
        let text = ids.iter().find(|(key, _)| key == name).map(|(_, text)| text.as_str());
        text.unwrap_or_default()
            .parse::<u32>()
            .map_err(|_| Refusal::invalid(format!("'{name}' must be a number")))
    };
    let checked = id("uid").and_then(|uid| check_ids(Some(uid), Some(id("gid")?)));
    match checked {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

#[cfg(test)]
mod tests;
