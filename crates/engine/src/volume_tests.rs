//! Slots are unique and come back; unclaimed volumes are forgotten, claimed ones are not.

use super::{Bounds, Volumes};
use crate::ids::IdRange;

fn ids() -> IdRange {
    IdRange::Single { uid: 1000, gid: 1000 }
}

#[test]
fn slots_are_unique_and_reused_after_removal() {
    let home = tempfile::tempdir().unwrap();
    let volumes = Volumes::open(home.path().join("v"), ids()).unwrap();
    let all: Vec<_> = (0..3).map(|_| volumes.make().unwrap()).collect();
    assert_eq!(all.iter().map(|volume| volume.slot).collect::<Vec<_>>(), [0, 1, 2]);
    volumes.remove(&all[1]).unwrap();
    assert_eq!(volumes.make().unwrap().slot, 1);
    assert_eq!(volumes.make().unwrap().slot, 3);
}

#[test]
fn a_new_start_keeps_claimed_volumes_and_forgets_pooled_ones() {
    let home = tempfile::tempdir().unwrap();
    let first = Volumes::open(home.path().join("v"), ids()).unwrap();
    let (claimed, pooled) = (first.make().unwrap(), first.make().unwrap());
    first.claim(&claimed).unwrap();
    std::fs::write(claimed.root().join("mnt/data/kept"), "x").unwrap();
    drop(first);
    let second = Volumes::open(home.path().join("v"), ids()).unwrap();
    assert_eq!(second.find(&claimed.id).unwrap().slot, claimed.slot);
    assert!(claimed.root().join("mnt/data/kept").exists());
    assert!(second.find(&pooled.id).is_err());
    assert_eq!(second.make().unwrap().slot, pooled.slot);
}

#[test]
fn a_copy_is_unclaimed_until_it_is_claimed_and_nothing_is_left_of_a_failed_one() {
    let home = tempfile::tempdir().unwrap();
    let volumes = Volumes::open(home.path().join("v"), ids()).unwrap();
    let from = volumes.make().unwrap();
    volumes.claim(&from).unwrap();
    std::fs::write(from.root().join("mnt/data/kept"), "x").unwrap();
    let bounds = |bytes| Bounds { bytes, entries: 10, is_stopped: &|| false };
    assert!(volumes.copy(&from, bounds(0)).is_err());
    assert_eq!(std::fs::read_dir(home.path().join("v")).unwrap().count(), 1);

    let (kept, forgotten) =
        (volumes.copy(&from, bounds(1)).unwrap(), volumes.copy(&from, bounds(1)).unwrap());
    assert_eq!((kept.slot, forgotten.slot), (1, 2));
    volumes.claim(&kept).unwrap();
    drop(volumes);
    let volumes = Volumes::open(home.path().join("v"), ids()).unwrap();
    assert!(volumes.find(&forgotten.id).is_err());
    let kept = volumes.find(&kept.id).unwrap();
    volumes.remove(&from).unwrap();
    assert_eq!(std::fs::read_to_string(kept.root().join("mnt/data/kept")).unwrap(), "x");
}
