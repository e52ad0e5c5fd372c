//! Both directions, their ends, what they cost, and what must not come late.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::net::{SendFlags, send};
use sandgate_core::network::NetworkLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::{Account, Watch, break_off, relay};
use crate::urgent::urgent_as_usual;

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (near, listener.accept().await.unwrap().0)
}

struct Between {
    inside: TcpStream,
    outside: TcpStream,
    account: Arc<Account>,
    relaying: JoinHandle<std::io::Result<()>>,
}

async fn between(head: &'static [u8], watch: Watch, limits: NetworkLimits) -> Between {
    let ((inside, ours), (theirs, outside)) = (pair().await, pair().await);
    urgent_as_usual(&ours);
    urgent_as_usual(&theirs);
    let account = Account { meter: Arc::default(), counts: Arc::default(), limits, pipes: Arc::default() };
    let account = Arc::new(account);
    let kept = Arc::clone(&account);
    let relaying = tokio::spawn(async move {
        let ended = relay(&ours, &theirs, head, watch, &kept).await;
        if ended.is_err() {
            break_off(&ours);
            break_off(&theirs);
        }
        ended
    });
    Between { inside, outside, account, relaying }
}

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| u8::try_from(at * 31 % 251).unwrap()).collect()
}

#[tokio::test]
async fn much_passes_both_ways_unchanged_and_is_counted() {
    let Between { inside, outside, account, relaying } =
        between(b"head", Watch::No, NetworkLimits::default()).await;
    let (up, down) = (content(3_000_000), content(5_000_001));
    let (mut inside_reads, mut inside_writes) = inside.into_split();
    let (mut outside_reads, mut outside_writes) = outside.into_split();
    let sending = async {
        inside_writes.write_all(&up).await.unwrap();
        // One way ends, the other goes on.
        inside_writes.shutdown().await.unwrap();
        let mut got = Vec::new();
        outside_reads.read_to_end(&mut got).await.unwrap();
        assert!(got[4..] == up && got.starts_with(b"head"));
        outside_writes.write_all(&down).await.unwrap();
        outside_writes.shutdown().await.unwrap();
    };
    let mut got = Vec::new();
    let (_, read) = tokio::join!(sending, inside_reads.read_to_end(&mut got));
    read.unwrap();
    assert!(got == down);
    relaying.await.unwrap().unwrap();
    assert_eq!(account.counts.sent.load(Ordering::Relaxed), 3_000_004);
    assert_eq!(account.counts.received.load(Ordering::Relaxed), 5_000_001);
    assert_eq!(account.meter.spent(), 8_000_005);
}

#[tokio::test]
async fn no_byte_more_than_is_allowed() {
    let limits = NetworkLimits { bytes: Some(1_000_003), ..NetworkLimits::default() };
    let Between { mut inside, mut outside, account, relaying } = between(b"", Watch::No, limits).await;
    let writing = tokio::spawn(async move { outside.write_all(&content(4_000_000)).await });
    let mut got = Vec::new();
    let _ = inside.read_to_end(&mut got).await;
    assert!(got.len() <= 1_000_003, "{}", got.len());
    assert_eq!(relaying.await.unwrap().unwrap_err().kind(), ErrorKind::QuotaExceeded);
    assert_eq!(account.meter.spent(), 1_000_003);
    let _ = writing.await;
}

#[tokio::test]
async fn who_is_idle_ends_when_others_have_used_up_the_bytes() {
    let limits = NetworkLimits { bytes: Some(1000), ..NetworkLimits::default() };
    let Between { mut inside, mut outside, account, relaying } = between(b"", Watch::No, limits).await;
    inside.write_all(b"hello").await.unwrap();
    outside.read_exact(&mut [0; 5]).await.unwrap();
    // Until it has seen that there is no more.
    tokio::time::sleep(Duration::from_millis(20)).await;
    account.meter.settle(0, 995, &limits);
    let ended = tokio::time::timeout(Duration::from_secs(20), relaying).await.expect("it goes on");
    assert_eq!(ended.unwrap().unwrap_err().kind(), ErrorKind::QuotaExceeded);
    assert!(inside.read(&mut [0; 10]).await.is_err());
    assert_eq!(account.counts.sent.load(Ordering::Relaxed), 5);
}

