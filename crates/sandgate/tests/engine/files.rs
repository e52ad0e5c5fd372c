//! The files API against live sandboxes, whose code makes links, pipes and odd names to mislead it.

use std::fs;

use sandgate_core::{
    BackendError, ByteRange, FileChange, FileChangeKind, FileKind, Limits, Note, Outcome, human_bytes,
};
use tokio::io::AsyncReadExt;

use crate::common::{Place, Read, finished, next_stdout, path, run, sandbox, sandbox_with};

const ODD_NAMES: [&str; 9] =
    ["a b", "-rf", "new\nline", "quo'te\"s", "back\\slash", "日本語.txt", "tab\t", "$HOME;`ls`", "..."];

fn changed(outcome: &Outcome) -> Vec<(&str, FileChangeKind, u64)> {
    outcome.files.iter().map(|FileChange { path, kind, size }| (&**path, *kind, *size)).collect()
}

async fn refusal(place: &Place, name: &str) -> String {
    let refused = place.files().open(&path(name), None).await;
    refused.map(|content| content.stat).expect_err("it must be refused").to_string()
}

#[test]
fn uploads_are_the_users_inside() {
    run(async {
        let place = sandbox().await;
        place.put("in.txt", b"hello").await;
        place.put("deep/er/in.txt", b"deep").await;
        place.put("/home/user/.config/x", b"home").await;
        place.files().make_dir(&path("made")).await.unwrap();
        let code = "
import os
mine = [os.stat(p).st_uid == os.getuid() and os.stat(p).st_gid == os.getgid() for p in ('in.txt', 'deep', 'deep/er', 'deep/er/in.txt', 'made')]
open('in.txt', 'a').write(' world')
open('made/new', 'w').write('new')
os.remove('deep/er/in.txt'); os.rmdir('deep/er')
all(mine), os.getuid() != 0, open(os.path.expanduser('~/.config/x')).read()";
        assert_eq!(place.value(code).await, "(True, True, 'home')");
        assert_eq!(place.get("in.txt").await, b"hello world");
        assert_eq!(place.get("made/new").await, b"new");
    });
}

#[test]
fn what_code_writes_can_be_read_whole_and_in_part() {
    run(async {
        let place = sandbox().await;
        place.ok("open('f', 'wb').write(bytes(range(256)) * 1000);").await;
        let whole: Vec<u8> = (0..=255).cycle().take(256_000).collect();
        assert_eq!(place.get("f").await, whole);
        for (start, length, expected) in [
            (10, Some(5), &whole[10..15]),
            (255_990, None, &whole[255_990..]),
            (255_999, Some(100), &whole[255_999..]),
            (256_000, None, &[]),
        ] {
            let range = Some(ByteRange { start, length });
            let mut content = place.files().open(&path("f"), range).await.unwrap();
            let mut part = Vec::new();
            content.reader.read_to_end(&mut part).await.unwrap();
            assert_eq!((content.stat.size, part.as_slice()), (256_000, expected));
        }
        let past = place.files().open(&path("f"), Some(ByteRange { start: 256_001, length: None })).await;
        assert!(past.unwrap_err().to_string().contains("after the end of the file (256000 bytes)"));
    });
}

#[test]
fn files_are_listed_made_moved_and_removed() {
    run(async {
        let place = sandbox().await;
        place.ok("import os\nos.makedirs('d/e')\nopen('d/e/f', 'w').write('abc')\nopen('top', 'w').close()\nos.chmod('top', 0o640)").await;
        let files = place.files();
        let names =
            |listed: Vec<sandgate_core::FileStat>| listed.into_iter().map(|one| one.path).collect::<Vec<_>>();
        let root = path("/mnt/data");
        assert_eq!(names(files.list(&root, 1).await.unwrap()), ["/mnt/data/d", "/mnt/data/top"]);
        assert_eq!(
            names(files.list(&root, 9).await.unwrap()),
            ["/mnt/data/d", "/mnt/data/d/e", "/mnt/data/d/e/f", "/mnt/data/top"]
        );
        let stat = files.stat(&path("d/e/f")).await.unwrap();
        assert_eq!((stat.kind, stat.size), (FileKind::File, 3));
        assert_eq!(files.stat(&path("top")).await.unwrap().mode, 0o640);
        assert_eq!(
            files.rename(&path("d/e/f"), &path("x/y/moved")).await.unwrap().path,
            "/mnt/data/x/y/moved"
        );
        assert_eq!(place.value("open('x/y/moved').read(), os.listdir('d/e')").await, "('abc', [])");
        files.remove(&path("x")).await.unwrap();
        assert_eq!(place.value("os.path.exists('x')").await, "False");
        assert!(matches!(files.stat(&path("x/y")).await, Err(BackendError::NoSuchFile(_))));
    });
}

