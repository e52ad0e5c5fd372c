//! A copy has all that it should of a hostile tree, nothing that it should not, and never more than it may.

use std::fs::{self, File, Permissions};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, Mode, XattrFlags, getxattr, mknodat, setxattr};
use rustix::io::Errno;
use tempfile::TempDir;

use super::{Bounds, CopyError, OPEN_AT_ONCE, copy_tree};
use crate::files::remove::{open_folder, remove_all};

const TOPS: [&str; 2] = ["mnt/data", "home/user"];

fn volume() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for top in TOPS {
        fs::create_dir_all(folder.path().join(top)).unwrap();
    }
    folder
}

fn copy_within(from: &Path, bytes: u64, entries: u64) -> (TempDir, Result<(), CopyError>) {
    let made = volume();
    let bounds = Bounds { bytes, entries, is_stopped: &|| false };
    let (source, to) = (open_folder(from).unwrap(), open_folder(made.path()).unwrap());
    let copied = copy_tree(source.as_fd(), to.as_fd(), &TOPS, None, bounds);
    (made, copied)
}

fn copy(from: &Path) -> TempDir {
    let (made, copied) = copy_within(from, 1 << 30, 100_000);
    copied.unwrap();
    made
}

#[test]
fn files_folders_modes_times_and_attributes_are_kept() {
    let from = volume();
    let data = from.path().join("mnt/data");
    fs::create_dir_all(data.join("a/b")).unwrap();
    fs::write(data.join("a/b/file"), "text").unwrap();
    fs::write(from.path().join("home/user/.profile"), "export A=1").unwrap();
    fs::write(data.join("empty"), "").unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_000_000);
    File::open(data.join("a/b/file")).unwrap().set_modified(long_ago).unwrap();
    let has_attributes =
        setxattr(data.join("a/b/file"), "user.e2b.k", b"value", XattrFlags::empty()) != Err(Errno::OPNOTSUPP);
    fs::set_permissions(data.join("a/b/file"), Permissions::from_mode(0o4751)).unwrap();
    File::open(data.join("a")).unwrap().set_modified(long_ago).unwrap();
    fs::set_permissions(data.join("a"), Permissions::from_mode(0o1711)).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();

    let made = copy(from.path());
    let data = made.path().join("mnt/data");
    assert_eq!(fs::read_to_string(data.join("a/b/file")).unwrap(), "text");
    assert_eq!(fs::read_to_string(made.path().join("home/user/.profile")).unwrap(), "export A=1");
    assert_eq!(fs::metadata(data.join("empty")).unwrap().len(), 0);
    let (file, folder) =
        (fs::metadata(data.join("a/b/file")).unwrap(), fs::metadata(data.join("a")).unwrap());
    assert_eq!((file.mode() & 0o7777, file.modified().unwrap()), (0o4751, long_ago));
    assert_eq!((folder.mode() & 0o7777, folder.modified().unwrap()), (0o1711, long_ago));
    assert_eq!(fs::metadata(&data).unwrap().mode() & 0o777, 0o700);
    if has_attributes {
        let mut value = [0; 16];
        let length = getxattr(data.join("a/b/file"), "user.e2b.k", &mut value[..]).unwrap();
        assert_eq!(&value[..length], b"value");
    }
}

