//! Of a value no more than a few letters come through, however it is cut; everything else does.

use std::sync::Arc;

use tokio::io::AsyncReadExt;

use super::super::search::Search;
use super::Watched;

async fn read(text: &[u8], piece: usize) -> (Vec<u8>, bool) {
    let (outside, inside) = tokio::io::duplex(piece);
    let text = text.to_vec();
    tokio::spawn(async move {
        let mut outside = outside;
        let _ = tokio::io::AsyncWriteExt::write_all(&mut outside, &text).await;
    });
    let search = Arc::new(Search::new([(b"s3cret".to_vec(), Vec::new())]));
    let mut all = Vec::new();
    let ended = Watched::searched(inside, search).read_to_end(&mut all).await;
    (all, ended.is_ok())
}

#[tokio::test]
async fn it_ends_before_a_value() {
    for piece in [1, 2, 3, 5, 64] {
        assert_eq!(read(b"hello s3cre s3cre+", piece).await, (b"hello s3cre s3cre+".to_vec(), true));
        let (came, is_whole) = read(b"hello s3cret and more", piece).await;
        assert!(!is_whole && b"hello s3c".starts_with(&came), "{piece}: {}", String::from_utf8_lossy(&came));
    }
}

/// What only begins like one is not waited for: the rest may come when somebody has answered.
#[tokio::test]
async fn a_message_that_ends_like_a_value_begins_is_not_held_back() {
    let (mut outside, inside) = tokio::io::duplex(64);
    let search = Arc::new(Search::new([(b"s3cret".to_vec(), Vec::new())]));
    let mut watched = Watched::searched(inside, search);
    tokio::io::AsyncWriteExt::write_all(&mut outside, b"yes").await.unwrap();
    let mut heard = [0; 3];
    watched.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"yes");
}
