//! Bytes move between connections, and a pipe with bytes in it is nobody else's.

use std::sync::atomic::Ordering;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Filled, MOST, Pipes};

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (near, listener.accept().await.unwrap().0)
}

#[tokio::test]
async fn bytes_move_from_one_connection_to_the_other() {
    let ((mut near, from), (to, mut far)) = (pair().await, pair().await);
    near.write_all(b"hello").await.unwrap();
    let pipes = Pipes::default();
    let mut pipe = pipes.borrow().unwrap();
    from.readable().await.unwrap();
    assert_eq!(pipe.fill(&from, 3).unwrap(), Filled::Moved(3));
    pipe.empty(&to).await.unwrap();
    from.readable().await.unwrap();
    assert_eq!(pipe.fill(&from, 100).unwrap(), Filled::Moved(2));
    pipe.empty(&to).await.unwrap();
    let mut got = [0; 5];
    far.read_exact(&mut got).await.unwrap();
    assert_eq!(&got, b"hello");
    drop(near);
    from.readable().await.unwrap();
    assert_eq!(pipe.fill(&from, 100).unwrap(), Filled::Moved(0), "the end");
}

#[tokio::test]
async fn what_is_left_in_a_pipe_goes_nowhere_else() {
    let (mut near, from) = pair().await;
    near.write_all(b"secret").await.unwrap();
    let pipes = Pipes::default();
    let mut pipe = pipes.borrow().unwrap();
    from.readable().await.unwrap();
    assert_eq!(pipe.fill(&from, 100).unwrap(), Filled::Moved(6));
    drop(pipe);
    assert!(pipes.kept.lock().unwrap().is_empty());
    drop(pipes.borrow().unwrap());
    assert_eq!(pipes.kept.lock().unwrap().len(), 1);
}

#[test]
fn there_are_so_many_and_no_more() {
    let pipes = Pipes::default();
    // As if others had all but one: an ordinary user may not open so many large ones.
    pipes.lent.store(MOST - 1, Ordering::Release);
    let last = pipes.borrow().unwrap();
    assert!(pipes.borrow().is_none());
    drop(last);
    assert!(pipes.borrow().is_some(), "who found none has not taken its place");
}
