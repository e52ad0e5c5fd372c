//! The containers of everybody: what each is doing, what it uses of what it may, and the ways to stop it.

mod change;
mod connections;
mod files;
mod list;
mod network;
mod notebook;
mod one;
mod terminal;

pub(crate) use terminal::Terminals;

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::routing::{get, post};
use sandgate_core::{Container, ContainerId};

use crate::Console;
use crate::fields::Fields;
use crate::problem::Problem;

pub(crate) const PATH: &str = "/console/containers";

pub(crate) fn router() -> Router<Console> {
    Router::new()
        .route(PATH, get(list::show))
        .route("/console/containers/one", get(one::show))
        .merge(files::router())
        .merge(notebook::router())
        .merge(terminal::router())
        .route("/console/containers/change/{what}", post(change::change))
}

/// The page of one container.
pub(crate) fn link(id: &str) -> String {
    Fields::default().link("/console/containers/one", &[], &[("id", id)])
}

/// The container that an address is about.
#[derive(Debug)]
pub(crate) struct Which(pub(crate) Arc<Container>);

impl FromRequestParts<Console> for Which {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, Problem> {
        let fields = Fields::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let id = ContainerId::parse(fields.get("id").unwrap_or_default()).map_err(|_| Problem::NotFound)?;
        console.parts().containers.find(&id).map(Self).ok_or(Problem::NotFound)
    }
}
