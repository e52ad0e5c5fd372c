use super::*;

#[test]
fn nobody_has_all_tunnels() {
    let tunnels = Tunnels::default();
    let (ann, bob) = (Owner::of_key("ann"), Owner::of_key("bob"));
    let mut rooms: Vec<_> = (0..MOST_OF_AN_OWNER).map(|_| tunnels.enter(&ann).unwrap()).collect();
    assert!(tunnels.enter(&ann).is_none());
    assert!(tunnels.enter(&bob).is_some());
    rooms.pop();
    assert!(tunnels.enter(&ann).is_some());
    drop(rooms);
    assert!(lock(&tunnels.by_owner).is_empty());
}