#[test]
fn an_execution_tells_which_files_it_touched() {
    run(async {
        let place = sandbox().await;
        place.ok("import os\nos.mkdir('d')\nfor n in 'abc':\n    open(n, 'w').write(n)").await;
        let outcome = place.ok("open('new', 'w').write('12345')\nopen('d/deep', 'w').close()\nopen('a', 'a').write('!')\nos.remove('b')\nos.rename('c', 'e')").await;
        use FileChangeKind::{Created, Modified, Removed};
        let mut seen = changed(&outcome);
        seen.sort_unstable_by_key(|change| change.0);
        let expected = [
            ("/mnt/data/a", Modified, 2),
            ("/mnt/data/b", Removed, 0),
            ("/mnt/data/c", Removed, 0),
            ("/mnt/data/d/deep", Created, 0),
            ("/mnt/data/e", Created, 1),
            ("/mnt/data/new", Created, 5),
        ];
        assert_eq!(seen, expected);
        assert_eq!(changed(&place.ok("open('a').read()").await), []);
        // Same size and an old time put back: still a change.
        let outcome = place.ok("s = os.stat('a')\nopen('a', 'w').write('xy')\nos.utime('a', ns=(s.st_atime_ns, s.st_mtime_ns))").await;
        assert_eq!(changed(&outcome), [("/mnt/data/a", Modified, 2)]);
        assert_eq!(
            changed(&place.cell("open('died', 'w').close()\nos._exit(1)").await),
            [("/mnt/data/died", Created, 0)]
        );
    });
}

#[test]
fn an_upload_is_not_the_codes_doing() {
    run(async {
        let place = sandbox().await;
        place.put("before", b"1").await;
        assert_eq!(changed(&place.ok("1").await), []);
        place.put("between", b"2").await;
        place.files().remove(&path("before")).await.unwrap();
        let outcome = place.ok("open('own', 'w').write('3');").await;
        assert_eq!(changed(&outcome), [("/mnt/data/own", FileChangeKind::Created, 1)]);
    });
}

#[test]
fn many_changes_are_cut_and_that_is_said() {
    run(async {
        let outcome = sandbox().await.ok("for n in range(1500):\n    open(f'f{n}', 'w').close()").await;
        assert_eq!(outcome.files.len(), 1000);
        assert!(outcome.note(Note::FilesTrimmed).contains("more files changed"), "{outcome:?}");
    });
}

#[test]
fn odd_names_work_in_both_directions() {
    run(async {
        let place = sandbox().await;
        let long = "x".repeat(255);
        for name in ODD_NAMES.into_iter().chain([&*long]) {
            place.put(&format!("up/{name}"), name.as_bytes()).await;
        }
        let code = "import os\nos.mkdir('down')\nfor name in os.listdir('up'):\n    assert open('up/' + name).read() == name\n    open('down/' + name, 'w').write(name)";
        let outcome = place.ok(code).await;
        assert_eq!(outcome.files.len(), ODD_NAMES.len() + 1, "{:?}", outcome.files);
        for name in ODD_NAMES.into_iter().chain([&*long]) {
            assert_eq!(place.get(&format!("down/{name}")).await, name.as_bytes());
        }
        assert_eq!(place.files().list(&path("down"), 1).await.unwrap().len(), ODD_NAMES.len() + 1);
    });
}

