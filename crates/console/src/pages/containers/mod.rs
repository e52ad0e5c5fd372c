//! The containers of everybody: what each is doing, what it uses of what it may, and the ways to stop it.

mod files;
mod list;
mod notebook;
mod one;
mod terminal;

pub(crate) use terminal::Terminals;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Redirect;
use axum::routing::{get, post};
use sandgate_core::{Container, ContainerId};

use crate::Console;
use crate::fields::{Asked, Fields};
use crate::problem::Problem;
use crate::visitor::Visitor;

pub(crate) const PATH: &str = "/console/containers";

pub(crate) fn router() -> Router<Console> {
    Router::new()
        .route(PATH, get(list::show))
        .route("/console/containers/one", get(one::show))
        .merge(files::router())
        .merge(notebook::router())
        .merge(terminal::router())
        .route("/console/containers/pause", post(pause))
        .route("/console/containers/resume", post(resume))
        .route("/console/containers/delete", post(delete))
}

/// The page of one container.
pub(crate) fn link(id: &str) -> String {
    Fields::default().link("/console/containers/one", &[], &[("id", id)])
}

/// The container that an address is about.
pub(crate) fn named(console: &Console, asked: &Fields) -> Result<Arc<Container>, Problem> {
    let id = ContainerId::parse(asked.get("id").unwrap_or_default()).map_err(|_| Problem::NotFound)?;
    console.parts().containers.find(&id).ok_or(Problem::NotFound)
}

async fn pause(
    State(console): State<Console>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Redirect, Problem> {
    let container = named(&console, &asked)?;
    container.pause().await?;
    tracing::info!(container = %container.id(), by = visitor.name(), "a container was paused by hand");
    Ok(Redirect::to(PATH))
}

async fn resume(
    State(console): State<Console>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Redirect, Problem> {
    let container = named(&console, &asked)?;
    container.resume().await?;
    tracing::info!(container = %container.id(), by = visitor.name(), "a container was resumed by hand");
    Ok(Redirect::to(PATH))
}

async fn delete(
    State(console): State<Console>,
    visitor: Visitor,
    Asked(asked): Asked,
) -> Result<Redirect, Problem> {
    let container = named(&console, &asked)?;
    console.parts().containers.delete(container.owner(), container.id()).await?;
    tracing::info!(container = %container.id(), by = visitor.name(), "a container was deleted by hand");
    Ok(Redirect::to(PATH))
}
