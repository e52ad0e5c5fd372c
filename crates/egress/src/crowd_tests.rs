//! Connections of sandboxes leave descriptors to everything else.

use super::{Crowd, fitting};

#[test]
fn a_server_with_few_descriptors_keeps_some_of_them() {
    for (limit, files, expected) in [
        (4096, Some(1024), 256),
        (4096, Some(20_000), 4096),
        (4096, None, 4096),
        (100, Some(2), 1),
        (1, Some(0), 1),
    ] {
        assert_eq!(fitting(limit, files), expected, "{limit} of {files:?}");
    }
}

#[tokio::test]
async fn one_sandbox_leaves_places_from_inside_to_others() {
    let crowd = Crowd::of(fitting(4096, Some(64)));
    let mut held = Vec::new();
    for _ in 0..crowd.share() {
        held.extend(crowd.served().await);
    }
    assert_eq!((crowd.served.available_permits(), held.len()), (24, 8));
    assert_eq!((Crowd::of(1).share(), Crowd::of(4096).share()), (8, 2048));
}

#[tokio::test]
async fn all_places_together_stay_below_what_may_be_open() {
    let crowd = Crowd::of(fitting(4096, Some(1024)));
    let outside: Vec<_> = std::iter::from_fn(|| crowd.connection()).collect();
    let mut held = Vec::new();
    while crowd.served.available_permits() > 0 {
        held.extend(crowd.served().await);
    }
    assert_eq!((crowd.limit, outside.len() + held.len()), (256, 768));
}
