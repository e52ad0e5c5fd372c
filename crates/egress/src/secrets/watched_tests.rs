//! A value does not come through whole, however it is cut; everything else does.

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
        assert!(!is_whole && !String::from_utf8_lossy(&came).contains("s3cret"), "{piece}");
    }
}
