//! Ids that stay, files that come and go, and names from clients that mean no good.

use std::sync::Arc;

use sandgate_core::testing::{MemoryFiles, ScriptedBackend};
use sandgate_core::{Containers, ContainersConfig, Limits, NewContainer, SandboxSpec};
use tempfile::TempDir;
use tokio::io::AsyncReadExt;

use super::*;

struct Place {
    container: Arc<Container>,
    inside: Arc<MemoryFiles>,
    files: ContainerFiles,
    store: Store,
    containers: Containers,
    _home: TempDir,
}

async fn place() -> Place {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).await.unwrap();
    let backend = Arc::new(ScriptedBackend::default());
    let registry = Arc::new(store.clone());
    let config = ContainersConfig::default();
    let containers = Containers::open(Arc::clone(&backend) as _, registry, config).await.unwrap();
    let limits = Limits { disk_bytes: 1 << 20, ..Limits::default() };
    let spec = SandboxSpec { limits, ..SandboxSpec::default() };
    let container = containers.create(NewContainer { spec, ..NewContainer::default() }).await.unwrap();
    let inside = backend.only_files().unwrap();
    Place { container, inside, files: ContainerFiles::new(store.clone()), store, containers, _home: home }
}

impl Place {
    async fn list(&self) -> Vec<(String, String, u64)> {
        let listed = self.files.list(&self.container).await.unwrap();
        listed.into_iter().map(|row| (row.path, row.source, row.bytes)).collect()
    }

    async fn id_of(&self, path: &str) -> String {
        self.files.of_path(&self.container, path).await.unwrap().unwrap().id
    }

    async fn add_file(&self, name: &str, content: &[u8]) -> String {
        let owner = Owner::anonymous();
        self.store.add_file(&owner, name, "user_data", None, content, 1000).await.unwrap().id
    }
}

fn row(path: &str, source: &str, bytes: u64) -> (String, String, u64) {
    (path.to_owned(), source.to_owned(), bytes)
}

#[tokio::test]
async fn a_file_that_code_made_gets_an_id_that_stays() {
    let place = place().await;
    place.inside.set("/mnt/data/a.csv", "12");
    place.inside.set("/mnt/data/deep/down/b.csv", "1");
    assert_eq!(
        place.list().await,
        [row("/mnt/data/a.csv", "assistant", 2), row("/mnt/data/deep/down/b.csv", "assistant", 1)]
    );
    let id = place.id_of("/mnt/data/a.csv").await;
    assert!(id.starts_with("cfile_") && id.len() == 38, "{id}");
    place.inside.set("/mnt/data/a.csv", "123");
    let again = place.files.get(&place.container, &id).await.unwrap();
    assert_eq!((again.bytes, &*again.path), (3, "/mnt/data/a.csv"));
    assert_eq!(place.id_of("/mnt/data/a.csv").await, id);
    assert_eq!(place.id_of("a.csv").await, id, "however the path is written");
}

#[tokio::test]
async fn what_is_gone_is_forgotten() {
    let place = place().await;
    place.inside.set("/mnt/data/a", "1");
    let id = place.id_of("/mnt/data/a").await;
    place.files.remove(&place.container, &id).await.unwrap();
    assert!(place.inside.paths().is_empty());
    for _ in 0..2 {
        let gone = place.files.get(&place.container, &id).await.unwrap_err();
        assert!(matches!(gone, ContainerFilesError::NoSuchFile(_)), "{gone}");
    }
    place.inside.set("/mnt/data/b", "1");
    let id = place.id_of("/mnt/data/b").await;
    place.inside.set_kind("/mnt/data/b", FileKind::Directory);
    assert!(place.list().await.is_empty());
    assert!(place.store.container_file(place.container.id(), &id).await.is_err());
    let gone = place.files.remove(&place.container, &id).await.unwrap_err();
    assert!(matches!(gone, ContainerFilesError::NoSuchFile(_)), "a folder is not removed by a file's id");
}

#[tokio::test]
async fn only_plain_files_count() {
    let place = place().await;
    place.inside.set_kind("/mnt/data/link", FileKind::Symlink);
    place.inside.set_kind("/mnt/data/pipe", FileKind::Other);
    place.inside.set("/home/user/private", "1");
    assert!(place.list().await.is_empty());
    for path in ["/mnt/data/link", "/mnt/data/pipe", "/mnt/data/none", "/mnt/data", "", "\0"] {
        assert_eq!(place.files.of_path(&place.container, path).await.unwrap(), None, "{path:?}");
    }
}

