//! A whole preparation with an interpreter made of shell, and, when asked for, the real one.

use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;

use super::*;

/// A python that makes an environment with itself in it; `pip` is what its pip does.
fn fake_python(folder: &Path, pip: &str) -> Candidate {
    let path = folder.join("python");
    let text = format!(
        r#"#!/bin/sh
shift
while [ "$1" != "-m" ] && [ "$1" != "-c" ]; do shift; done
case "$2" in
venv) mkdir -p "$3/bin" "$3/lib/python3.11/site-packages"; cp "$0" "$3/bin/python3"; umask 077
      echo "x = 1" > "$3/lib/python3.11/site-packages/x.py"; chmod 600 "$3/lib/python3.11/site-packages/x.py";;
pip) {pip};;
compileall) echo "Compiling 'x.py'...";;
esac
"#
    );
    fs::write(&path, text).expect("write");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("chmod");
    Candidate {
        interpreter: path,
        version: "3.11.2".to_owned(),
        base_prefix: PathBuf::from("/usr"),
        optimised: true,
        why: "a fake was chosen".to_owned(),
    }
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Progress for Heard {
    fn stage(&self, text: &str) {
        self.0.lock().expect("lock").push(text.to_owned());
    }
    fn step(&self, done: u64, total: u64, text: &str) {
        self.0.lock().expect("lock").push(format!("{done}/{total} {text}"));
    }
    fn finish(&self, text: &str) {
        self.0.lock().expect("lock").push(text.to_owned());
    }
}

const SMALL_LOCK: &str = "six==1.0 \\\n    --hash=sha256:00\n";

#[test]
fn a_whole_preparation_then_nothing_to_do() {
    let dir = tempfile::tempdir().expect("tempdir");
    let candidate =
        fake_python(dir.path(), "echo 'Collecting six==1.0'; echo 'Installing collected packages: six'");
    let runtimes = dir.path().join("home/runtimes");
    let heard = Heard::default();
    let runtime = prepare_from(&candidate, SMALL_LOCK, &runtimes, &heard).expect("prepared");
    let heard = heard.0.into_inner().expect("lock");
    assert!(
        heard.contains(&"0/1 six".to_owned()) && heard.contains(&"installing the packages".to_owned()),
        "{heard:?}"
    );
    assert!(
        heard.last().is_some_and(|text| text.starts_with("Python 3.11.2 with 1 packages is ready")),
        "{heard:?}"
    );

    let source = runtime.venv.join("lib/python3.11/site-packages/x.py");
    assert_eq!(fs::metadata(source).expect("there").permissions().mode() & 0o777, 0o644);
    assert_eq!(fs::read_link(runtime.venv.join("bin/python3")).expect("link"), candidate.interpreter);
    let mut left: Vec<_> = fs::read_dir(&runtimes).expect("read").flatten().map(|e| e.file_name()).collect();
    left.sort();
    assert_eq!(left, [".lock", folder::name(&candidate, SMALL_LOCK).as_str()]);

    let again = Heard::default();
    assert_eq!(prepare_from(&candidate, SMALL_LOCK, &runtimes, &again).expect("ready"), runtime);
    assert!(again.0.into_inner().expect("lock").is_empty());
}

#[test]
fn a_runtime_made_earlier_finds_what_sandboxes_install_too() {
    let dir = tempfile::tempdir().expect("tempdir");
    let candidate = fake_python(dir.path(), "echo 'Installing collected packages: six'");
    let runtime = prepare_from(&candidate, SMALL_LOCK, dir.path(), &Silent).expect("prepared");
    let site = runtime.venv.join("lib/python3.11/site-packages");
    fs::remove_file(site.join("sandgate.pth")).expect("there");
    fs::write(site.join("sandgate_startup.py"), "older").expect("write");
    prepare_from(&candidate, SMALL_LOCK, dir.path(), &Silent).expect("ready");
    let startup = site.join("sandgate_startup.py");
    assert!(fs::read_to_string(&startup).expect("read").contains("def begin()"));
    assert_eq!(fs::metadata(startup).expect("there").permissions().mode() & 0o777, 0o644);
    assert!(fs::read_to_string(site.join("sandgate.pth")).expect("read").contains("sandgate_startup"));
    let left = fs::read_dir(site).expect("read").flatten().map(|entry| entry.file_name());
    assert!(!left.into_iter().any(|name| name.to_string_lossy().starts_with('.')), "no draft is left");
}

#[test]
fn a_failed_pip_is_one_sentence_and_leaves_only_its_log() {
    let dir = tempfile::tempdir().expect("tempdir");
    let pip = "echo 'ERROR: No matching distribution found for six==1.0' >&2; exit 1";
    let candidate = fake_python(dir.path(), pip);
    let error = prepare_from(&candidate, SMALL_LOCK, dir.path(), &Silent).expect_err("fails");
    let said = error.to_string();
    let start = "pip could not install the locked packages: No matching distribution found for six==1.0; ";
    assert!(said.starts_with(start) && !said.contains('\n'), "{said}");
    let RuntimeError::Pip { log, .. } = error else { panic!("{error:?}") };
    assert!(fs::read_to_string(log).expect("the log is kept").contains("ERROR: No matching"));
    let parts = fs::read_dir(dir.path()).expect("read").flatten();
    assert!(!parts.into_iter().any(|e| e.file_name().to_string_lossy().contains(".part-")));
}

#[test]
fn a_home_that_cannot_be_written_is_named() {
    let dir = tempfile::tempdir().expect("tempdir");
    let candidate = fake_python(dir.path(), ":");
    let said = prepare_from(&candidate, SMALL_LOCK, &candidate.interpreter, &Silent)
        .expect_err("a file")
        .to_string();
    assert!(said.starts_with("cannot create ") && said.contains("/python: "), "{said}");
}

/// The real thing; the first test run on a machine prepares it, later ones find it ready.
#[test]
fn real_runtime() {
    let home = std::env::var_os("SANDGATE_TEST_HOME").map(PathBuf::from);
    let home = home.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-home"));
    fs::create_dir_all(&home).expect("made");
    let folder = home.canonicalize().expect("there").join("runtimes");
    let heard = Heard::default();
    let runtime = prepare(&folder, &heard).expect("prepared");
    println!("{}", heard.0.into_inner().expect("lock").join("\n"));
    assert!(matches!(status(&folder), RuntimeStatus::Ready(ready) if ready == runtime));
    let mut command = process::python(&runtime.venv.join("bin/python3"));
    command.args(["-c", "import numpy; print(numpy.arange(4).sum(), numpy.ndarray.__module__)"]);
    assert_eq!(command.output().expect("runs").stdout, b"6 numpy\n");
    // No path of the host is inside, compiled modules included; the sandbox's user can read everything.
    let host = folder.to_str().expect("utf-8").as_bytes();
    files::walk(&runtime.venv, &mut |path, kind| {
        if kind.is_file() {
            let bytes = fs::read(path).expect("readable");
            assert!(!bytes.windows(host.len()).any(|window| window == host), "{}", path.display());
        }
        if !kind.is_symlink() {
            let mode = fs::metadata(path).expect("there").permissions().mode();
            assert_eq!(mode & 0o444, 0o444, "{}", path.display());
        }
        Ok(())
    })
    .expect("walked");
    let fonts = runtime.venv.join("share/matplotlib-cache");
    assert!(
        fs::read_dir(fonts)
            .expect("there")
            .flatten()
            .any(|e| e.path().extension().is_some_and(|e| e == "json"))
    );
}
