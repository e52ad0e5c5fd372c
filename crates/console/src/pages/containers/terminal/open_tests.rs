//! Who finds which terminal, and who makes room.

use sandgate_core::{Owner, Principal};

use super::*;
use crate::visitor::Csrf;

fn visitor(csrf: &str) -> Visitor {
    let principal = Principal::open(Owner::anonymous());
    Visitor { principal, csrf: Csrf(csrf.to_owned()), session: None, theme: None, held: 0 }
}

#[test]
fn only_the_session_that_opened_it_finds_it_and_only_in_its_container() {
    let terminals = Terminals::default();
    let container = ContainerId::random();
    let place = terminals.begin(&container, &visitor("ann")).unwrap();
    assert!(terminals.find(&place.id, &container, &visitor("ann")).is_some());
    assert!(terminals.find(&place.id, &container, &visitor("bob")).is_none());
    assert!(terminals.find(&place.id, &ContainerId::random(), &visitor("ann")).is_none());
    assert!(terminals.find("another", &container, &visitor("ann")).is_none());
    let id = place.id.clone();
    drop(place);
    assert!(terminals.find(&id, &container, &visitor("ann")).is_none());
}

#[test]
fn those_that_nobody_looks_at_make_room_the_oldest_first() {
    let terminals = Terminals::default();
    let container = ContainerId::random();
    let begin = || terminals.begin(&container, &visitor("ann"));
    let mut places: Vec<Place> = (0..MOST).map(|_| begin().unwrap()).collect();
    assert!(matches!(begin(), Err(Problem::Conflict(_))));
    places[5].set_alone(true);
    places[2].set_alone(true);
    places[2].set_alone(false);
    places[3].set_alone(true);
    let more = begin().unwrap();
    // It is told to end: its place among the others is gone.
    assert!(matches!(places[5].pages.try_recv(), Err(mpsc::error::TryRecvError::Disconnected)));
    assert!(matches!(places[3].pages.try_recv(), Err(mpsc::error::TryRecvError::Empty)));
    drop((places, more));
    assert!(begin().is_ok());
}