#[test]
fn links_are_copied_and_never_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    let from = volume();
    let data = from.path().join("mnt/data");
    symlink(outside.path(), data.join("folder")).unwrap();
    symlink(outside.path().join("secret"), data.join("file")).unwrap();
    symlink("file", data.join("relative")).unwrap();
    symlink("/no/such", data.join("dangling")).unwrap();
    symlink("loop", data.join("loop")).unwrap();

    let made = copy(from.path());
    let data = made.path().join("mnt/data");
    for (name, target) in [
        ("folder", outside.path().to_owned()),
        ("file", outside.path().join("secret")),
        ("relative", "file".into()),
        ("dangling", "/no/such".into()),
        ("loop", "loop".into()),
    ] {
        assert_eq!(fs::read_link(data.join(name)).unwrap(), target, "{name}");
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn pipes_and_sockets_are_left_out_and_hold_nothing_up() {
    let from = volume();
    let data = from.path().join("mnt/data");
    mknodat(CWD, data.join("pipe"), rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
    let _socket = UnixListener::bind(data.join("socket")).unwrap();
    fs::write(data.join("file"), "x").unwrap();
    let made = copy(from.path());
    let names: Vec<_> = fs::read_dir(made.path().join("mnt/data")).unwrap().flatten().collect();
    assert_eq!(names.iter().map(|entry| entry.file_name()).collect::<Vec<_>>(), ["file"]);
}

#[test]
fn a_file_with_two_names_becomes_two_files() {
    let from = volume();
    let data = from.path().join("mnt/data");
    fs::write(data.join("one"), "same").unwrap();
    fs::hard_link(data.join("one"), data.join("two")).unwrap();
    let made = copy(from.path()).keep();
    let data = made.join("mnt/data");
    fs::write(data.join("one"), "other").unwrap();
    assert_eq!(fs::read_to_string(data.join("two")).unwrap(), "same");
    assert_eq!(fs::metadata(data.join("two")).unwrap().nlink(), 1);
    remove_all(&made).unwrap();
}

#[test]
fn holes_stay_holes_and_do_not_count() {
    let from = volume();
    let file = File::create(from.path().join("mnt/data/sparse")).unwrap();
    file.write_all_at(b"begin", 0).unwrap();
    file.write_all_at(b"middle", 1 << 30).unwrap();
    file.set_len(8 << 30).unwrap();
    let (made, copied) = copy_within(from.path(), 1 << 20, 10);
    copied.unwrap();
    let made = File::open(made.path().join("mnt/data/sparse")).unwrap();
    let stat = made.metadata().unwrap();
    assert_eq!(stat.len(), 8 << 30);
    assert!(stat.blocks() * 512 <= 1 << 20, "{}", stat.blocks());
    let mut middle = [0; 6];
    made.read_exact_at(&mut middle, 1 << 30).unwrap();
    assert_eq!(&middle, b"middle");
}

#[test]
fn deep_trees_are_copied_whole_with_few_descriptors() {
    let from = volume();
    let depth = OPEN_AT_ONCE * 3;
    let mut below = from.path().join("mnt/data");
    for _ in 0..depth {
        below.push("d");
        fs::create_dir(&below).unwrap();
        fs::write(below.join("a"), "before").unwrap();
        fs::write(below.join("z"), "after").unwrap();
    }
    let made = copy(from.path());
    let mut below = made.path().join("mnt/data");
    for _ in 0..depth {
        below.push("d");
        assert_eq!(fs::read_to_string(below.join("a")).unwrap(), "before");
        assert_eq!(fs::read_to_string(below.join("z")).unwrap(), "after");
    }
    assert_eq!(fs::read_dir(&below).unwrap().count(), 2);
}

#[test]
fn what_is_closed_to_its_owner_is_copied_closed() {
    let from = volume();
    let folder = from.path().join("mnt/data/closed");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("file"), "x").unwrap();
    fs::set_permissions(folder.join("file"), Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o000)).unwrap();
    let made = copy(from.path());
    let copied = made.path().join("mnt/data/closed");
    assert_eq!(fs::metadata(&copied).unwrap().mode() & 0o777, 0);
    for folder in [&folder, &copied] {
        fs::set_permissions(folder, Permissions::from_mode(0o700)).unwrap();
    }
    assert_eq!(fs::metadata(copied.join("file")).unwrap().mode() & 0o777, 0);
    assert_eq!(fs::metadata(copied.join("file")).unwrap().len(), 1);
}

#[test]
fn more_than_it_may_hold_is_refused() {
    let from = volume();
    let data = from.path().join("mnt/data");
    for number in 0..10 {
        fs::write(data.join(number.to_string()), vec![1; 10_000]).unwrap();
    }
    assert!(matches!(copy_within(from.path(), 99_999, 100).1, Err(CopyError::TooLarge(99_999))));
    assert!(matches!(copy_within(from.path(), 1 << 20, 9).1, Err(CopyError::TooMany(9))));
    assert!(copy_within(from.path(), 100_000, 10).1.is_ok());
}

#[test]
fn an_end_of_the_engine_ends_it() {
    let from = volume();
    fs::write(from.path().join("mnt/data/file"), "x").unwrap();
    let made = volume();
    let bounds = Bounds { bytes: 100, entries: 100, is_stopped: &|| true };
    let (source, to) = (open_folder(from.path()).unwrap(), open_folder(made.path()).unwrap());
    let copied = copy_tree(source.as_fd(), to.as_fd(), &TOPS, None, bounds);
    assert!(matches!(copied, Err(CopyError::Stopped)));
}
