//! The pages, one file or folder each. A page is a handler that takes a [`Visitor`](crate::visitor::Visitor)
//! and gives a [`Page`](crate::layout::Page).

mod containers;
mod requests;

use axum::Router;
use axum::response::Redirect;
use axum::routing::get;

use crate::Console;
use crate::problem::Problem;

/// A line of the navigation.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) path: &'static str,
    pub(crate) name: &'static str,
    /// After `g` on the keyboard.
    pub(crate) key: &'static str,
    /// A path on a grid of 16.
    pub(crate) icon: &'static str,
}

pub(crate) const SECTIONS: [Section; 2] = [
    Section { path: requests::PATH, name: "Requests", key: "r", icon: "M2 3.5h12M2 8h12M2 12.5h7" },
    Section {
        path: containers::PATH,
        name: "Containers",
        key: "c",
        icon: "M8 1.500l6 3.200v6.600l-6 3.200-6-3.200V4.700zM2 4.700l6 3.300 6-3.300M8 8v6.500",
    },
];

/// All of them; whoever comes here has passed the guard.
pub(crate) fn router() -> Router<Console> {
    Router::new()
        .route("/console", get(async || Redirect::to(requests::PATH)))
        .merge(requests::router())
        .merge(containers::router())
        .route("/console/{*other}", get(async || Problem::NotFound))
}
