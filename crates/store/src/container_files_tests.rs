//! Ids of files inside containers.

use sandgate_core::{ContainerId, Registry};

use crate::containers::tests::container;
use crate::testing::{count, store};
use crate::{ContainerFileRecord, Store, StoreError};

fn file(container: &ContainerId, id: &str, path: &str) -> ContainerFileRecord {
    ContainerFileRecord {
        id: id.to_owned(),
        container: container.clone(),
        path: path.to_owned(),
        source: "assistant".to_owned(),
        created_at: 7,
        bytes: 10,
        modified_ms: -5,
    }
}

async fn two_containers() -> (tempfile::TempDir, Store, ContainerId, ContainerId) {
    let (home, store) = store().await;
    let (one, two) = (container("cntr_1"), container("cntr_2"));
    store.save(&one).await.unwrap();
    store.save(&two).await.unwrap();
    (home, store, one.id, two.id)
}

#[tokio::test]
async fn files_are_put_found_and_removed() {
    let (home, store, one, two) = two_containers().await;
    let (b, a) = (file(&one, "cfile_b", "/mnt/data/b"), file(&one, "cfile_a", "/mnt/data/a"));
    assert_eq!(store.put_container_file(&b).await.unwrap(), b);
    assert_eq!(store.put_container_file(&a).await.unwrap(), a);
    drop(store);
    let store = Store::open(home.path()).await.unwrap();
    assert_eq!(store.container_files(&one).await.unwrap(), [b.clone(), a.clone()]);
    assert_eq!(store.container_file(&one, "cfile_a").await.unwrap(), a);
    assert!(matches!(store.container_file(&two, "cfile_a").await, Err(StoreError::NotFound)));
    assert!(matches!(store.remove_container_file(&two, "cfile_a").await, Err(StoreError::NotFound)));
    store.remove_container_file(&one, "cfile_a").await.unwrap();
    assert_eq!(store.container_files(&one).await.unwrap(), [b]);
}

#[tokio::test]
async fn a_path_keeps_its_id() {
    let (_home, store, one, two) = two_containers().await;
    let first = file(&one, "cfile_1", "/mnt/data/a");
    store.put_container_file(&first).await.unwrap();
    let later = ContainerFileRecord {
        source: "user".to_owned(),
        created_at: 100,
        bytes: 99,
        modified_ms: 8,
        ..file(&one, "cfile_2", "/mnt/data/a")
    };
    let stored = store.put_container_file(&later).await.unwrap();
    assert_eq!(stored, ContainerFileRecord { id: first.id, created_at: 7, ..later });
    assert_eq!(store.container_files(&one).await.unwrap(), [stored]);
    store.put_container_file(&file(&two, "cfile_2", "/mnt/data/a")).await.unwrap();
}

#[tokio::test]
async fn an_id_belongs_to_one_file() {
    let (_home, store, one, two) = two_containers().await;
    store.put_container_file(&file(&one, "cfile_1", "/mnt/data/a")).await.unwrap();
    for other in [file(&one, "cfile_1", "/mnt/data/b"), file(&two, "cfile_1", "/mnt/data/a")] {
        assert!(matches!(store.put_container_file(&other).await, Err(StoreError::Exists)));
    }
}

#[tokio::test]
async fn files_go_with_their_container_and_stay_when_it_is_saved_again() {
    let (_home, store, one, two) = two_containers().await;
    store.put_container_file(&file(&one, "cfile_1", "/mnt/data/a")).await.unwrap();
    store.put_container_file(&file(&two, "cfile_2", "/mnt/data/a")).await.unwrap();
    store.save(&container("cntr_1")).await.unwrap();
    assert_eq!(count(&store, "container_files").await, 2);
    store.remove(&one).await.unwrap();
    assert_eq!(count(&store, "container_files").await, 1);
    let late = store.put_container_file(&file(&one, "cfile_3", "/mnt/data/a")).await;
    assert!(matches!(late, Err(StoreError::NotFound)));
}
