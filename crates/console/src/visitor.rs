//! Who looks at a page: found by the guard, which no page can be reached without.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use sandgate_core::{Principal, Rank};
use sandgate_gate::Decider;

use crate::problem::Problem;
use crate::sessions::SessionKey;

#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) principal: Principal,
    pub(crate) csrf: Csrf,
    /// None: without keys pages may be read without one, and nothing can be changed.
    pub(crate) session: Option<SessionKey>,
    pub(crate) theme: Option<&'static str>,
    /// How much waits for a person.
    pub(crate) held: usize,
}

const NO_MASTER: &str = "This server has no master key. Start it with SANDGATE_MASTER_KEY in its environment, or \
                         'master_key' in its configuration.";

/// Goes into every form, and nowhere else.
#[derive(Clone)]
pub(crate) struct Csrf(pub(crate) String);

impl std::fmt::Debug for Csrf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Csrf(…)")
    }
}

impl Visitor {
    /// Who it is, for the eye.
    pub(crate) fn name(&self) -> &str {
        match &self.principal.rank {
            Rank::Master => "master key",
            Rank::Key(id) => id,
            Rank::Open | Rank::Nobody => "this machine",
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.principal.rank == Rank::Open
    }

    /// In whose name a decision goes on record.
    pub(crate) fn decider(&self) -> Result<Decider, Problem> {
        match &self.principal.rank {
            Rank::Master => Ok(Decider::Master),
            Rank::Key(id) => Ok(Decider::Key(id.clone())),
            Rank::Open | Rank::Nobody => Err(Problem::Forbidden(NO_MASTER)),
        }
    }

    /// Keys are made and ended with the master key alone.
    pub(crate) fn only_master(&self) -> Result<(), Problem> {
        match self.principal.rank {
            Rank::Master => Ok(()),
            Rank::Key(_) | Rank::Nobody => Err(Problem::Forbidden("This takes the master key.")),
            Rank::Open => Err(Problem::Forbidden(NO_MASTER)),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        // Only a route that was put beside the guard has none.
        parts.extensions.get::<Self>().cloned().ok_or(Problem::SignedOut)
    }
}
