//! The pages, one file or folder each. A page is a handler that takes a [`Visitor`](crate::visitor::Visitor)
//! and gives a [`Page`](crate::layout::Page).

pub(crate) mod approvals;
mod containers;
mod health;
mod keys;
mod metrics;
pub(crate) mod playground;
mod requests;

pub(crate) use containers::Terminals;

use axum::Router;
use axum::response::{Json, Redirect};
use axum::routing::get;

pub(crate) use metrics::Samples;

use crate::Console;
use crate::problem::Problem;
use crate::visitor::Visitor;

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

pub(crate) const SECTIONS: [Section; 7] = [
    Section { path: requests::PATH, name: "Requests", key: "r", icon: "M2 3.5h12M2 8h12M2 12.5h7" },
    Section {
        path: containers::PATH,
        name: "Containers",
        key: "c",
        icon: "M8 1.500l6 3.200v6.600l-6 3.200-6-3.200V4.700zM2 4.700l6 3.300 6-3.300M8 8v6.500",
    },
    Section { path: playground::PATH, name: "Playground", key: "p", icon: "M4 2.500l9 5.500-9 5.500z" },
    Section {
        path: approvals::PATH,
        name: "Approvals",
        key: "a",
        icon: "M8 1.500l5.500 2v4c0 3.500-2.300 6-5.500 7-3.200-1-5.500-3.500-5.500-7v-4zM5.500 8l1.800 1.800 3.200-3.600",
    },
    Section {
        path: keys::PATH,
        name: "Keys",
        key: "k",
        icon: "M10 2.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7M7.500 8.500l-5.500 5.500M4 12l1.500 1.500",
    },
    Section { path: health::PATH, name: "Health", key: "h", icon: "M1.500 8h3l2-5 3 10 2-5h3" },
    Section { path: metrics::PATH, name: "Metrics", key: "m", icon: "M2 14V9M6 14V4M10 14V7M14 14V2" },
];

/// All of them; whoever comes here has passed the guard.
pub(crate) fn router() -> Router<Console> {
    Router::new()
        .route("/console", get(async || Redirect::to(requests::PATH)))
        .route("/console/", get(async || Redirect::to(requests::PATH)))
        .route("/console/waiting", get(waiting))
        .merge(requests::router())
        .merge(containers::router())
        .merge(approvals::router())
        .merge(keys::router())
        .merge(health::router())
        .merge(metrics::router())
        .merge(playground::router())
        .merge(crate::documents::router())
        .route("/console/{*other}", get(async || Problem::NotFound))
}

/// How much waits for a person: the one thing in the frame of every page that changes by itself.
async fn waiting(visitor: Visitor) -> Json<usize> {
    Json(visitor.held)
}
