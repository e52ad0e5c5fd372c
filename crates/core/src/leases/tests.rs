//! Lent, extended, paused, ended when due; and there again after the server was.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use serde_json::json;

use super::*;
use crate::testing::ScriptedBackend;
use crate::{ContainersConfig, MemoryRegistry, NewContainer, Registry};

const DOOR: &str = "e2b";

struct House {
    backend: Arc<ScriptedBackend>,
    records: Arc<MemoryRegistry>,
    registry: Arc<MemoryLeases>,
    containers: Arc<Containers>,
    leases: Arc<Leases>,
}

impl House {
    async fn new() -> Self {
        Self::over(Arc::default(), Arc::default(), Arc::default()).await
    }

    async fn over(
        backend: Arc<ScriptedBackend>,
        records: Arc<MemoryRegistry>,
        registry: Arc<MemoryLeases>,
    ) -> Self {
        let kept = Arc::clone(&records) as Arc<dyn Registry>;
        let containers = Containers::open(Arc::clone(&backend) as _, kept, ContainersConfig::default()).await;
        let containers = Arc::new(containers.unwrap());
        let leases = Leases::open(Arc::clone(&containers), Arc::clone(&registry) as _).await.unwrap();
        Self { backend, records, registry, containers, leases: Arc::new(leases) }
    }

    async fn restarted(self) -> Self {
        Self::over(self.backend, self.records, self.registry).await
    }

    async fn grant(&self, id: &str, lasts_ms: Option<u64>, on_end: OnEnd) -> Arc<Lease> {
        let container = NewContainer { owner: ann(), ..NewContainer::default() };
        let metadata = BTreeMap::from([("name".to_owned(), id.to_owned())]);
        let (id, details) = (id.to_owned(), json!({"token": "t"}));
        let new = NewLease {
            id,
            door: DOOR,
            metadata,
            lasts_ms,
            on_end,
            wakes: false,
            ends_paused: false,
            details,
            container,
        };
        self.leases.grant(new).await.unwrap()
    }

    fn deleted(&self) -> usize {
        self.backend.deleted.load(Ordering::SeqCst)
    }
}

fn ann() -> Owner {
    Owner::of_key("ann")
}

fn is_missing<T>(found: &Result<T>) -> bool {
    matches!(found, Err(LeaseError::NotFound))
}

#[tokio::test]
async fn a_lease_is_its_owners_and_its_doors_alone() {
    let house = House::new().await;
    let lease = house.grant("a", Some(60_000), OnEnd::Delete).await;
    assert_eq!(house.leases.get(DOOR, &ann(), "a").unwrap(), lease);
    assert_eq!(lease.ends_ms, Some(lease.started_ms + 60_000));
    assert!(is_missing(&house.leases.get(DOOR, &Owner::of_key("bob"), "a")));
    assert!(is_missing(&house.leases.get("opensandbox", &ann(), "a")));
    assert!(is_missing(&house.leases.find("opensandbox", "a")));
    assert!(house.leases.find(DOOR, "a").is_ok());
    assert!(house.leases.list(DOOR, &Owner::of_key("bob")).is_empty());
    assert_eq!(house.leases.list(DOOR, &ann()), [Arc::clone(&lease)]);
    assert_eq!(house.leases.lent(&lease.container), Some(lease));
    assert_eq!(house.leases.lent(&crate::ContainerId::random()), None);
}

#[tokio::test]
async fn a_copy_has_the_files_of_then_and_outlives_what_it_is_a_copy_of() {
    let house = House::new().await;
    let lease = house.grant("a", Some(60_000), OnEnd::Delete).await;
    let path = crate::SandboxPath::parse("/mnt/data/kept").unwrap();
    let files = house.leases.container(&lease).unwrap().files().await.unwrap();
    files.write(&path, &mut &b"kept"[..]).await.unwrap();
    let new = |id: &str, unlisted| NewLease {
        id: id.to_owned(),
        door: DOOR,
        metadata: BTreeMap::new(),
        lasts_ms: None,
        on_end: OnEnd::Delete,
        wakes: false,
        ends_paused: false,
        details: json!({}),
        container: NewContainer { owner: ann(), unlisted, ..NewContainer::default() },
    };
    let still = house.leases.grant_copy(new("still", true), &lease, LeaseState::Paused).await.unwrap();
    let state = house.leases.container(&still).unwrap().info().await.unwrap().state;
    assert_eq!(state, crate::ContainerState::Asleep);
    files.write(&path, &mut &b"more than that"[..]).await.unwrap();
    house.leases.delete("a").await.unwrap();
    assert!(is_missing(&house.leases.grant_copy(new("none", false), &lease, LeaseState::Running).await));

    let house = house.restarted().await;
    let still = house.leases.get(DOOR, &ann(), "still").unwrap();
    let runs = house.leases.grant_copy(new("runs", false), &still, LeaseState::Running).await.unwrap();
    let container = house.leases.container(&runs).unwrap();
    assert_eq!(container.info().await.unwrap().state, crate::ContainerState::Running);
    assert_eq!(container.files().await.unwrap().stat(&path).await.unwrap().size, 4);
    let listed = house.containers.list(&ann()).await;
    assert_eq!(listed.iter().map(|info| &info.id).collect::<Vec<_>>(), [container.id()]);
}

