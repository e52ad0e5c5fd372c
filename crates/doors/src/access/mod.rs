//! Who is let in, for every door: the key a request came with is looked up, its rate is kept, and from here
//! on the request carries a principal instead of a secret.

mod model;
mod operator;
mod presented;
mod rates;
mod reading;
mod refusal;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sandgate_core::{BackendError, KeyLimits, Owner, Principal, Rank};
use sandgate_store::{KEY_PREFIX, KeyFound, KeyHash, KeyRecord, Store, hash_key};
use subtle::ConstantTimeEq;

pub(crate) use model::{check_model, check_model_alone};
pub(crate) use presented::{open_owner, presented, presented_in};
use rates::Rates;
pub(crate) use refusal::NotLetIn;

use crate::front::LimitHit;
use crate::local::foreign_host;
use crate::openai::{ApiError, ApiResult};

/// The one path that needs no key.
pub(crate) const HEALTH: &str = "/health";
/// Needs none either if the operator says so.
pub(crate) const METRICS: &str = "/metrics";
/// Names the backend that a new container is to run on.
const BACKEND: &str = "sandgate-backend";
/// Besides the one that is read: headers in which clients send keys. None of them may travel on.
const OTHER_KEYS: [&str; 3] = ["api-key", "x-api-key", "open-sandbox-api-key"];

/// The keys of a server. Cheap to clone.
#[derive(Clone)]
pub struct Access(Arc<Inner>);

struct Inner {
    /// A digest, so that a comparison takes the same time whatever the length.
    master: Option<KeyHash>,
    store: Store,
    rates: Rates,
    /// A key was seen in the store: there is no way back to a server without keys.
    has_keys: AtomicBool,
    /// When the store was last seen to have none.
    seen_open: Mutex<Option<Instant>>,
    metrics_open: bool,
}

/// How long a server without keys takes it that there are still none, so that not every request asks.
const OPEN_FOR: Duration = Duration::from_millis(500);

impl Access {
    /// Without a master key, and without any key in the store, everybody on this machine is let in.
    #[must_use]
    pub fn new(store: Store, master: Option<&str>) -> Self {
        Self::with_metrics(store, master, false)
    }

    /// The same, where `metrics_open` lets everybody read the metrics.
    #[must_use]
    pub fn with_metrics(store: Store, master: Option<&str>, metrics_open: bool) -> Self {
        let master = master.map(hash_key);
        Self(Arc::new(Inner {
            master,
            store,
            rates: Rates::default(),
            has_keys: AtomicBool::new(false),
            seen_open: Mutex::default(),
            metrics_open,
        }))
    }

    /// Who asks only how the server is.
    async fn anybody(&self) -> Result<Principal, NotLetIn> {
        let anonymous = Principal::open(Owner::anonymous());
        let rank = if self.0.is_closed().await? { Rank::Nobody } else { Rank::Open };
        Ok(Principal { rank, ..anonymous })
    }

    /// Whoever came with this key.
    pub(crate) async fn principal(&self, secret: Option<String>) -> Result<Principal, NotLetIn> {
        let inner = &*self.0;
        let open = |secret: &str| Principal::open(open_owner(Some(secret)));
        let Some(secret) = secret else {
            return if inner.is_closed().await? {
                Err(NotLetIn::NoKey)
            } else {
                Ok(Principal::open(Owner::anonymous()))
            };
        };
        let hash = hash_key(&secret);
        if inner.master.is_some_and(|master| bool::from(master.ct_eq(&hash))) {
            return Ok(Principal::master());
        }
        // A key of ours is always looked for: it may be the first one, made this moment.
        if !secret.starts_with(KEY_PREFIX) && inner.was_open() {
            return Ok(open(&secret));
        }
        match inner.store.find_key(hash).await? {
            KeyFound::NoKeys if inner.master.is_none() && !inner.has_keys.load(Ordering::Relaxed) => {
                *inner.lock_open() = Some(Instant::now());
                Ok(open(&secret))
            }
            KeyFound::NoKeys | KeyFound::Unknown => Err(NotLetIn::wrong(&secret)),
            KeyFound::Known(key) => {
                inner.has_keys.store(true, Ordering::Relaxed);
                // The database compared the digests, but it did not care how long that takes.
                if !bool::from(key.hash.ct_eq(&hash)) || key.revoked_at.is_some() {
                    return Err(NotLetIn::wrong(&secret));
                }
                if key.is_expired() {
                    return Err(NotLetIn::expired(&secret));
                }
                inner.let_in(*key)
            }
        }
    }
}

