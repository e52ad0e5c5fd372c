//! Removed files count as long as somebody holds them, and a disk that is short of space stops who grows.

use std::fs::{self, File};
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{MORE_THAN_ALLOWED, VolumeRoot, held_open, removed_mapping};

const MIB: usize = 1 << 20;

/// The tests take turns: what one holds, the others would see in their own process.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn volume() -> (tempfile::TempDir, VolumeRoot) {
    let folder = tempfile::tempdir().unwrap();
    for shown in ["mnt/data", "home/user"] {
        fs::create_dir_all(folder.path().join(shown)).unwrap();
    }
    let root = File::open(folder.path()).unwrap().into();
    (folder, VolumeRoot::new(root, Some(rustix::process::geteuid().as_raw()), 1000))
}

fn written(folder: &tempfile::TempDir, name: &str, size: usize) -> File {
    let options = || File::options().read(true).write(true).create(true).truncate(true).clone();
    let mut file = options().open(folder.path().join("mnt/data").join(name)).unwrap();
    file.write_all(&vec![1; size]).unwrap();
    // Space that is only promised is not counted by every file system.
    file.sync_all().unwrap();
    file
}

fn me() -> i32 {
    std::process::id().cast_signed()
}

#[test]
fn a_removed_file_counts_while_it_is_open() {
    let _turn = turn();
    let (folder, root) = volume();
    let file = written(&folder, "held", 3 * MIB);
    let before = held_open(&root, &[me()]);
    fs::remove_file(folder.path().join("mnt/data/held")).unwrap();
    let open = held_open(&root, &[me()]);
    assert!(open >= before + 3 * MIB as u64, "{before} {open}");
    drop(file);
    assert!(held_open(&root, &[me()]) < open);
}

#[test]
fn without_a_list_of_processes_they_are_found_by_their_user() {
    let _turn = turn();
    let (folder, root) = volume();
    let _file = written(&folder, "held", 3 * MIB);
    fs::remove_file(folder.path().join("mnt/data/held")).unwrap();
    assert!(held_open(&root, &[]) >= 3 * MIB as u64);
    let nobodys = VolumeRoot::new(File::open(folder.path()).unwrap().into(), Some(0x7fff_fff0), 1000);
    assert_eq!(held_open(&nobodys, &[]), 0);
}

#[test]
fn on_a_disk_that_is_short_of_space_only_who_grows_is_over() {
    let _turn = turn();
    let (folder, mut root) = volume();
    let _old = written(&folder, "old", 2 * MIB);
    root.pretend_short(true);
    for _ in 0..3 {
        assert_ne!(held_open(&root, &[]), MORE_THAN_ALLOWED);
    }
    let _little = written(&folder, "little", 1000);
    assert_ne!(held_open(&root, &[]), MORE_THAN_ALLOWED);
    let _much = written(&folder, "much", 2 * MIB);
    assert_eq!(held_open(&root, &[]), MORE_THAN_ALLOWED);
    root.pretend_short(false);
    assert_ne!(held_open(&root, &[]), MORE_THAN_ALLOWED);
    // What it holds by then is where it starts from the next time.
    root.pretend_short(true);
    assert_ne!(held_open(&root, &[]), MORE_THAN_ALLOWED);
}

#[test]
fn lines_about_mappings_are_read_as_the_kernel_writes_them() {
    let plain =
        b"7f12a0000000-7f12a0100000 r--s 00000000 fe:00 1234                       /mnt/data/a b (deleted)\n";
    assert_eq!(removed_mapping(plain), Some(("7f12a0000000-7f12a0100000".into(), "fe:00 1234".into())));
    let low = b"00010000-00020000 r--s 00000000 00:1f 7 /x (deleted)\n";
    assert_eq!(removed_mapping(low), Some(("10000-20000".into(), "00:1f 7".into())));
    let there = b"7f12a0000000-7f12a0100000 r--s 00000000 fe:00 1234                       /mnt/data/a\n";
    let odd =
        b"7f12a0000000-7f12a0100000 r--s 00000000 fe:00 1234                       /\xff\xfe (deleted)\n";
    assert_eq!(removed_mapping(there), None);
    assert!(removed_mapping(odd).is_some());
    assert_eq!(removed_mapping(b" (deleted)\n"), None);
    assert_eq!(removed_mapping(b"\n"), None);
}
