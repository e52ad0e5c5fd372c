//! What one sandbox cannot have by doing the same many times, or in another form.

use std::time::Duration;

use crate::proxy::status;
use crate::support::{World, listening, within};
use sandgate_core::network::{NetworkCeiling, NetworkLimits, NetworkPolicy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn a_denied_range_is_denied_in_translated_forms() {
    let world = World::start().await;
    let deny = vec!["8.8.8.0/24".parse().unwrap()];
    let ceiling = NetworkCeiling { deny: deny.clone(), ..NetworkCeiling::unbounded() };
    let limits = NetworkLimits::default();
    let by_ceiling = world.sandbox_under(&NetworkPolicy::open(), limits, vec![ceiling]);
    let by_rule = world.sandbox_with(&NetworkPolicy::allow_then_deny(Vec::new(), deny), limits);
    for form in ["8.8.8.8", "[64:ff9b::808:808]", "[2002:808:808::1]"] {
        let (_, answer) = by_ceiling.connect(&format!("{form}:443")).await;
        assert!(status(&answer) == "403" && answer.contains("Only the operator"), "{answer}");
        let (_, answer) = by_rule.connect(&format!("{form}:443")).await;
        assert!(status(&answer) == "403" && answer.contains("8.8.8.0/24"), "{answer}");
    }
}

#[tokio::test]
async fn who_opens_all_it_can_from_inside_leaves_places_to_others() {
    let mut world = World::start().await;
    world.bound_to(16);
    let (greedy, other) = (world.sandbox(), world.sandbox());
    let mut held = Vec::new();
    for _ in 0..64 {
        held.push(TcpStream::connect(greedy.proxy).await.unwrap());
    }
    // Those that are served are served by now.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let target = format!("a.allowed.test:{}", world.http_port());
    // Before those that say nothing have to go.
    let soon = tokio::time::timeout(Duration::from_secs(15), other.connect(&target)).await;
    let (_, answer) = soon.expect("there is no place");
    assert_eq!(status(&answer), "200", "{answer}");
}

/// An idle tunnel beside one that uses up the bytes of both.
#[tokio::test]
async fn idle_connections_end_with_the_last_byte() {
    let world = World::start().await;
    let (server, _heard) = listening().await;
    let target = format!("a.allowed.test:{}", server.port());
    let policy = NetworkPolicy::from_words([target.as_str()]).unwrap();
    let limits = NetworkLimits { bytes: Some(100_000), ..NetworkLimits::default() };
    let inside = world.sandbox_with(&policy, limits);
    let (mut idle, answer) = inside.connect(&target).await;
    assert_eq!(status(&answer), "200", "{answer}");
    idle.write_all(b"\xffhello\n").await.unwrap();
    let (mut busy, _) = inside.connect(&target).await;
    let _ = busy.write_all(&[0xff; 200_000]).await;
    let ended = within(idle.read(&mut [0; 10])).await;
    assert!(ended.is_err(), "it ends as what is cut off does");
    assert!(inside.denials(2).await.iter().all(|why| why.contains("used up")));
}
