//! Trees as hostile code makes them are removed whole, and nothing else is.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use super::{open_folder, remove_all, remove_entry};

#[test]
fn a_tree_deeper_than_any_path_or_stack_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    // Made from the inside out, because no path is long enough to reach its bottom.
    let spare = folder.path().join("spare");
    fs::create_dir(&spare).unwrap();
    for _ in 0..5_000 {
        let above = folder.path().join("above");
        fs::create_dir(&above).unwrap();
        fs::rename(&spare, above.join("d")).unwrap();
        fs::rename(&above, &spare).unwrap();
    }
    fs::rename(&spare, &victim).unwrap();
    remove_all(&victim).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn links_go_and_what_they_point_to_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (kept, victim) = (folder.path().join("kept"), folder.path().join("victim"));
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("file"), "x").unwrap();
    fs::create_dir_all(victim.join("a/b")).unwrap();
    symlink(&kept, victim.join("a/link")).unwrap();
    symlink(kept.join("file"), victim.join("a/b/link")).unwrap();
    remove_all(&victim).unwrap();
    assert!(kept.join("file").exists() && !victim.exists());
}

#[test]
fn what_is_not_there_is_fine() {
    let folder = tempfile::tempdir().unwrap();
    remove_all(&folder.path().join("nothing")).unwrap();
    remove_all(Path::new("/nonexistent/nothing")).unwrap();
}

#[test]
fn many_files_in_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    fs::create_dir(&victim).unwrap();
    for number in 0..3000 {
        fs::write(victim.join(number.to_string()), "").unwrap();
        fs::create_dir(victim.join(format!("d{number}"))).unwrap();
    }
    remove_all(&victim).unwrap();
    assert!(!victim.exists());
}

#[test]
fn a_folder_that_is_filled_for_ever_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    fs::create_dir(&victim).unwrap();
    let (held, stop) = (open_folder(&victim).unwrap(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for filler in 0..2 {
            let (held, stop) = (&held, &stop);
            scope.spawn(move || {
                let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
                for number in 0.. {
                    // Goes on wherever the folder is moved to, until it is gone.
                    let name = format!("{filler}-{number}");
                    let made = rustix::fs::openat(held, name, flags, 0o600.into());
                    if stop.load(Ordering::Relaxed) || matches!(made, Err(Errno::NOENT)) {
                        break;
                    }
                }
            });
        }
        let aside = open_folder(folder.path()).unwrap();
        let removed = remove_entry(aside.as_fd(), c"victim", aside.as_fd());
        stop.store(true, Ordering::Relaxed);
        // Which of the two it is depends on who is faster; what matters is that there is an answer.
        assert!(matches!(removed, Ok(()) | Err(Errno::NOTEMPTY)), "{removed:?}");
    });
}
