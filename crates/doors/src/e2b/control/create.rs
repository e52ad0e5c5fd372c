//! `POST /sandboxes`, in its two versions: a container is made and lent.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Json;
use sandgate_core::{Lease, LeaseState, NewContainer, NewLease, Principal, random_alphanumeric};
use serde_json::Value;

use super::super::details::Details;
use super::super::error::{E2bError, E2bResult};
use super::super::{DOOR, Door, E2bDoor, HOME, tokens};
use super::body::Fields;
use super::once;
use super::shown;
use super::snapshots::Snapshot;
use super::templates;
use super::wish::Wish;
use crate::lent::{NEVER_IDLE, key_of, wall};
use crate::owner::Who;

/// Seconds a sandbox lasts when nothing is said.
pub(super) const USUAL_FIRST: u64 = 15;
pub(super) const USUAL_SECOND: u64 = 300;
/// How long an id is behind its first letter. No '-': host names are split there.
const ID_LENGTH: usize = 20;

/// Files and variables that a sandbox is made with.
#[derive(Debug)]
pub(super) struct Source {
    /// Of a snapshot or another sandbox.
    lease: Arc<Lease>,
    env: BTreeMap<String, String>,
}

impl Source {
    /// Files alone.
    pub(super) fn of(lease: &Arc<Lease>) -> Self {
        Self { lease: Arc::clone(lease), env: BTreeMap::new() }
    }
}

pub(super) async fn first(
    State(door): State<Door>,
    Who(who): Who,
    headers: HeaderMap,
    fields: Fields,
) -> E2bResult<(StatusCode, Json<Value>)> {
    create(door, who, &headers, fields, USUAL_FIRST).await
}

pub(super) async fn second(
    State(door): State<Door>,
    Who(who): Who,
    headers: HeaderMap,
    fields: Fields,
) -> E2bResult<(StatusCode, Json<Value>)> {
    create(door, who, &headers, fields, USUAL_SECOND).await
}

async fn create(
    door: Door,
    who: Principal,
    headers: &HeaderMap,
    fields: Fields,
    usual: u64,
) -> E2bResult<(StatusCode, Json<Value>)> {
    let wish = Wish::read(&fields, usual, &door.settings)?;
    let key = once::key(headers)?;
    let work = Arc::clone(&door);
    let made = async move {
        let Some(key) = key else { return work.make_from_template(who, wish, None).await };
        let digest = once::digest(&fields.bytes);
        let _turn = work.state.0.once.turn(&who.owner, &key).await;
        match work.made_before(&who, &key) {
            None => work.make_from_template(who, wish, Some((key, digest))).await,
            Some((lease, before)) if before == digest => Ok(lease),
            Some(_) => Err(E2bError::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "this Idempotency-Key was used for another sandbox",
            )),
        }
    };
    let lease = door.to_the_end(made).await?;
    Ok((StatusCode::CREATED, Json(shown::made(&door, &lease))))
}

impl E2bDoor {
    /// A sandbox of this owner's that was made under this key, with the digest of the request that made it.
    fn made_before(&self, who: &Principal, key: &str) -> Option<(Arc<Lease>, String)> {
        self.leases.list(DOOR, &who.owner).into_iter().find_map(|lease| {
            let (its, digest) = Details::of(&lease).idempotency.clone()?;
            (its == key).then_some((lease, digest))
        })
    }

    /// With nothing in it, or with what is in the snapshot that was named.
    async fn make_from_template(
        &self,
        who: Principal,
        wish: Wish,
        idempotency: Option<(String, String)>,
    ) -> E2bResult<Arc<Lease>> {
        if templates::is_there(&self.settings, &wish.template) {
            return self.make(who, wish, idempotency, None).await;
        }
        let lease = self.snapshot(&who.owner, &wish.template)?;
        let env = Snapshot::of(&lease).env;
        self.make(who, wish, idempotency, Some(Source { lease, env })).await
    }

    pub(super) async fn make(
        &self,
        who: Principal,
        wish: Wish,
        idempotency: Option<(String, String)>,
        source: Option<Source>,
    ) -> E2bResult<Arc<Lease>> {
        let id = format!("i{}", random_alphanumeric(ID_LENGTH).to_ascii_lowercase());
        let mut env = source.as_ref().map(|source| source.env.clone()).unwrap_or_default();
        env.extend(wish.env);
        let details = Details {
            template: wish.template,
            env,
            envd_token: tokens::envd_token(),
            traffic_token: tokens::traffic_token(),
            network: wish.network,
            allow_internet: wish.allow_internet,
            internet_at_first: wish.allow_internet,
            timeout: wish.timeout,
            key: key_of(&who),
            limits: Arc::clone(&who.limits),
            idempotency,
        };
        let network = wish.reach.policy(&self.containers, &who.limits)?;
        let mut spec = self.spec.clone();
        spec.limits.memory_bytes = who.limits.memory_within(spec.limits.memory_bytes);
        spec.limits.wall = wall(&spec.limits, self.settings.max_timeout);
        spec.working_dir = Some(HOME.to_owned());
        spec.env = variables(&id, &details);
        let container = NewContainer {
            owner: who.owner,
            name: Some(format!("e2b {id}")),
            spec,
            network,
            idle: Some(NEVER_IDLE),
            allowance: who.limits,
            ..NewContainer::default()
        };
        let new = NewLease {
            id,
            door: DOOR,
            metadata: wish.metadata,
            lasts_ms: Some(wish.timeout.saturating_mul(1000)),
            on_end: wish.on_end,
            wakes: wish.auto_resume,
            ends_paused: false,
            details: details.value(),
            container,
        };
        let granted = match source {
            Some(source) => self.leases.grant_copy(new, &source.lease, LeaseState::Running).await,
            None => self.leases.grant(new).await,
        };
        Ok(granted?)
    }
}

/// What programs inside find in their environment.
fn variables(id: &str, details: &Details) -> Vec<(String, String)> {
    let ours = [("E2B_SANDBOX", "true"), ("E2B_SANDBOX_ID", id), ("E2B_TEMPLATE_ID", &details.template)];
    let mut all: BTreeMap<String, String> =
        ours.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    all.extend(details.env.clone());
    all.into_iter().collect()
}
