//! The host's own table of names counts as it does for other programs.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::{FIRST_AT_ONCE, MORE_AT_ONCE, Places, Recent, Resolver, holding, in_hosts};
use crate::Resolution;

#[test]
fn a_name_of_the_hosts_table_is_found() {
    let table = "# one\n192.0.2.1\tinner.example.org inner # other.example.org\n\
        2001:db8::1 Inner.Example.org\nnonsense inner.example.org\n192.0.2.2 x.inner.example.org\n";
    let found = |name: &str| in_hosts(table, &name.parse().unwrap());
    let expected: Vec<IpAddr> = vec!["192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap()];
    assert_eq!(found("inner.example.org"), expected);
    assert!(found("other.example.org").is_empty() && found("example.org").is_empty());
}

/// All that a sandbox gets now.
async fn all_of(sandbox: &Recent, places: &Places) -> Vec<[tokio::sync::OwnedSemaphorePermit; 2]> {
    let mut held = Vec::new();
    let soon = Duration::from_millis(1);
    while let Ok(Some(place)) = tokio::time::timeout(soon, sandbox.turns.take(places)).await {
        held.push(place);
    }
    held
}

#[tokio::test(start_paused = true)]
async fn sandboxes_that_look_up_all_they_can_leave_a_place_to_others() {
    let places = Places::new(FIRST_AT_ONCE, MORE_AT_ONCE);
    let mut greedy = Vec::new();
    for number in 1..FIRST_AT_ONCE {
        let sandbox = Recent::default();
        let held = all_of(&sandbox, &places).await;
        assert!((1..=4).contains(&held.len()), "number {number} has {}", held.len());
        greedy.push((sandbox, held));
    }
    assert_eq!(all_of(&Recent::default(), &places).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_finds_no_place_hears_of_it_soon() {
    let resolver = Resolver::new(Resolution::Servers(Vec::new()));
    let sandbox = Recent::default();
    let _held = all_of(&sandbox, &resolver.places).await;
    let told = resolver.lookup(&"a.example.org".parse().unwrap(), &sandbox).await.unwrap_err();
    assert!(told.contains("try again later"), "{told}");
}

#[tokio::test]
async fn a_place_is_held_for_as_long_as_the_host_is_asked() {
    let (places, sandbox) = (Places::new(1, 0), Arc::new(Recent::default()));
    let place = sandbox.turns.take(&places).await.unwrap();
    let (go_on, waits) = std::sync::mpsc::channel::<()>();
    let asking = holding(place, move || {
        let _ = waits.recv();
        Ok(())
    });
    // Whoever wanted to know has given up.
    assert!(tokio::time::timeout(Duration::from_millis(10), asking).await.is_err());
    assert_eq!(places.first.available_permits(), 0);
    drop(go_on);
    drop(places.first.acquire().await.unwrap());
}
