//! `POST /sandboxes`: a container is made and lent.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{Extensions, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use sandgate_core::{Lease, LeaseState, NewContainer, NewLease, OnEnd, Principal, random_hex};

use super::super::details::Details;
use super::super::error::{Answered, Refusal};
use super::super::target::Target;
use super::super::{DOOR, Door, HOME, OpenSandboxDoor};
use super::body::Fields;
use super::shown;
use super::snapshots::Snapshot;
use super::wish::{Source, Wish};
use crate::lent::{Asked, NEVER_IDLE, key_of, new_token};
use crate::owner::Who;
use crate::request_id::RequestId;

pub(super) async fn create(
    State(door): State<Door>,
    Who(who): Who,
    extensions: Extensions,
    fields: Fields,
) -> Answered<Response> {
    let wish = Wish::read(&fields, &door.settings, &door.spec.limits, &who.limits)?;
    let work = Arc::clone(&door);
    let lease = door.to_the_end(async move { work.make(who, wish).await }).await?;
    let request = RequestId::of(&extensions);
    tracing::debug!(request, lease = lease.id, "a sandbox was lent to a client of OpenSandbox's");
    let location = [(LOCATION, format!("/v1/sandboxes/{}", lease.id))];
    Ok((StatusCode::ACCEPTED, location, Json(shown::made(&lease))).into_response())
}

impl OpenSandboxDoor {
    async fn make(self: &Arc<Self>, who: Principal, wish: Wish) -> Answered<Arc<Lease>> {
        let id = uuid();
        let (from, kept, mut env) = match wish.source {
            Source::Image(image) => (None, Snapshot::none(image), BTreeMap::new()),
            Source::Snapshot(id) => {
                let lease = self.snapshot(&who.owner, &id)?;
                let env = self.leases.container(&lease)?.spec().env.iter().cloned().collect();
                let kept = Snapshot::of(&lease);
                (Some(lease), kept, env)
            }
        };
        env.extend(wish.env);
        let details = Details {
            image: kept.image,
            snapshot: from.as_ref().map(|lease| lease.id.clone()),
            entrypoint: wish.entrypoint.unwrap_or(kept.entrypoint),
            platform: wish.platform,
            extensions: wish.extensions,
            network: wish.network,
            execd_token: new_token("ex"),
            egress_token: new_token("eg"),
            port_token: new_token("po"),
            renews: wish.renews,
            changed_ms: None,
            key: key_of(&who),
            limits: Arc::clone(&who.limits),
        };
        let mut spec = self.spec.clone();
        spec.limits = wish.limits;
        spec.working_dir = Some(HOME.to_owned());
        spec.env = env.into_iter().collect();
        let container = NewContainer {
            owner: who.owner,
            name: Some(format!("opensandbox {id}")),
            spec,
            network: wish.reach,
            idle: Some(NEVER_IDLE),
            allowance: who.limits,
            ..NewContainer::default()
        };
        let new = NewLease {
            id,
            door: DOOR,
            metadata: wish.metadata,
            lasts_ms: wish.timeout.map(|seconds| seconds.saturating_mul(1000)),
            on_end: OnEnd::Delete,
            wakes: false,
            ends_paused: true,
            details: details.value(),
            container,
        };
        let lease = match from {
            Some(from) => self.leases.grant_copy(new, &from, LeaseState::Running).await?,
            None => self.leases.grant(new).await?,
        };
        if let Err(refusal) = self.begin(&lease, details).await {
            self.leases.delete(&lease.id).await?;
            return Err(refusal);
        }
        Ok(lease)
    }

    /// What is to run in it from the start.
    async fn begin(self: &Arc<Self>, lease: &Arc<Lease>, details: Details) -> Answered<()> {
        let container = self.leases.container(lease)?;
        let (details, asked, runs) = (Arc::new(details), Asked::default(), self.runs.clone());
        let limits = Arc::clone(&details.limits);
        let target = Target { lease: Arc::clone(lease), details, container, limits, asked, runs };
        self.state.entries.start(self, &target).await.map_err(|error| {
            let program = target.details.entrypoint.first().map_or("", String::as_str);
            let message = format!("the entrypoint '{program}' could not be started: {error}");
            Refusal::new(StatusCode::BAD_REQUEST, "DOCKER::SANDBOX_START_FAILED", message)
        })?;
        self.tasks.spawn(async move { target.interpreter_listens().await });
        Ok(())
    }
}

/// As the original's ids are.
pub(super) fn uuid() -> String {
    let hex = random_hex(16);
    let part = |from, to| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-a{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