#[tokio::test]
async fn what_is_over_is_gone_before_and_after_it_is_cleared_away() {
    let house = House::new().await;
    house.grant("over", Some(0), OnEnd::Delete).await;
    house.grant("stays", Some(60_000), OnEnd::Delete).await;
    house.grant("endless", None, OnEnd::Delete).await;
    assert!(is_missing(&house.leases.find(DOOR, "over")));
    assert_eq!(house.deleted(), 0);
    house.leases.end_due().await;
    house.leases.settled().await;
    assert_eq!(house.deleted(), 1);
    let ids: Vec<_> = house.leases.list(DOOR, &ann()).iter().map(|lease| lease.id.clone()).collect();
    assert_eq!(ids.len(), 2);
    assert!(!ids.contains(&"over".to_owned()));
    assert_eq!(house.registry.leases().await.unwrap().len(), 2);
}

#[tokio::test]
async fn an_end_moves_but_extending_never_shortens() {
    let house = House::new().await;
    let start = house.grant("a", Some(60_000), OnEnd::Delete).await.started_ms;
    let extended = house.leases.extend_to("a", start + 1000).await.unwrap();
    assert_eq!(extended.ends_ms, Some(start + 60_000));
    let extended = house.leases.extend_to("a", start + 90_000).await.unwrap();
    assert_eq!(extended.ends_ms, Some(start + 90_000));
    let shortened = house.leases.set_end("a", Some(start + 5000)).await.unwrap();
    assert_eq!(shortened.ends_ms, Some(start + 5000));
    house.leases.set_end("a", None).await.unwrap();
    assert_eq!(house.leases.extend_to("a", start).await.unwrap().ends_ms, None);
}

#[tokio::test]
async fn one_that_pauses_at_its_end_waits_to_be_resumed() {
    let house = House::new().await;
    let lease = house.grant("a", Some(0), OnEnd::Pause).await;
    house.leases.end_due().await;
    house.leases.settled().await;
    let paused = house.leases.find(DOOR, "a").unwrap();
    assert_eq!(paused.state, LeaseState::Paused);
    assert!(matches!(house.leases.pause("a").await, Err(LeaseError::Paused)));
    let container = house.leases.container(&lease).unwrap();
    assert!(matches!(container.sandbox().await, Err(BackendError::Paused)));
    // Paused, it does not end however late it is.
    house.leases.end_due().await;
    house.leases.settled().await;
    let resumed = house.leases.resume("a", Some(now_ms() + 60_000), &KeyLimits::default()).await.unwrap();
    assert_eq!(resumed.state, LeaseState::Running);
    assert!(container.sandbox().await.is_ok());
    let again = house.leases.resume("a", None, &KeyLimits::default()).await;
    assert!(matches!(again, Err(LeaseError::Running)));
}

#[tokio::test]
async fn one_that_is_paused_with_its_files_alone_is_asleep_until_it_is_resumed() {
    let house = House::new().await;
    let asked = house.grant("asked", None, OnEnd::Delete).await;
    let ended = house.grant("ended", Some(0), OnEnd::PauseFiles).await;
    house.leases.pause_files("asked").await.unwrap();
    house.leases.end_due().await;
    house.leases.settled().await;
    for lease in [asked, ended] {
        let container = house.leases.container(&lease).unwrap();
        assert_eq!(container.info().await.unwrap().state, crate::ContainerState::Asleep, "{}", lease.id);
        let paused = house.leases.find(DOOR, &lease.id).unwrap();
        assert!(paused.state == LeaseState::Paused && paused.files_only);
        let resumed = house.leases.resume(&lease.id, None, &KeyLimits::default()).await.unwrap();
        assert!(resumed.state == LeaseState::Running && !resumed.files_only);
        assert!(container.sandbox().await.is_ok());
    }
}

#[tokio::test]
async fn leases_outlive_the_server() {
    let house = House::new().await;
    house.grant("running", Some(60_000), OnEnd::Delete).await;
    house.grant("paused", Some(60_000), OnEnd::Delete).await;
    house.leases.pause("paused").await.unwrap();
    house.leases.set_metadata("paused", BTreeMap::new()).await.unwrap();
    house.leases.change_details("paused", |details| details["more"] = json!(1)).await.unwrap();
    let before = house.leases.list(DOOR, &ann());
    let house = house.restarted().await;
    assert_eq!(house.leases.list(DOOR, &ann()), before);
    // Its processes are gone with the server, its files are not.
    let resumed =
        house.leases.resume("paused", Some(now_ms() + 60_000), &KeyLimits::default()).await.unwrap();
    assert!(house.leases.container(&resumed).unwrap().sandbox().await.is_ok());
}

