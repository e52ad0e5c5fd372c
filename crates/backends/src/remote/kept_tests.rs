//! Files that the gate keeps for a sandbox that may be lost.

use sandgate_core::{ByteRange, FileStat, SandboxPath};
use tokio::io::AsyncReadExt;

use super::*;

async fn kept(folder: &Path, bytes: u64) -> Kept {
    Kept::open(folder.to_owned(), Bounds { bytes, entries: 10 }).await.unwrap()
}

async fn put(kept: &Kept, path: &str, text: &str) -> Result<()> {
    let draft = kept.draft(path, &mut text.as_bytes()).await?;
    kept.put(path, draft, 0o644, 7).await?;
    kept.save().await
}

async fn text(kept: &Kept, path: &str) -> String {
    let path = SandboxPath::parse(path).unwrap();
    let mut content = kept.read(&path, None).await.unwrap();
    let mut text = String::new();
    content.reader.read_to_string(&mut text).await.unwrap();
    text
}

fn paths(stats: &[FileStat]) -> Vec<&str> {
    stats.iter().map(|stat| stat.path.as_str()).collect()
}

#[tokio::test]
async fn files_are_there_after_a_restart_and_old_contents_go() {
    let folder = tempfile::tempdir().unwrap();
    let first = kept(folder.path(), 100).await;
    put(&first, "/mnt/data/a/b.txt", "one").await.unwrap();
    put(&first, "/mnt/data/a/b.txt", "two").await.unwrap();
    put(&first, "/mnt/data/c", "three").await.unwrap();
    drop(first);
    let again = kept(folder.path(), 100).await;
    assert_eq!(text(&again, "/mnt/data/a/b.txt").await, "two");
    assert_eq!(paths(&again.list("/mnt/data", 1).await.unwrap()), ["/mnt/data/a", "/mnt/data/c"]);
    assert_eq!(
        paths(&again.list("/mnt/data", 5).await.unwrap()),
        ["/mnt/data/a", "/mnt/data/a/b.txt", "/mnt/data/c"]
    );
    assert!(again.forget("/mnt/data/a").await);
    again.save().await.unwrap();
    assert!(matches!(again.stat("/mnt/data/a").await, Err(BackendError::NoSuchFile(_))));
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[tokio::test]
async fn no_more_is_kept_than_the_bounds_allow_and_a_path_is_never_a_file_name() {
    let folder = tempfile::tempdir().unwrap();
    let kept = kept(folder.path(), 10).await;
    put(&kept, "/mnt/data/../../../../etc/x", "12345").await.unwrap();
    assert!(matches!(put(&kept, "/b", "123456").await, Err(BackendError::FileTooLarge { limit: 5 })));
    // Its own old content does not count against the new one.
    put(&kept, "/mnt/data/../../../../etc/x", "1234567890").await.unwrap();
    let names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().all(|name| name == "files.json" || name.starts_with("content-")), "{names:?}");
}

#[tokio::test]
async fn a_folder_moves_with_all_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let kept = kept(folder.path(), 100).await;
    put(&kept, "/mnt/data/a/x", "1").await.unwrap();
    put(&kept, "/mnt/data/ab", "2").await.unwrap();
    kept.rename("/mnt/data/a", "/mnt/data/z").await.unwrap();
    assert_eq!(
        paths(&kept.list("/mnt/data", 9).await.unwrap()),
        ["/mnt/data/ab", "/mnt/data/z", "/mnt/data/z/x"]
    );
    assert!(kept.rename("/mnt/data/z", "/mnt/data/z/in").await.is_err());
}

#[tokio::test]
async fn a_range_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let kept = kept(folder.path(), 100).await;
    put(&kept, "/mnt/data/a", "0123456789").await.unwrap();
    let range = Some(ByteRange { start: 2, length: Some(3) });
    let mut content = kept.read(&SandboxPath::parse("a").unwrap(), range).await.unwrap();
    let mut text = String::new();
    content.reader.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "234");
}

#[tokio::test]
async fn what_did_not_fit_is_remembered_until_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let kept = kept(folder.path(), 10).await;
    kept.leave_out("/mnt/data/big").await;
    assert_eq!(kept.left_out().await, ["/mnt/data/big"]);
    put(&kept, "/mnt/data/big", "small").await.unwrap();
    assert!(kept.left_out().await.is_empty());
}

#[tokio::test]
async fn uploads_side_by_side_share_one_room() {
    let folder = tempfile::tempdir().unwrap();
    let kept = kept(folder.path(), 10).await;
    let one = kept.draft("/mnt/data/a", &mut "123456".as_bytes()).await.unwrap();
    let two = kept.draft("/mnt/data/b", &mut "123456".as_bytes()).await;
    assert!(matches!(two, Err(BackendError::FileTooLarge { .. })), "{two:?}");
    drop(one);
    let two = kept.draft("/mnt/data/b", &mut "123456".as_bytes()).await.unwrap();
    kept.put("/mnt/data/b", two, 0o644, 7).await.unwrap();
    assert_eq!(kept.used_bytes(), 6);
    assert!(kept.has_room("/mnt/data/b", 10).await && !kept.has_room("/mnt/data/c", 5).await);
}

#[tokio::test]
async fn what_a_crash_left_half_done_goes_and_what_was_saved_stays() {
    let folder = tempfile::tempdir().unwrap();
    let first = kept(folder.path(), 100).await;
    put(&first, "/mnt/data/a", "one").await.unwrap();
    // Replaced, and never saved: the old one is still there.
    let draft = first.draft("/mnt/data/a", &mut "two".as_bytes()).await.unwrap();
    first.put("/mnt/data/a", draft, 0o644, 8).await.unwrap();
    std::fs::write(folder.path().join("draft-77"), "x").unwrap();
    drop(first);
    let again = kept(folder.path(), 100).await;
    assert_eq!(text(&again, "/mnt/data/a").await, "one");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}
