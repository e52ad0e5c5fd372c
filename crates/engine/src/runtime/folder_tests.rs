//! Names, marks, leftovers and the lock of runtime folders.

use std::sync::Mutex;
use std::time::Duration;

use super::*;
use crate::runtime::Silent;

fn candidate() -> Candidate {
    Candidate {
        interpreter: PathBuf::from("/usr/bin/python3.11"),
        version: "3.11.2".to_owned(),
        base_prefix: PathBuf::from("/usr"),
        optimised: true,
        why: "because".to_owned(),
    }
}

fn ready(folder: &Path) {
    fs::create_dir_all(folder.join("venv/bin")).expect("mkdir");
    fs::write(folder.join("venv/pyvenv.cfg"), "").expect("write");
    std::os::unix::fs::symlink("/usr/bin/python3.11", folder.join("venv/bin/python3")).expect("link");
    mark_ready(folder, &candidate(), 3, 4).expect("mark");
}

#[test]
fn the_name_follows_everything_that_matters() {
    let base = name(&candidate(), "numpy==1");
    assert!(base.starts_with("python-3.11.2-") && base.len() == "python-3.11.2-".len() + 12, "{base}");
    assert_eq!(base, name(&candidate(), "numpy==1"));
    assert_ne!(base, name(&candidate(), "numpy==2"));
    let other = Candidate { interpreter: PathBuf::from("/usr/local/bin/python3.11"), ..candidate() };
    assert_ne!(base, name(&other, "numpy==1"));
}

#[test]
fn a_folder_is_nothing_then_ready_then_broken() {
    let dir = tempfile::tempdir().expect("tempdir");
    let folder = dir.path().join("python-x");
    assert!(matches!(look(&folder, &candidate()), Found::Nothing));
    ready(&folder);
    assert!(
        matches!(look(&folder, &candidate()), Found::Ready(runtime) if runtime.venv == folder.join("venv"))
    );
    fs::remove_file(folder.join("venv/bin/python3")).expect("remove");
    assert!(matches!(look(&folder, &candidate()), Found::Broken(why) if why.contains("lost parts")));
    fs::write(folder.join(MARK), "{").expect("write");
    assert!(matches!(look(&folder, &candidate()), Found::Broken(why) if why.contains("damaged ready.json")));
}

#[test]
fn leftovers_go_and_the_rest_stays() {
    let dir = tempfile::tempdir().expect("tempdir");
    for name in ["python-3.11.2-aa.part-1", "python-3.11.2-bb", ".pip-cache"] {
        fs::create_dir_all(dir.path().join(name).join("deep")).expect("mkdir");
    }
    let held = lock(dir.path(), &Silent).expect("lock");
    remove_leftovers(&held, dir.path()).expect("remove");
    assert!(!dir.path().join("python-3.11.2-aa.part-1").exists());
    assert!(dir.path().join("python-3.11.2-bb").exists() && dir.path().join(".pip-cache").exists());
}

#[test]
fn a_broken_folder_gives_way() {
    let dir = tempfile::tempdir().expect("tempdir");
    let (part, folder) = (part(dir.path(), "python-x"), dir.path().join("python-x"));
    ready(&part);
    fs::create_dir_all(folder.join("broken")).expect("mkdir");
    let held = lock(dir.path(), &Silent).expect("lock");
    put_in_place(&held, &part, &folder).expect("in place");
    assert!(matches!(look(&folder, &candidate()), Found::Ready(_)));
    let left: Vec<_> = fs::read_dir(dir.path()).expect("read").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left.len(), 2, "only the lock and the runtime: {left:?}");
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Progress for Heard {
    fn stage(&self, text: &str) {
        self.0.lock().expect("lock").push(text.to_owned());
    }
    fn step(&self, _done: u64, _total: u64, _text: &str) {}
    fn finish(&self, _text: &str) {}
}

#[test]
fn the_second_waits_and_says_so() {
    let dir = tempfile::tempdir().expect("tempdir");
    let first = lock(dir.path(), &Silent).expect("lock");
    let heard = Heard::default();
    std::thread::scope(|scope| {
        let second = scope.spawn(|| lock(dir.path(), &heard).map(drop));
        while heard.0.lock().expect("lock").is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(!second.is_finished());
        drop(first);
        second.join().expect("join").expect("lock");
    });
    assert!(heard.0.lock().expect("lock")[0].starts_with("waiting: another Sandgate process"));
}
