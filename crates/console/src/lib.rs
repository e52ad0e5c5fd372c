//! The console: pages for the people who operate a server, at `/console`. HTML comes from here, whole and
//! escaped; a few small scripts make it live. What ran in a sandbox is hostile wherever it is shown.

#![forbid(unsafe_code)]

mod arrival;
mod assets;
mod attempts;
mod code;
mod cookie;
mod documents;
mod fields;
mod guard;
mod headers;
mod held;
mod layout;
mod origin;
mod pages;
mod pieces;
mod problem;
mod refused;
mod rich;
mod runs;
mod sessions;
mod sign_in;
mod stream;
#[cfg(test)]
mod testing;
mod times;
mod visible;
mod visitor;

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use sandgate_core::{CheckBackends, Containers, Leases};
use sandgate_doors::Access;
use sandgate_gate::upstream::Router as Upstreams;
use sandgate_gate::{Approvals, Executions, Gate, Ledger, Metrics};
use sandgate_store::Store;
use tokio_util::task::TaskTracker;

use attempts::Attempts;
use documents::Documents;
use pages::{Samples, Terminals};
use runs::Runs;
use sessions::Sessions;

/// Where it is.
pub const PATH: &str = "/console";

/// What the pages show and change.
#[derive(Clone, Debug)]
pub struct ConsoleParts {
    pub access: Access,
    pub store: Store,
    pub ledger: Ledger,
    pub approvals: Approvals,
    pub containers: Arc<Containers>,
    pub leases: Arc<Leases>,
    pub executions: Executions,
    pub gate: Arc<Gate>,
    /// With the stand-in for a model behind it, which is there whatever is configured.
    pub loopback: Arc<Gate>,
    pub upstreams: Arc<Upstreams>,
    pub metrics: Metrics,
    /// Tries every backend, when a person asks for it.
    pub backends: Arc<dyn CheckBackends>,
    /// What goes on when whoever asked for it has left.
    pub tasks: TaskTracker,
}

/// Cheap to clone.
#[derive(Clone)]
pub struct Console(Arc<Inner>);

struct Inner {
    parts: ConsoleParts,
    sessions: Sessions,
    attempts: Attempts,
    samples: Samples,
    documents: Documents,
    runs: Runs,
    terminals: Terminals,
}

impl Console {
    /// Must be called where a runtime is.
    #[must_use]
    pub fn new(parts: ConsoleParts) -> Self {
        let samples = Samples::of(&parts);
        Self(Arc::new(Inner {
            parts,
            sessions: Sessions::default(),
            attempts: Attempts::default(),
            samples,
            documents: Documents::default(),
            runs: Runs::default(),
            terminals: Terminals::default(),
        }))
    }

    /// All its paths begin with [`PATH`].
    pub fn router(self) -> Router {
        let guarded = pages::router().route_layer(from_fn_with_state(self.clone(), guard::guard));
        Router::new()
            .merge(guarded)
            .merge(sign_in::router())
            .route("/console/assets/{version}/{name}", get(assets::serve))
            .layer(from_fn(headers::strict))
            .with_state(self)
    }

    pub(crate) fn samples(&self) -> &Samples {
        &self.0.samples
    }

    pub(crate) fn parts(&self) -> &ConsoleParts {
        &self.0.parts
    }

    /// What code made and a frame shows.
    pub(crate) fn documents(&self) -> &Documents {
        &self.0.documents
    }

    pub(crate) fn runs(&self) -> &Runs {
        &self.0.runs
    }

    pub(crate) fn terminals(&self) -> &Terminals {
        &self.0.terminals
    }
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Console")
    }
}