#[tokio::test]
async fn who_waited_long_gets_what_is_left_then() {
    let limits = NetworkLimits { bytes: Some(1000), ..NetworkLimits::default() };
    let Between { mut inside, mut outside, account, relaying } = between(b"", Watch::No, limits).await;
    // It waits for bytes already.
    tokio::task::yield_now().await;
    account.meter.settle(0, 990, &limits);
    outside.write_all(&content(5000)).await.unwrap();
    let mut got = Vec::new();
    let _ = inside.read_to_end(&mut got).await;
    assert!(got.len() <= 10, "{}", got.len());
    assert!(relaying.await.unwrap().is_err());
    assert_eq!(account.meter.spent(), 1000);
}

#[tokio::test]
async fn who_is_gone_is_noticed_although_it_had_said_all() {
    for theirs_first in [false, true] {
        let Between { inside, outside, account: _account, relaying } =
            between(b"", Watch::No, NetworkLimits::default()).await;
        let (mut gone, mut silent) = if theirs_first { (outside, inside) } else { (inside, outside) };
        gone.shutdown().await.unwrap();
        assert_eq!(silent.read(&mut [0; 10]).await.unwrap(), 0, "its end is passed on");
        break_off(&gone);
        drop(gone);
        let ended = tokio::time::timeout(Duration::from_secs(20), relaying).await.expect("it goes on");
        assert!(ended.unwrap().is_err());
    }
}

#[tokio::test]
async fn urgent_data_is_data() {
    let Between { mut inside, mut outside, account: _account, relaying: _relaying } =
        between(b"", Watch::No, NetworkLimits::default()).await;
    // So that the kernel moves what follows.
    let much = content(2_000_000);
    let sending = tokio::spawn(async move {
        outside.write_all(&much).await.unwrap();
        outside.writable().await.unwrap();
        send(&outside, b"urgent", SendFlags::OOB).unwrap();
        outside.write_all(b", and on").await.unwrap();
        outside
    });
    let mut got = vec![0; 2_000_014];
    let reading = tokio::time::timeout(Duration::from_secs(20), inside.read_exact(&mut got));
    reading.await.expect("it stands still").unwrap();
    assert_eq!(String::from_utf8_lossy(&got[2_000_000..]), "urgent, and on");
    drop(sending.await.unwrap());
}

#[tokio::test]
async fn who_is_cut_off_hears_of_it() {
    let Between { mut inside, outside, relaying, .. } =
        between(b"", Watch::No, NetworkLimits::default()).await;
    break_off(&outside);
    drop(outside);
    let read = inside.read(&mut [0; 10]).await;
    assert_eq!(read.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert!(relaying.await.unwrap().is_err());
}

#[tokio::test]
async fn a_request_that_comes_late_is_not_sent() {
    for (seen, late) in [
        (&b"GE"[..], &b"T / HTTP/1.1\r\nHost: other\r\n\r\n"[..]),
        (b"", b"GET / HTTP/1.1\r\n"),
        (b"", b"\x16\x03\x01\x00\x05hello"),
        // A warning before a hello, and a hello of another version.
        (b"", b"\x15\x03\x01\x00\x02\x01\x5a\x16\x03\x01"),
        (b"", b"\x16\x02\x01\x00\x05\x01"),
    ] {
        let watch = Watch::for_requests(seen.to_vec());
        let Between { mut inside, mut outside, relaying, .. } =
            between(seen, watch, NetworkLimits::default()).await;
        inside.write_all(late).await.unwrap();
        let mut got = Vec::new();
        let _ = outside.read_to_end(&mut got).await;
        assert!(seen.starts_with(&got), "{}", String::from_utf8_lossy(&got));
        assert_eq!(relaying.await.unwrap().unwrap_err().kind(), ErrorKind::PermissionDenied);
    }
}

#[tokio::test]
async fn what_is_no_request_passes_in_pieces() {
    let watch = Watch::for_requests(b"G".to_vec());
    let Between { mut inside, mut outside, .. } = between(b"G", watch, NetworkLimits::default()).await;
    let mut got = [0; 3];
    outside.read_exact(&mut got[..1]).await.unwrap();
    inside.write_all(b"o").await.unwrap();
    outside.read_exact(&mut got[1..2]).await.unwrap();
    inside.write_all(b"\n").await.unwrap();
    outside.read_exact(&mut got[2..]).await.unwrap();
    assert_eq!(&got, b"Go\n");
    // From here on it is known to be something else.
    inside.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    outside.read_exact(&mut got).await.unwrap();
    assert_eq!(&got, b"GET");
}