#[test]
fn names_that_are_no_text_do_no_harm() {
    run(async {
        let place = sandbox().await;
        let outcome = place.ok("import os\nopen(b'\\xff\\xfe', 'w').write('x')\nos.mkdir(b'd\\xff')\nopen(b'd\\xff/in', 'w').close()\nopen('fine', 'w').close()").await;
        assert!(changed(&outcome).contains(&("/mnt/data/fine", FileChangeKind::Created, 0)), "{outcome:?}");
        let listed = place.files().list(&path("/mnt/data"), 5).await.unwrap();
        assert_eq!(listed.iter().map(|one| &*one.path).collect::<Vec<_>>(), ["/mnt/data/fine"]);
        assert!(place.usage().await.unwrap().disk_bytes > 0);
    });
}

#[test]
fn links_never_lead_out() {
    run(async {
        let place = sandbox().await;
        let code = "
import os
open('inside', 'w').write('inside')
os.symlink('/etc/passwd', 'absolute')
os.symlink('../' * 20 + 'etc/passwd', 'relative')
os.symlink('/mnt/data/inside', 'good')
os.symlink('/etc', 'folder')
os.symlink('/proc/self/root/etc/passwd', 'proc')
os.symlink('loop', 'loop')
os.symlink('/', 'root')";
        place.ok(code).await;
        for name in ["absolute", "relative", "folder/passwd", "proc", "loop", "root/etc/passwd", "nothing"] {
            let said = refusal(&place, name).await;
            assert!(said.contains("no such file") || said.contains("too many links"), "{name}: {said}");
        }
        assert_eq!(place.get("good").await, b"inside", "a link that stays inside is followed");
        assert_eq!(place.get("root/mnt/data/inside").await, b"inside");
        let stat = place.files().stat(&path("absolute")).await.unwrap();
        assert_eq!((stat.kind, stat.link_target.as_deref()), (FileKind::Symlink, Some("/etc/passwd")));
    });
}

#[test]
fn writing_and_removing_never_follow_the_last_link() {
    run(async {
        let place = sandbox().await;
        let victim = tempfile::tempdir().unwrap();
        let host = victim.path().join("host");
        fs::write(&host, "host").unwrap();
        let code = format!(
            "import os\nopen('target', 'w').write('kept')\nos.mkdir('full')\nopen('full/f', 'w').close()\nos.symlink('target', 'link')\nos.symlink('full', 'to_full')\nos.symlink({host:?}, 'out')\nos.symlink({:?}, 'dir_out')",
            victim.path()
        );
        place.ok(&code).await;
        place.put("link", b"new").await;
        place.put("out", b"new").await;
        assert_eq!(
            place.value("open('target').read(), os.path.islink('link'), open('out').read()").await,
            "('kept', False, 'new')"
        );
        let below = place.files().write(&path("dir_out/host"), &mut &b"evil"[..]).await;
        assert!(below.is_err(), "{below:?}");
        assert_eq!(fs::read_to_string(&host).unwrap(), "host");
        place.files().remove(&path("to_full")).await.unwrap();
        place.files().remove(&path("dir_out")).await.unwrap();
        assert_eq!(place.value("os.listdir('full')").await, "['f']");
        assert!(host.exists());
    });
}

#[test]
fn pipes_sockets_and_folders_are_not_opened() {
    run(async {
        let place = sandbox().await;
        let code = "import os, socket\nos.mkdir('folder')\nos.symlink('pipe', 'to_pipe')\ns = socket.socket(socket.AF_UNIX)\ns.bind('socket')";
        place.ok(code).await;
        place.ok("os.mkfifo('pipe')").await;
        for name in ["pipe", "to_pipe"] {
            assert!(refusal(&place, name).await.contains("not a plain file"));
        }
        refusal(&place, "socket").await;
        assert!(refusal(&place, "folder").await.contains("that is a folder"));
        for name in ["pipe", "socket"] {
            assert_eq!(place.files().stat(&path(name)).await.unwrap().kind, FileKind::Other);
        }
        // An upload takes the name; it does not write into the pipe.
        place.put("pipe", b"plain").await;
        assert_eq!(place.get("pipe").await, b"plain");
    });
}

