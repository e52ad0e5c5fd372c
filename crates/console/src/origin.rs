//! In whose name code of the console runs: the person who is signed in, by the request of this id.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use sandgate_core::random_hex;
use sandgate_doors::RequestId;
use sandgate_gate::{Asker, Call, NewCall, Watch};

use crate::Console;
use crate::visitor::Visitor;

/// What it is called in records.
const DOOR: &str = "console";

/// What is known of the request that asks.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) id: String,
    path: String,
    watch: Watch,
}

impl Origin {
    /// On record from here on.
    pub(crate) fn asker(&self, console: &Console, visitor: &Visitor) -> Asker {
        let who = &visitor.principal;
        let new = NewCall { who, request_id: &self.id, api: DOOR, path: &self.path };
        let call = Call::new(&console.parts().ledger, &new);
        Asker { call, watch: self.watch.clone(), ..Asker::new(who, self.id.clone(), DOOR) }
    }
}

impl<S: Sync> FromRequestParts<S> for Origin {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let id = RequestId::of(&parts.extensions);
        Ok(Self {
            // Without the server around it, as in tests, nobody gave one.
            id: if id.is_empty() { format!("req_{}", random_hex(16)) } else { id },
            path: parts.uri.path().to_owned(),
            watch: parts.extensions.get::<Watch>().cloned().unwrap_or_default(),
        })
    }
}
