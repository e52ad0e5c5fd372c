//! A connection ends before a value; everything else comes through.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::search::Search;
use super::Watched;

async fn read(text: &[u8], piece: usize) -> (Vec<u8>, bool) {
    let (mut outside, inside) = tokio::io::duplex(piece);
    let text = text.to_vec();
    tokio::spawn(async move {
        let _ = outside.write_all(&text).await;
    });
    let search = Arc::new(Search::new([(b"s3cret-value".to_vec(), Vec::new())]));
    let mut all = Vec::new();
    let ended = Watched::searched(inside, search).read_to_end(&mut all).await;
    (all, ended.is_ok())
}

#[tokio::test]
async fn it_ends_before_a_value() {
    for piece in [1, 2, 3, 5, 64] {
        let (hello, told) = (b"\x81\x0bs3cret-valu", b"\x81\x0cs3cret-value");
        assert_eq!(read(hello, piece).await, (hello.to_vec(), true));
        let (came, is_whole) = read(&[&hello[..], told].concat(), piece).await;
        assert!(!is_whole && hello.starts_with(&came), "{piece}: {}", String::from_utf8_lossy(&came));
        assert_eq!(read(&told[..8], piece).await, (Vec::new(), true), "what is not whole is not told");
    }
}