#[test]
fn only_the_kept_folders_can_be_reached() {
    run(async {
        let place = sandbox().await;
        for name in [
            "/etc/passwd",
            "/",
            "/mnt",
            "/tmp/x",
            "/proc/1/environ",
            "/mnt/data/../../etc/passwd",
            "/mnt/database",
        ] {
            assert!(refusal(&place, name).await.contains("only /mnt/data and /home/user"), "{name}");
            assert!(place.files().write(&path(name), &mut &b"x"[..]).await.is_err(), "{name}");
            assert!(place.files().remove(&path(name)).await.is_err(), "{name}");
        }
        for kept in ["/mnt/data", "/home/user"] {
            let refused = place.files().remove(&path(kept)).await.unwrap_err().to_string();
            assert!(refused.contains("stays as it is"), "{refused}");
            assert!(place.files().rename(&path(kept), &path("x")).await.is_err());
        }
    });
}

#[test]
fn a_folder_that_turns_into_a_link_while_it_is_read_leads_nowhere() {
    run(async {
        let place = sandbox().await;
        let code = "
import ctypes, os
os.mkdir('d'); open('d/hostname', 'w').write('inside'); os.symlink('/etc', 'evil')
libc, here, exchange = ctypes.CDLL(None, use_errno=True), -100, 2
print('running')
while not os.path.exists('stop'):
    assert libc.renameat2(here, b'd', here, b'evil', exchange) == 0, ctypes.get_errno()";
        let mut racing = place.start(code).await;
        next_stdout(&mut racing).await;
        let files = place.files();
        let (mut read, mut refused) = (0, 0);
        // On a busy machine the folder may rest as one or the other for long.
        while read == 0 || refused == 0 || read + refused < 500 {
            match files.read(&path("d/hostname"), 1000).await {
                Ok(content) => {
                    assert_eq!(&*content, b"inside");
                    read += 1;
                }
                Err(_) => refused += 1,
            }
            // Whatever happens to it, it happens inside.
            let _ = files.write(&path("d/new"), &mut &b"x"[..]).await;
        }
        place.put("stop", b"").await;
        finished(racing).await.assert_ok();
        assert!(!fs::exists("/etc/new").unwrap());
        assert_eq!(place.value("sorted(os.listdir('.'))").await, "['d', 'evil', 'stop']");
    });
}

#[test]
fn uploads_end_at_the_disk_limit() {
    run(async {
        let place = sandbox_with(Limits { disk_bytes: 1 << 20, ..Limits::default() }).await;
        place.put("half", &vec![b'x'; 600 << 10]).await;
        let refused = place.files().write(&path("other"), &mut tokio::io::repeat(b'x')).await.unwrap_err();
        assert!(matches!(refused, BackendError::FileTooLarge { limit } if limit < 500 << 10), "{refused}");
        let listed = place.files().list(&path("/mnt/data"), 1).await.unwrap();
        assert_eq!(listed.len(), 1, "nothing is left of it: {listed:?}");
        let small = place.files().read(&path("half"), 1000).await.unwrap_err();
        assert!(matches!(small, BackendError::FileTooLarge { limit: 1000 }), "{small}");
        assert_eq!(human_bytes(1 << 20), "1 MiB");
    });
}

#[test]
fn a_reader_sees_the_old_file_or_the_new_one() {
    run(async {
        let place = sandbox().await;
        place.put("f", &vec![b'a'; 100_000]).await;
        let code = "import os\nseen = set()\nwhile not os.path.exists('stop'):\n    data = open('f').read()\n    if not seen:\n        print('running')\n    seen.add((len(data), len(set(data))))\nseen";
        let mut reading = place.start(code).await;
        next_stdout(&mut reading).await;
        for letter in b'a'..=b'z' {
            place.put("f", &vec![letter; 100_000]).await;
        }
        place.put("stop", b"").await;
        assert_eq!(finished(reading).await.value(), "{(100000, 1)}");
    });
}
