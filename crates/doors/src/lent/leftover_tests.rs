use super::*;

use std::convert::Infallible;

use futures_util::stream;
use tokio::sync::mpsc;

/// A body of so many pieces of a mebibyte, and a channel that hears of each that was read.
fn body(pieces: usize) -> (Body, mpsc::UnboundedReceiver<usize>) {
    let (told, heard) = mpsc::unbounded_channel();
    let all = stream::iter(0..pieces).map(move |at| {
        let _ = told.send(at);
        Ok::<_, Infallible>(Bytes::from(vec![0; 1 << 20]))
    });
    (Body::from_stream(all), heard)
}

async fn count(mut heard: mpsc::UnboundedReceiver<usize>) -> usize {
    let mut count = 0;
    while heard.recv().await.is_some() {
        count += 1;
    }
    count
}

#[tokio::test]
async fn what_nobody_read_is_read_up_to_a_bound() {
    let (few, heard) = body(3);
    drop(read_to_the_end(few));
    assert_eq!(count(heard).await, 3);
    let (many, heard) = body(100);
    drop(read_to_the_end(many));
    assert_eq!(count(heard).await, (MOST >> 20) + 1);
}

#[tokio::test]
async fn the_body_itself_is_as_it_was() {
    let (few, heard) = body(3);
    let whole = axum::body::to_bytes(read_to_the_end(few), usize::MAX).await.unwrap();
    assert_eq!((whole.len(), count(heard).await), (3 << 20, 3));
}
