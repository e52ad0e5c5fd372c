//! Dead addresses in front of a living one cost a moment, and none is asked twice.

use std::future::pending;
use std::io;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::{RACERS, alternating, race};

fn ips(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Addresses of which only the last answers; how long it took, and which were tried.
async fn last_of(count: u8, spare: usize) -> (Result<IpAddr, Option<io::Error>>, Duration, Vec<IpAddr>) {
    let addresses: Vec<IpAddr> = (1..=count).map(|last| IpAddr::from([192, 0, 2, last])).collect();
    let (living, tried, spare) = (addresses[usize::from(count) - 1], Mutex::default(), Semaphore::new(spare));
    let begin = Instant::now();
    let made = race(addresses, &spare, |address| {
        let tried: &Mutex<Vec<IpAddr>> = &tried;
        tried.lock().unwrap().push(address);
        async move {
            if address == living {
                return Ok(());
            }
            pending().await
        }
    });
    let made = made.await.map(|(address, ())| address);
    (made, begin.elapsed(), tried.into_inner().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_few_dead_addresses_cost_a_moment() {
    let (made, took, tried) = last_of(4, 64).await;
    assert_eq!((made.unwrap(), tried.len()), ("192.0.2.4".parse().unwrap(), 4));
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn many_dead_addresses_are_passed_in_time() {
    for (count, spare) in [(5, 64), (16, 64), (5, 0), (16, 0), (16, 1)] {
        let (made, took, tried) = last_of(count, spare).await;
        assert!(made.is_ok(), "{count} with {spare} to spare");
        assert!(took <= Duration::from_secs(20), "{took:?}");
        assert_eq!(tried.len(), usize::from(count));
    }
}

#[tokio::test(start_paused = true)]
async fn who_refuses_lets_the_next_go_at_once() {
    let (begin, spare) = (Instant::now(), Semaphore::new(RACERS));
    let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
    let made = race(ips(&["192.0.2.1", "192.0.2.2"]), &spare, async |address: IpAddr| {
        if address == ips(&["192.0.2.2"])[0] { Ok(()) } else { Err(refused()) }
    });
    assert!(made.await.is_ok() && begin.elapsed().is_zero());
    let none = race(ips(&["192.0.2.1"]), &spare, async |_| Err::<(), _>(refused())).await;
    assert_eq!(none.unwrap_err().unwrap().kind(), io::ErrorKind::ConnectionRefused);
    let silent = race(ips(&["192.0.2.1"]), &spare, |_| pending::<io::Result<()>>()).await;
    assert!(silent.unwrap_err().is_none());
    assert_eq!(spare.available_permits(), RACERS, "places are given back");
}

#[test]
fn families_take_turns() {
    let mixed = alternating(ips(&["192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "2001:db8::2"]));
    assert_eq!(mixed, ips(&["192.0.2.1", "2001:db8::1", "192.0.2.2", "2001:db8::2", "192.0.2.3"]));
    let same = ips(&["2001:db8::1", "192.0.2.1", "192.0.2.2"]);
    assert_eq!(alternating(same.clone()), same);
    assert!(alternating(Vec::new()).is_empty());
}
