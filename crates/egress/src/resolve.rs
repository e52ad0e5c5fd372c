//! The addresses of a name, asked for when a connection is made and not before.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sandgate_core::network::HostName;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::Resolution;
use crate::dns::client;

/// Lookups at once in the whole server: those of the system each hold a thread.
const AT_ONCE: usize = 32;
const PATIENCE: Duration = Duration::from_secs(10);
/// More addresses than this of one name are of no use.
const MOST_ADDRESSES: usize = 16;
const HOSTS: &str = "/etc/hosts";

#[derive(Debug)]
pub(crate) struct Resolver {
    resolution: Resolution,
    places: Semaphore,
}

impl Resolver {
    pub(crate) fn new(resolution: Resolution) -> Self {
        Self { resolution, places: Semaphore::new(AT_ONCE) }
    }

    /// At least one address, or why there is none.
    pub(crate) async fn lookup(&self, name: &HostName) -> Result<Vec<IpAddr>, String> {
        let looking = async {
            let _place = self.places.acquire().await;
            match &self.resolution {
                Resolution::System => system(name).await,
                Resolution::Servers(servers) => client::lookup(servers, name.as_str()).await,
            }
        };
        let mut found = tokio::time::timeout(PATIENCE, looking)
            .await
            .unwrap_or_else(|_| Err("looking up its name took too long".to_owned()))?;
        for address in &mut found {
            *address = address.to_canonical();
        }
        found.dedup();
        match found.len() {
            0 => Err("there is no such name".to_owned()),
            // Not cut: what is not looked at would not be checked.
            many if many > MOST_ADDRESSES => Err(format!("its name has {many} addresses")),
            _ => Ok(found),
        }
    }
}

async fn system(name: &HostName) -> Result<Vec<IpAddr>, String> {
    let known = in_hosts(&tokio::fs::read_to_string(HOSTS).await.unwrap_or_default(), name);
    if !known.is_empty() {
        return Ok(known);
    }
    // With a dot at its end, no search list makes another name of it; nor is it found in the file above.
    let whole = format!("{name}.");
    match tokio::net::lookup_host((whole.as_str(), 0)).await {
        Ok(found) => Ok(found.map(|address| address.ip()).collect()),
        Err(_) => Err("its name cannot be looked up".to_owned()),
    }
}

/// The addresses of a name in the operator's own table.
fn in_hosts(table: &str, name: &HostName) -> Vec<IpAddr> {
    let of_line = |line: &str| {
        let mut words = line.split('#').next()?.split_whitespace();
        let address = words.next()?.parse().ok()?;
        words.any(|word| word.eq_ignore_ascii_case(name.as_str())).then_some(address)
    };
    table.lines().filter_map(of_line).collect()
}

/// What one sandbox has just looked up. Not shared: how fast an answer comes would tell what others look up. Every
/// use is checked like a fresh answer.
#[derive(Debug)]
pub(crate) struct Recent {
    found: Mutex<HashMap<HostName, (Instant, Vec<IpAddr>)>>,
    /// Lookups at once, so that one sandbox with names that nobody answers for leaves places to the others.
    turns: Semaphore,
}

const FRESH: Duration = Duration::from_secs(5);
const MOST_RECENT: usize = 256;
const TURNS: usize = 4;

impl Default for Recent {
    fn default() -> Self {
        Self { found: Mutex::default(), turns: Semaphore::new(TURNS) }
    }
}

impl Recent {
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.turns.acquire().await.ok()
    }

    pub(crate) fn get(&self, name: &HostName) -> Option<Vec<IpAddr>> {
        let recent = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        recent.get(name).filter(|(when, _)| when.elapsed() < FRESH).map(|(_, found)| found.clone())
    }

    pub(crate) fn put(&self, name: &HostName, found: &[IpAddr]) {
        let mut recent = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.len() >= MOST_RECENT {
            recent.retain(|_, (when, _)| when.elapsed() < FRESH);
        }
        if recent.len() < MOST_RECENT {
            recent.insert(name.clone(), (Instant::now(), found.to_vec()));
        }
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