#[tokio::test]
async fn a_lease_goes_with_its_container_and_the_container_with_its_lease() {
    let house = House::new().await;
    let first = house.grant("first", None, OnEnd::Delete).await;
    let second = house.grant("second", None, OnEnd::Delete).await;
    house.containers.delete(&ann(), &first.container).await.unwrap();
    assert!(is_missing(&house.leases.find(DOOR, "first")));
    house.leases.end_due().await;
    house.leases.settled().await;
    assert_eq!(house.registry.leases().await.unwrap().len(), 1);
    let gone = house.leases.gone("second").unwrap();
    assert!(!*gone.borrow());
    house.leases.delete("second").await.unwrap();
    assert!(*gone.borrow());
    assert!(house.leases.gone("second").is_none());
    assert!(house.containers.get(&ann(), &second.container).is_err());
    assert!(is_missing(&house.leases.delete("second").await));
    assert!(house.registry.leases().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_change_goes_on_when_nobody_waits_for_it() {
    let house = House::new().await;
    house.grant("a", Some(60_000), OnEnd::Delete).await;
    {
        let pausing = house.leases.pause("a");
        tokio::pin!(pausing);
        assert!(futures_now(pausing.as_mut()).is_none());
    }
    house.leases.settled().await;
    assert_eq!(house.leases.find(DOOR, "a").unwrap().state, LeaseState::Paused);
    assert_eq!(house.registry.leases().await.unwrap()[0].state, LeaseState::Paused);
}

/// What it gives at once, if it does.
fn futures_now<T>(work: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match work.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(done) => Some(done),
        std::task::Poll::Pending => None,
    }
}

#[tokio::test]
async fn what_a_door_reads_of_a_lease_is_read_once_and_anew_after_a_change() {
    let house = House::new().await;
    house.grant("a", None, OnEnd::Delete).await;
    let read = |lease: &Lease| lease.details["token"].as_str().unwrap().to_owned();
    let first = house.leases.find(DOOR, "a").unwrap().parsed(read);
    let again = house.leases.find(DOOR, "a").unwrap().parsed(read);
    assert!(Arc::ptr_eq(&first, &again));
    house.leases.change_details("a", |details| details["token"] = json!("u")).await.unwrap();
    assert_eq!(*house.leases.find(DOOR, "a").unwrap().parsed(read), "u");
}

#[tokio::test]
async fn only_so_many_paused_ones_of_an_owner_hold_memory_and_the_oldest_go_first() {
    let house = House::new().await;
    for number in 0..=frozen::MOST {
        house.grant(&format!("i{number}"), None, OnEnd::Delete).await;
        house.leases.pause(&format!("i{number}")).await.unwrap();
    }
    house.leases.settled().await;
    assert_eq!(house.containers.count_live(), frozen::MOST);
    let oldest = house.leases.get(DOOR, &ann(), "i0").unwrap();
    assert_eq!(oldest.state, LeaseState::Paused, "it is paused as before");
    let resumed = house.leases.resume("i0", None, &KeyLimits::default()).await.unwrap();
    assert_eq!(resumed.state, LeaseState::Running);
    assert_eq!(house.containers.count_live(), frozen::MOST + 1, "it was started over its files");
    house.leases.pause("i0").await.unwrap();
    house.leases.settled().await;
    assert_eq!(house.containers.count_live(), frozen::MOST);
    assert!(house.leases.frozen.has(&ann(), "i0"), "now it is the youngest");
}

/// The door that lent it says what it reaches, and would not know of it.
#[tokio::test]
async fn the_network_of_what_is_lent_is_changed_by_its_door_alone() {
    let mut house = House::new().await;
    let lease = house.grant("i1", None, OnEnd::Delete).await;
    for _ in 0..2 {
        let container = house.leases.container(&lease).unwrap();
        let (closed, key) = (Some(crate::network::NetworkPolicy::disabled()), KeyLimits::default());
        let refused = house.containers.set_network(&container, closed.clone(), None, &key).await.unwrap_err();
        assert!(refused.to_string().contains("change its network there"), "{refused}");
        house.containers.set_lent_network(&container, closed.clone(), &key).await.unwrap();
        let own = house.containers.create(NewContainer::default()).await.unwrap();
        house.containers.set_network(&own, closed, None, &key).await.unwrap();
        house = house.restarted().await;
    }
}
