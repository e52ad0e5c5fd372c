//! Which of several addresses answers first. Each has a short head start before the next (RFC 8305), so that dead ones in
//! front cost little, and the first is nearly always the one.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, timeout};

/// For all addresses together.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most for one while others wait for its place.
const PATIENCE_WITH_OTHERS: Duration = Duration::from_secs(5);
const HEAD_START: Duration = Duration::from_millis(250);
/// Tried at once.
const RACERS: usize = 4;

/// The families in turn, in their order otherwise: where one of them leads nowhere, all its addresses do.
pub(crate) fn alternating(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let is_first =
        |address: &IpAddr| addresses.first().is_some_and(|first| first.is_ipv4() == address.is_ipv4());
    let (ones, others): (Vec<_>, Vec<_>) = addresses.iter().partition(|address| is_first(address));
    let mut others = others.into_iter();
    let mut mixed = Vec::with_capacity(addresses.len());
    for one in ones {
        mixed.push(one);
        mixed.extend(others.next());
    }
    mixed.extend(others);
    mixed
}

/// One that is on its way. All but one at a time need a place among `spare`.
struct Racer<'a, F> {
    address: IpAddr,
    since: Instant,
    connecting: Pin<Box<F>>,
    place: Option<SemaphorePermit<'a>>,
}

/// The first connection that is made, or the last error; None: none of them said anything.
pub(crate) async fn race<T, F: Future<Output = io::Result<T>>>(
    addresses: Vec<IpAddr>,
    spare: &Semaphore,
    connect: impl Fn(IpAddr) -> F,
) -> Result<(IpAddr, T), Option<io::Error>> {
    // So short that each has its turn, also where there are no places to spare.
    let count = u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
    let patience = (PATIENCE / count).min(PATIENCE_WITH_OTHERS);
    let mut last = None;
    let racing = async {
        let mut waiting = addresses.into_iter().peekable();
        let mut racers: Vec<Racer<'_, F>> = Vec::new();
        loop {
            if waiting.peek().is_some() {
                // Who has had its time makes room.
                if racers.len() >= RACERS || (!racers.is_empty() && spare.available_permits() == 0) {
                    racers.retain(|racer| racer.since.elapsed() < patience);
                }
                // One of them always needs no place.
                let is_free = racers.iter().all(|racer| racer.place.is_some());
                let place = if is_free { None } else { spare.try_acquire().ok() };
                let has_room = racers.len() < RACERS && (is_free || place.is_some());
                if has_room && let Some(address) = waiting.next() {
                    let connecting = Box::pin(connect(address));
                    racers.push(Racer { address, since: Instant::now(), connecting, place });
                }
            }
            if racers.is_empty() {
                return None;
            }
            tokio::select! {
                biased;
                (address, made) = first_of(&mut racers) => match made {
                    Ok(made) => return Some((address, made)),
                    Err(error) => last = Some(error),
                },
                () = sleep(HEAD_START), if waiting.peek().is_some() => {}
            }
        }
    };
    match timeout(PATIENCE, racing).await {
        Ok(Some(made)) => Ok(made),
        Ok(None) | Err(_) => Err(last),
    }
}

/// The first that has an answer, which leaves the race.
async fn first_of<T, F: Future<Output = io::Result<T>>>(
    racers: &mut Vec<Racer<'_, F>>,
) -> (IpAddr, io::Result<T>) {
    std::future::poll_fn(|cx| {
        for index in 0..racers.len() {
            if let Poll::Ready(made) = racers[index].connecting.as_mut().poll(cx) {
                return Poll::Ready((racers.swap_remove(index).address, made));
            }
        }
        Poll::Pending
    })
    .await
}

#[cfg(test)]
#[path = "race_tests.rs"]
mod tests;