impl Inner {
    /// Whether there were no keys a moment ago.
    fn was_open(&self) -> bool {
        self.master.is_none()
            && !self.has_keys.load(Ordering::Relaxed)
            && self.lock_open().is_some_and(|seen| seen.elapsed() < OPEN_FOR)
    }

    fn lock_open(&self) -> MutexGuard<'_, Option<Instant>> {
        self.seen_open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn is_closed(&self) -> Result<bool, NotLetIn> {
        if self.master.is_some() {
            return Ok(true);
        }
        if !self.has_keys.load(Ordering::Relaxed) && self.store.has_keys().await? {
            self.has_keys.store(true, Ordering::Relaxed);
        }
        Ok(self.has_keys.load(Ordering::Relaxed))
    }

    fn let_in(&self, key: KeyRecord) -> Result<Principal, NotLetIn> {
        if let Some(limit) = key.limits.requests_per_minute {
            self.rates.take(&key.id, limit).map_err(|wait| NotLetIn::TooOften { limit, wait })?;
        }
        if key.is_use_due() {
            let (store, id) = (self.store.clone(), key.id.clone());
            tokio::spawn(async move {
                if let Err(error) = store.note_key_use(&id).await {
                    tracing::warn!(key = id, %error, "the use of a key could not be noted");
                }
            });
        }
        Ok(Principal { owner: key.owner, rank: Rank::Key(key.id), limits: Arc::new(key.limits) })
    }
}

/// Stands before every door.
pub(crate) async fn authenticate(State(access): State<Access>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_open = path == HEALTH || (path == METRICS && access.0.metrics_open);
    let found =
        if is_open { access.anybody().await } else { access.principal(presented(request.headers())).await };
    let principal = match found {
        Ok(principal) => principal,
        Err(refusal) => {
            let is_too_often = matches!(refusal, NotLetIn::TooOften { .. });
            let mut response = ApiError::from(refusal).into_response();
            if is_too_often {
                response.extensions_mut().insert(LimitHit("requests_per_minute"));
            }
            return response;
        }
    };
    match principal.rank {
        // Without keys, what protects the server is that only this machine reaches it.
        Rank::Open => {
            if let Some(refusal) = foreign_host(request.headers()) {
                return refusal.into_response();
            }
        }
        // Our keys are nothing to an upstream: from here on nobody can pass one on.
        Rank::Nobody | Rank::Key(_) | Rank::Master => {
            forget_keys(request.headers_mut());
        }
    }
    match asking_for_backend(principal, request.headers_mut()) {
        Ok(principal) => request.extensions_mut().insert(principal),
        Err(error) => return ApiError::from(error).into_response(),
    };
    next.run(request).await
}

/// A request may name the backend that a container made for it is to run on: its own wish, over that of the model
/// and the server, and within what the key allows.
pub(crate) fn asking_for_backend(
    principal: Principal,
    headers: &mut HeaderMap,
) -> Result<Principal, BackendError> {
    let Some(asked) = headers.remove(BACKEND) else { return Ok(principal) };
    let asked = asked.to_str().map_err(|_| BackendError::Invalid(format!("'{BACKEND}' is no text")))?;
    let asked_backend = principal.limits.backend_for(Some(asked.trim().to_owned()))?;
    let limits = Arc::new(KeyLimits { asked_backend, ..(*principal.limits).clone() });
    Ok(Principal { limits, ..principal })
}

/// None of them travels on from here.
pub(crate) fn forget_keys(headers: &mut HeaderMap) {
    headers.remove(AUTHORIZATION);
    for name in OTHER_KEYS {
        headers.remove(name);
    }
}

/// What only the operator may do.
pub(crate) fn only_master(principal: &Principal) -> ApiResult<()> {
    match principal.rank {
        Rank::Master => Ok(()),
        Rank::Key(_) | Rank::Nobody => Err(refusal::forbidden(
            "You have insufficient permissions for this operation: it takes the master key.",
        )),
        Rank::Open => Err(refusal::forbidden(
            "This server has no master key; start it with SANDGATE_MASTER_KEY in its environment, or \
             'master_key' in its configuration.",
        )),
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("has_master", &self.0.master.is_some()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
