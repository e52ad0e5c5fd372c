//! What a sandbox uses: a sample now, and those that were taken when it was asked before.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::extract::State;
use axum::http::Uri;
use axum::response::Json;
use sandgate_core::{Lease, LeaseState, Limits, Usage, now_ms};
use serde_json::{Map, Value, json};

use super::super::error::{E2bError, E2bResult};
use super::super::route::query;
use super::super::{Door, E2bDoor};
use super::shown::cpu_count;
use crate::lent::{Ids, iso};
use crate::owner::Caller;

/// Samples kept of one sandbox.
const KEPT: usize = 120;
/// Two samples of one sandbox are at least this far apart.
const APART_MS: u64 = 1000;
/// Sandboxes that may be asked for at once.
const MOST_AT_ONCE: usize = 100;

#[derive(Debug, Default)]
pub(super) struct History(Mutex<HashMap<String, VecDeque<Sample>>>);

#[derive(Clone, Copy, Debug)]
struct Sample {
    at_ms: u64,
    usage: Usage,
    /// Of one processor, since the sample before or the start.
    cpu_percent: f64,
}

impl History {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Sample>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, lease: &Lease, at_ms: u64, usage: Usage) {
        let mut all = self.lock();
        let samples = all.entry(lease.id.clone()).or_default();
        let (since, before) = match samples.back() {
            Some(last) if at_ms < last.at_ms.saturating_add(APART_MS) => return,
            Some(last) => (last.at_ms, last.usage.cpu_micros),
            None => (lease.started_ms, 0),
        };
        let used_ms = usage.cpu_micros.saturating_sub(before) as f64 / 1000.0;
        let cpu_percent = used_ms * 100.0 / at_ms.saturating_sub(since).max(1) as f64;
        samples.push_back(Sample { at_ms, usage, cpu_percent });
        if samples.len() > KEPT {
            samples.pop_front();
        }
    }

    fn of(&self, id: &str) -> Vec<Sample> {
        self.lock().get(id).into_iter().flatten().copied().collect()
    }

    /// Forgets sandboxes that are no more.
    fn retain(&self, is_there: impl Fn(&str) -> bool) {
        self.lock().retain(|id, _| is_there(id));
    }
}

/// Whatever runs has memory. One that has none is on a backend that does not count it, and no figure at all tells more
/// than noughts would.
fn is_measured(usage: &Usage) -> bool {
    usage.memory_bytes > 0
}

fn shown(sample: &Sample, limits: &Limits) -> Value {
    let Sample { at_ms, usage, cpu_percent } = sample;
    json!({
        "timestamp": iso(*at_ms),
        "timestampUnix": at_ms / 1000,
        "cpuCount": cpu_count(limits),
        "cpuUsedPct": (cpu_percent * 100.0).round() / 100.0,
        "memUsed": usage.memory_bytes,
        "memTotal": limits.memory_bytes,
        // The page cache counts as used here, as it does for the limit.
        "memCache": 0,
        "diskUsed": usage.disk_bytes,
        "diskTotal": limits.disk_bytes,
    })
}

impl E2bDoor {
    /// Takes a sample of a sandbox that runs; asking does not wake one that does not.
    async fn sample(&self, lease: &Lease) -> E2bResult<()> {
        if lease.state == LeaseState::Paused {
            return Ok(());
        }
        let sandbox = self.leases.container(lease)?.sandbox().await?;
        let usage = sandbox.usage().await?;
        if !is_measured(&usage) {
            return Ok(());
        }
        let history = &self.state.0.metrics;
        history.retain(|id| self.leases.find(super::super::DOOR, id).is_ok());
        history.add(lease, now_ms(), usage);
        Ok(())
    }
}

pub(super) async fn of_one(
    State(door): State<Door>,
    Caller(owner): Caller,
    Ids(id): Ids<String>,
    uri: Uri,
) -> E2bResult<Json<Vec<Value>>> {
    let lease = door.lease(&owner, &id)?;
    let (mut start, mut end) = (0, u64::MAX);
    for (name, value) in query(&uri) {
        let bound = match name.as_str() {
            "start" => &mut start,
            "end" => &mut end,
            _ => continue,
        };
        let wrong = || E2bError::bad_request(format!("'{name}' must be a time in seconds since 1970"));
        *bound = value.parse::<f64>().ok().filter(|time| *time >= 0.0).ok_or_else(wrong)? as u64;
    }
    if start > end {
        return Err(E2bError::bad_request("'start' is later than 'end'"));
    }
    door.sample(&lease).await?;
    let limits = door.limits_of(&lease);
    let samples = door.state.0.metrics.of(&lease.id);
    let within = samples.iter().filter(|sample| (start..=end).contains(&(sample.at_ms / 1000)));
    Ok(Json(within.map(|sample| shown(sample, &limits)).collect()))
}

/// The latest of each; those that are not there are left out.
pub(super) async fn of_several(
    State(door): State<Door>,
    Caller(owner): Caller,
    uri: Uri,
) -> E2bResult<Json<Value>> {
    let asked = query(&uri).into_iter().filter(|(name, _)| name == "sandbox_ids");
    let ids: Vec<String> =
        asked.flat_map(|(_, ids)| ids.split(',').map(str::to_owned).collect::<Vec<_>>()).collect();
    if ids.is_empty() || ids.len() > MOST_AT_ONCE {
        return Err(E2bError::bad_request(format!("'sandbox_ids' must name 1 to {MOST_AT_ONCE} sandboxes")));
    }
    let mut found = Map::new();
    for id in ids {
        let Ok(lease) = door.lease(&owner, &id) else { continue };
        door.sample(&lease).await?;
        if let Some(last) = door.state.0.metrics.of(&lease.id).last() {
            found.insert(lease.id.clone(), shown(last, &door.limits_of(&lease)));
        }
    }
    Ok(Json(json!({"sandboxes": found})))
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
