//! The addresses of a name, asked for when a connection is made and not before.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sandgate_core::network::HostName;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Resolution;
use crate::dns::client;

/// Lookups at once in the whole server: those of the system each hold a thread. A sandbox has one place among the first,
/// and a few among the others, so that many that wait for names nobody answers for leave the others theirs.
const FIRST_AT_ONCE: usize = 64;
const MORE_AT_ONCE: usize = 32;
const PATIENCE: Duration = Duration::from_secs(10);
/// For a place.
const PATIENCE_FOR_PLACE: Duration = Duration::from_secs(4);
/// More addresses than this of one name are of no use.
const MOST_ADDRESSES: usize = 16;
const HOSTS: &str = "/etc/hosts";

#[derive(Debug)]
pub(crate) struct Resolver {
    resolution: Resolution,
    places: Places,
}

/// Of one sandbox, or of all.
#[derive(Debug)]
struct Places {
    first: Arc<Semaphore>,
    more: Arc<Semaphore>,
}

impl Places {
    fn new(first: usize, more: usize) -> Self {
        Self { first: Arc::new(Semaphore::new(first)), more: Arc::new(Semaphore::new(more)) }
    }

    /// A place for a sandbox that has `self`, among those of `all`.
    async fn take(&self, all: &Self) -> Option<[OwnedSemaphorePermit; 2]> {
        let (own, among) = tokio::select! {
            biased;
            own = Arc::clone(&self.first).acquire_owned() => (own, &all.first),
            own = Arc::clone(&self.more).acquire_owned() => (own, &all.more),
        };
        Some([own.ok()?, Arc::clone(among).acquire_owned().await.ok()?])
    }
}

impl Resolver {
    pub(crate) fn new(resolution: Resolution) -> Self {
        Self { resolution, places: Places::new(FIRST_AT_ONCE, MORE_AT_ONCE) }
    }

    /// At least one address, or why there is none. On the account of the sandbox that has `recent`.
    pub(crate) async fn lookup(&self, name: &HostName, recent: &Recent) -> Result<Vec<IpAddr>, String> {
        let place = tokio::time::timeout(PATIENCE_FOR_PLACE, recent.turns.take(&self.places)).await;
        let Ok(Some(place)) = place else {
            return Err("too many names are being looked up; try again later".to_owned());
        };
        let looking = async {
            match &self.resolution {
                Resolution::System => system(name, place).await,
                Resolution::Servers(servers) => {
                    let _place = place;
                    client::lookup(servers, name.as_str()).await
                }
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

async fn system(name: &HostName, place: [OwnedSemaphorePermit; 2]) -> Result<Vec<IpAddr>, String> {
    let known = in_hosts(&tokio::fs::read_to_string(HOSTS).await.unwrap_or_default(), name);
    if !known.is_empty() {
        return Ok(known);
    }
    // With a dot at its end, no search list makes another name of it; nor is it found in the file above.
    let whole = format!("{name}.");
    let found = holding(place, move || {
        let found = (whole.as_str(), 0).to_socket_addrs();
        found.map(|found| found.map(|address| address.ip()).collect())
    });
    match found.await {
        Some(Ok(found)) => Ok(found),
        Some(Err(_)) | None => Err("its name cannot be looked up".to_owned()),
    }
}

/// The host's resolver cannot be called off. Who has given up waiting for it still has its place for as long as it
/// asks, or else there would be more of them than places.
async fn holding<T: Send + 'static>(
    place: [OwnedSemaphorePermit; 2],
    asking: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Option<io::Result<T>> {
    let task = tokio::task::spawn_blocking(move || {
        let _place = place;
        asking()
    });
    task.await.ok()
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
    /// Lookups at once.
    turns: Places,
}

const FRESH: Duration = Duration::from_secs(5);
const MOST_RECENT: usize = 256;
/// Beside the first.
const MORE_TURNS: usize = 3;

impl Default for Recent {
    fn default() -> Self {
        Self { found: Mutex::default(), turns: Places::new(1, MORE_TURNS) }
    }
}

impl Recent {
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
