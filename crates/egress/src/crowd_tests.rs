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
async fn all_places_together_stay_below_what_may_be_open() {
    let crowd = Crowd::of(fitting(4096, Some(1024)));
    let mut held = Vec::new();
    held.extend(std::iter::from_fn(|| crowd.connection()));
    while crowd.served.available_permits() > 0 {
        held.extend(crowd.served().await);
    }
    assert_eq!((crowd.limit, held.len()), (256, 768));
}