#[tokio::test]
async fn uploads_are_the_users_and_keep_their_names() {
    let place = place().await;
    for (given, kept) in [("my data.csv", "my data.csv"), ("../../x", "x"), ("", "file"), ("ü\0\n", "ü")] {
        let made = place.files.upload(&place.container, given, &mut &b"abc"[..]).await.unwrap();
        assert_eq!(made.path, format!("/mnt/data/{}-{kept}", &made.id["cfile_".len()..]));
        assert_eq!((&*made.source, made.bytes), ("user", 3));
        let cited = place.files.of_path(&place.container, &made.path).await.unwrap().unwrap();
        assert_eq!((&cited.id, &*cited.source), (&made.id, "user"));
    }
    let long = "x".repeat(300);
    let made = place.files.upload(&place.container, &long, &mut &b""[..]).await.unwrap();
    assert!(made.path.rsplit('/').next().unwrap().len() <= 255);
    assert_eq!(place.list().await.len(), 5);
}

#[tokio::test]
async fn an_upload_that_does_not_fit_leaves_nothing() {
    let place = place().await;
    let mut endless = tokio::io::repeat(0);
    let refused = place.files.upload(&place.container, "x", &mut endless).await.unwrap_err();
    assert!(matches!(refused, ContainerFilesError::Backend(BackendError::FileTooLarge { .. })), "{refused}");
    assert!(place.store.container_files(place.container.id()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_placed_file_is_copied_once_and_mended_when_changed() {
    let place = place().await;
    let file = place.add_file("da/ta.csv", b"1,2").await;
    let owner = Owner::anonymous();
    let first = place.files.place(&place.container, &owner, &file).await.unwrap();
    assert_eq!((first.path, &*first.source), (format!("/mnt/data/{file}-ta.csv"), "user"));
    let again = place.files.place(&place.container, &owner, &file).await.unwrap();
    assert_eq!((&again.id, again.bytes), (&first.id, 3));
    place.inside.set(&again.path, "longer than before");
    place.files.place(&place.container, &owner, &file).await.unwrap();
    assert_eq!(place.inside.content(&again.path).unwrap(), "1,2");
    let others = place.files.place(&place.container, &Owner::of_key("other"), &file).await.unwrap_err();
    assert!(matches!(others, ContainerFilesError::NoSuchFile(id) if id == file));
}

#[tokio::test]
async fn a_figure_is_named_by_its_id() {
    let place = place().await;
    let figure = place.files.add_image(&place.container, b"png").await.unwrap();
    assert_eq!(figure.path, format!("/mnt/data/{}.png", figure.id));
    assert_eq!(&*figure.source, "assistant");
    let range = Some(ByteRange { start: 1, length: Some(1) });
    let (_, mut content) = place.files.open(&place.container, &figure.id, range).await.unwrap();
    let mut text = String::new();
    content.reader.read_to_string(&mut text).await.unwrap();
    assert_eq!((&*text, content.stat.size), ("n", 3));
}

#[tokio::test]
async fn more_than_can_be_listed_is_listed_up_to_the_bound() {
    let place = place().await;
    for index in 0..10_001 {
        place.inside.set(&format!("/mnt/data/many/{index}"), "");
    }
    place.inside.set_kind("/mnt/data/few", FileKind::Directory);
    place.inside.set_kind("/mnt/data/many", FileKind::Directory);
    place.inside.set("/mnt/data/few/x", "1");
    place.inside.set("/mnt/data/top", "1");
    let cited = place.id_of("/mnt/data/many/5").await;
    let listed = place.files.list(&place.container).await.unwrap();
    let paths: Vec<_> = listed.iter().map(|row| &*row.path).collect();
    assert_eq!(paths, ["/mnt/data/many/5", "/mnt/data/few/x", "/mnt/data/top"]);
    assert_eq!(listed[0].id, cited, "what was cited stays");
}

#[tokio::test]
async fn ids_go_with_their_container() {
    let place = place().await;
    let figure = place.files.add_image(&place.container, b"png").await.unwrap();
    place.containers.delete(&Owner::anonymous(), place.container.id()).await.unwrap();
    assert!(place.store.container_file(place.container.id(), &figure.id).await.is_err());
    assert!(place.files.list(&place.container).await.is_err());
    assert!(place.files.upload(&place.container, "x", &mut &b""[..]).await.is_err());
}
