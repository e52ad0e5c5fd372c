//! A connection pays for what its sandbox has had, over whichever connections that was.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use sandgate_core::network::NetworkLimits;
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, duplex};

use super::{Metered, Pace};
use crate::meter::{Answer, Meter};

fn slow(bytes_per_second: u64) -> NetworkLimits {
    NetworkLimits { bytes_per_second: Some(bytes_per_second), ..NetworkLimits::default() }
}

fn connection(meter: &Arc<Meter>, limits: NetworkLimits) -> (Metered<DuplexStream>, DuplexStream) {
    let (ours, theirs) = duplex(1 << 20);
    (Metered::new(ours, Arc::clone(meter), Arc::default(), limits), theirs)
}

/// Until the sandbox has to wait.
fn use_up(meter: &Meter, limits: &NetworkLimits) {
    while let Answer::Granted(piece) = meter.ask(1 << 20, limits) {
        meter.settle(piece, piece, limits);
    }
}

#[tokio::test]
async fn a_new_connection_waits_for_what_others_have_had() {
    // So slow that nothing becomes free while the test runs.
    let (meter, limits) = (Arc::<Meter>::default(), slow(10));
    use_up(&meter, &limits);
    let spent = meter.spent();
    for _ in 0..10 {
        let (mut one, mut theirs) = connection(&meter, limits);
        theirs.write_all(b"hello").await.unwrap();
        let wrote = poll_fn(|cx| Poll::Ready(Pin::new(&mut one).poll_write(cx, b"hello").is_ready())).await;
        assert!(!wrote, "without a wait");
        let mut bytes = [0; 5];
        let read = poll_fn(|cx| {
            let mut buffer = tokio::io::ReadBuf::new(&mut bytes);
            Poll::Ready(tokio::io::AsyncRead::poll_read(Pin::new(&mut one), cx, &mut buffer).is_ready())
        });
        assert!(!read.await, "without a wait");
    }
    assert_eq!(meter.spent(), spent);
}

#[tokio::test]
async fn a_large_piece_is_cut() {
    let (meter, limits) = (Arc::<Meter>::default(), slow(100_000));
    let (mut one, mut theirs) = connection(&meter, limits);
    let wrote = one.write(&vec![0; 1 << 19]).await.unwrap();
    assert!((1..=10_000).contains(&wrote), "{wrote}");
    theirs.write_all(&vec![7; 1 << 19]).await.unwrap();
    let mut bytes = vec![0; 1 << 19];
    let read = one.read(&mut bytes).await.unwrap();
    assert!((1..=10_000).contains(&read) && bytes[read - 1] == 7, "{read}");
    assert_eq!(meter.spent(), (wrote + read) as u64);
}

#[tokio::test]
async fn who_is_idle_ends_with_the_last_byte_of_another() {
    let limits = NetworkLimits { bytes: Some(1000), ..NetworkLimits::default() };
    let meter = Arc::<Meter>::default();
    let (mut idle, _theirs) = connection(&meter, limits);
    let reading = tokio::spawn(async move { idle.read(&mut [0; 10]).await.unwrap_err().kind() });
    tokio::task::yield_now().await;
    let mut other = Pace::new(Arc::clone(&meter), limits);
    let granted = other.grant(1 << 20).await.unwrap();
    assert_eq!(granted, 1000);
    other.settle(1000, 1000);
    assert_eq!(reading.await.unwrap(), ErrorKind::QuotaExceeded);
    assert_eq!(other.grant(1).await.unwrap_err().kind(), ErrorKind::QuotaExceeded);
}
