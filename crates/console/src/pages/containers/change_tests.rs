//! What is lent is changed with its lease.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use sandgate_core::{ContainerState, Lease, LeaseState, NewContainer, NewLease, OnEnd, Owner, now_ms};
use serde_json::json;

use super::*;
use crate::testing::TestConsole;

struct House {
    console: TestConsole,
    cookie: String,
    csrf: String,
}

impl House {
    async fn new() -> Self {
        let console = TestConsole::new(None).await;
        let page = console.get("/console/containers", "").await;
        let (cookie, csrf) = (page.cookie(), page.csrf());
        Self { console, cookie, csrf }
    }

    async fn lend(&self) -> Arc<Lease> {
        let container = NewContainer { owner: Owner::of_key("ann"), ..NewContainer::default() };
        let new = NewLease {
            id: "lent".to_owned(),
            door: "e2b",
            metadata: BTreeMap::new(),
            lasts_ms: Some(60_000),
            on_end: OnEnd::Delete,
            wakes: false,
            ends_paused: false,
            details: json!({}),
            container,
        };
        self.console.console.parts().leases.grant(new).await.unwrap()
    }

    async fn change(&self, what: &str, lease: &Lease) -> (StatusCode, String) {
        let path = path(what, lease.container.as_str(), true);
        let answer = self.console.post(&path, &self.cookie, &format!("csrf={}", self.csrf)).await;
        (answer.status, answer.header("location"))
    }

    fn lease(&self) -> Option<Arc<Lease>> {
        self.console.console.parts().leases.find("e2b", "lent").ok()
    }
}

#[tokio::test]
async fn a_lease_knows_what_was_done_to_its_container_by_hand() {
    let house = House::new().await;
    let lease = house.lend().await;
    let its_page = link(lease.container.as_str());
    assert_eq!(house.change("pause", &lease).await, (StatusCode::SEE_OTHER, its_page.clone()));
    assert_eq!(house.lease().unwrap().state, LeaseState::Paused);
    assert_eq!(house.change("pause", &lease).await.0, StatusCode::CONFLICT);

    assert_eq!(house.change("resume", &lease).await, (StatusCode::SEE_OTHER, its_page));
    let resumed = house.lease().unwrap();
    assert_eq!(resumed.state, LeaseState::Running);
    assert!(resumed.ends_ms.unwrap() > now_ms() + RESUMED_FOR_MS / 2, "{resumed:?}");

    assert_eq!(house.change("sell", &lease).await.0, StatusCode::NOT_FOUND);
    assert_eq!(house.change("delete", &lease).await, (StatusCode::SEE_OTHER, PATH.to_owned()));
    assert_eq!(house.lease(), None);
    assert_eq!(house.change("delete", &lease).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_is_not_lent_is_changed_itself() {
    let house = House::new().await;
    let lease = house.lend().await;
    let containers = &house.console.console.parts().containers;
    let own = containers.create(NewContainer::default()).await.unwrap();
    let answer = house
        .console
        .post(&path("pause", own.id().as_str(), false), &house.cookie, &format!("csrf={}", house.csrf))
        .await;
    assert_eq!(answer.header("location"), PATH);
    assert_eq!(own.info().await.unwrap().state, ContainerState::Paused);
    assert_eq!(house.lease().unwrap().state, lease.state);
}
