//! A sandbox from within: its files as programs see them, changes to folders, open ports.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sandgate_core::{
    BackendError, ByteRange, Change, Entry, FileKind, FolderChange, FolderChanges, FolderNews, Inside,
    Limits, StartProcess,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::common::{LONGEST, Place, path, run, sandbox, sandbox_with};

async fn inside(place: &Place) -> Arc<dyn Inside> {
    place.inside().await.expect("a view from within")
}

async fn put(place: &Place, name: &str, content: &[u8]) -> Entry {
    inside(place).await.write(&path(name), &mut &*content, &BTreeMap::new()).await.expect("a file")
}

async fn get(place: &Place, name: &str) -> Vec<u8> {
    let mut open = inside(place).await.open(&path(name), None).await.expect("an open file");
    let mut bytes = Vec::new();
    open.reader.read_to_end(&mut bytes).await.expect("its bytes");
    bytes
}

/// Runs a command to its end.
async fn command(place: &Place, text: &str) {
    let args = vec!["-c".to_owned(), text.to_owned()];
    let start = StartProcess { program: "/bin/bash".into(), args, ..StartProcess::default() };
    let mut joined = place.processes().await.unwrap().start(start).await.unwrap();
    while timeout(LONGEST, joined.events.recv()).await.expect("it ends").is_some() {}
}

#[test]
fn files_are_written_and_read_wherever_the_user_may() {
    run(async {
        let place = sandbox().await;
        for name in ["/mnt/data/deep/er/a.txt", "/home/user/b", "/tmp/c/d", "/dev/shm/e"] {
            let entry = put(&place, name, b"content").await;
            assert_eq!((&*entry.path, entry.kind, entry.size), (name, FileKind::File, 7));
            assert_eq!((&*entry.owner, &*entry.group, entry.mode), ("user", "user", 0o644));
            assert_eq!(get(&place, name).await, b"content");
            assert_eq!(place.value(&format!("open({name:?}).read()")).await, "'content'");
            put(&place, name, b"").await;
            assert_eq!(get(&place, name).await, b"");
        }
        let listed = inside(&place).await.list(&path("/mnt/data/deep/er"), 1).await.unwrap();
        assert_eq!(listed.len(), 1, "no draft is left: {listed:?}");
        assert_eq!(place.value("__import__('os').stat('/mnt/data/deep/er/a.txt').st_uid").await, "1000");
    });
}

#[test]
fn the_system_can_be_read_and_not_written() {
    run(async {
        let place = sandbox().await;
        assert!(get(&place, "/etc/passwd").await.starts_with(b"root:"));
        let view = inside(&place).await;
        let stat = view.stat(&path("/etc/passwd")).await.unwrap();
        assert_eq!(stat.kind, FileKind::File);
        let none = BTreeMap::new();
        for name in ["/etc/passwd", "/etc/new", "/usr/bin/new", "/new"] {
            let denied = view.write(&path(name), &mut &b"x"[..], &none).await;
            assert!(matches!(denied, Err(BackendError::PermissionDenied(_))), "{name}: {denied:?}");
        }
        for name in ["/etc", "/etc/passwd", "/mnt/data", "/home/user", "/tmp", "/"] {
            let denied = view.remove(&path(name)).await;
            assert!(matches!(denied, Err(BackendError::PermissionDenied(_))), "{name}: {denied:?}");
        }
        assert!(matches!(view.make_dir(&path("/opt/x")).await, Err(BackendError::PermissionDenied(_))));
    });
}

#[test]
fn what_is_wrong_with_a_path_is_said() {
    run(async {
        let place = sandbox().await;
        let view = inside(&place).await;
        put(&place, "/tmp/file", b"x").await;
        assert!(matches!(view.stat(&path("/tmp/none")).await, Err(BackendError::NoSuchFile(_))));
        assert!(matches!(view.open(&path("/tmp/none"), None).await, Err(BackendError::NoSuchFile(_))));
        assert!(matches!(view.open(&path("/tmp"), None).await, Err(BackendError::IsFolder(_))));
        assert!(matches!(view.list(&path("/tmp/none"), 1).await, Err(BackendError::NoSuchFile(_))));
        assert!(matches!(view.list(&path("/tmp/file"), 1).await, Err(BackendError::NotAFolder(_))));
        assert!(matches!(view.remove(&path("/tmp/none")).await, Err(BackendError::NoSuchFile(_))));
        assert!(matches!(view.watch(&path("/tmp/none"), false).await, Err(BackendError::NoSuchFile(_))));
        assert!(matches!(view.watch(&path("/tmp/file"), false).await, Err(BackendError::NotAFolder(_))));
        let none = BTreeMap::new();
        assert!(matches!(
            view.write(&path("/tmp"), &mut &b""[..], &none).await,
            Err(BackendError::IsFolder(_))
        ));
        let below = view.write(&path("/tmp/file/x"), &mut &b""[..], &none).await;
        assert!(matches!(below, Err(BackendError::NotAFolder(_))), "{below:?}");
        // What is neither a file nor a folder.
        place.ok("import socket\nsocket.socket(socket.AF_UNIX).bind('/tmp/socket')").await;
        assert!(matches!(view.open(&path("/tmp/socket"), None).await, Err(BackendError::File { .. })));
        assert!(matches!(
            view.write(&path("/tmp/socket"), &mut &b"x"[..], &none).await,
            Err(BackendError::File { .. })
        ));
    });
}

#[test]
fn folders_are_made_listed_moved_and_removed() {
    run(async {
        let place = sandbox().await;
        let view = inside(&place).await;
        let made = view.make_dir(&path("/home/user/a/b/c")).await.unwrap();
        assert_eq!((made.kind, made.mode), (FileKind::Directory, 0o755));
        assert!(matches!(view.make_dir(&path("/home/user/a/b")).await, Err(BackendError::Exists(_))));
        put(&place, "/home/user/a/z", b"").await;
        put(&place, "/home/user/a/b/y", b"12").await;
        let names =
            |entries: Vec<Entry>| -> Vec<String> { entries.into_iter().map(|entry| entry.path).collect() };
        let below = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| format!("/home/user/a/{name}")).collect()
        };
        assert_eq!(names(view.list(&path("/home/user/a"), 1).await.unwrap()), below(&["b", "z"]));
        assert_eq!(
            names(view.list(&path("/home/user/a"), 2).await.unwrap()),
            below(&["b", "b/c", "b/y", "z"])
        );
        let moved = view.rename(&path("/home/user/a/b"), &path("/home/user/new/place")).await.unwrap();
        assert_eq!(moved.path, "/home/user/new/place");
        assert_eq!(get(&place, "/home/user/new/place/y").await, b"12");
        // From one file system to another.
        let moved = view.rename(&path("/home/user/new/place"), &path("/tmp/place")).await.unwrap();
        assert_eq!(moved.kind, FileKind::Directory);
        assert_eq!(get(&place, "/tmp/place/y").await, b"12");
        assert!(matches!(view.stat(&path("/home/user/new/place")).await, Err(BackendError::NoSuchFile(_))));
        view.set_mode(&path("/tmp/place/y"), 0o600).await.unwrap();
        assert_eq!(view.stat(&path("/tmp/place/y")).await.unwrap().mode, 0o600);
        put(&place, "/tmp/place/y", b"again").await;
        assert_eq!(
            view.stat(&path("/tmp/place/y")).await.unwrap().mode,
            0o600,
            "a new content keeps the mode"
        );
        view.remove(&path("/tmp/place")).await.unwrap();
        assert!(matches!(view.stat(&path("/tmp/place")).await, Err(BackendError::NoSuchFile(_))));
    });
}

#[test]
fn links_are_shown_followed_and_kept() {
    run(async {
        let place = sandbox().await;
        let view = inside(&place).await;
        put(&place, "/tmp/real", b"one").await;
        command(
            &place,
            "cd /tmp; ln -s real link; ln -s nowhere broken; ln -s /etc system; ln -s /proc/1/root out",
        )
        .await;
        let link = view.stat(&path("/tmp/link")).await.unwrap();
        assert_eq!(
            (link.kind, link.is_link, link.link_target.as_deref()),
            (FileKind::File, true, Some("/tmp/real"))
        );
        let broken = view.stat(&path("/tmp/broken")).await.unwrap();
        assert_eq!(
            (broken.kind, broken.is_link, broken.link_target.as_deref()),
            (FileKind::Symlink, true, Some("nowhere"))
        );
        put(&place, "/tmp/link", b"two").await;
        assert_eq!(get(&place, "/tmp/real").await, b"two");
        assert!(view.stat(&path("/tmp/link")).await.unwrap().is_link);
        view.remove(&path("/tmp/link")).await.unwrap();
        assert_eq!(get(&place, "/tmp/real").await, b"two");
        let none = BTreeMap::new();
        let denied = view.write(&path("/tmp/system/passwd"), &mut &b"x"[..], &none).await;
        assert!(matches!(denied, Err(BackendError::PermissionDenied(_))), "{denied:?}");
        let denied = view.open(&path("/tmp/out/etc/shadow"), None).await;
        assert!(denied.is_err(), "{denied:?}");
    });
}

#[test]
fn a_part_of_a_file_can_be_read() {
    run(async {
        let place = sandbox().await;
        put(&place, "/tmp/digits", b"0123456789").await;
        let view = inside(&place).await;
        let range = ByteRange { start: 3, length: Some(4) };
        let mut open = view.open(&path("/tmp/digits"), Some(range)).await.unwrap();
        let mut part = String::new();
        open.reader.read_to_string(&mut part).await.unwrap();
        assert_eq!((&*part, open.entry.size), ("3456", 10));
        assert!(view.open(&path("/tmp/digits"), Some(ByteRange { start: 11, length: None })).await.is_err());
    });
}

#[test]
fn a_large_file_goes_in_and_out_whole() {
    run(async {
        let place = sandbox().await;
        let view = inside(&place).await;
        let content: Vec<u8> = (0..100u32 << 20).map(|at| (at ^ (at >> 9)) as u8).collect();
        let entry = view.write(&path("/mnt/data/large"), &mut &*content, &BTreeMap::new()).await.unwrap();
        assert_eq!(entry.size, content.len() as u64);
        assert!(get(&place, "/mnt/data/large").await == content);
    });
}

#[test]
fn attributes_are_kept_on_disk() {
    run(async {
        let place = sandbox().await;
        let view = inside(&place).await;
        let attributes = BTreeMap::from([("e2b.author".to_owned(), "me".to_owned())]);
        let written = view.write(&path("/home/user/x"), &mut &b"1"[..], &attributes).await;
        let entry = written.unwrap();
        let looked_at = view.stat(&path("/home/user/x")).await.unwrap();
        assert_eq!(entry.attributes, looked_at.attributes, "nothing is said that is not so");
        // A place in memory has none, and takes the file all the same.
        let in_memory = view.write(&path("/tmp/x"), &mut &b"1"[..], &attributes).await.unwrap();
        assert!(in_memory.attributes.is_empty());
        assert_eq!(get(&place, "/tmp/x").await, b"1");
        let large = BTreeMap::from([("e2b.large".to_owned(), "x".repeat(1 << 20))]);
        let refused = view.write(&path("/home/user/y"), &mut &b"1"[..], &large).await;
        assert!(matches!(refused, Err(BackendError::Invalid(_))), "{refused:?}");
        assert!(view.stat(&path("/home/user/y")).await.is_err(), "it was refused before it was written");
        if entry.attributes.is_empty() {
            // Some disks below the tests have none; what they do have must not be what we set in vain.
            return;
        }
        assert_eq!(entry.attributes, attributes);
        assert_eq!(view.stat(&path("/home/user/x")).await.unwrap().attributes, attributes);
        put(&place, "/home/user/x", b"2").await;
        assert!(view.stat(&path("/home/user/x")).await.unwrap().attributes.is_empty());
    });
}

#[test]
fn no_way_around_leads_past_the_disk_limit() {
    run(async {
        let limits =
            Limits { disk_bytes: 4 << 20, disk_entries: 60, tmp_bytes: 16 << 20, ..Limits::default() };
        let place = sandbox_with(limits).await;
        let view = inside(&place).await;
        let content = vec![7; 3 << 20];
        let none = BTreeMap::new();
        // Two at once have one room.
        let (first, second) = (path("/home/user/a"), path("/mnt/data/b"));
        let (mut one, mut other) = (&*content, &*content);
        let both = tokio::join!(view.write(&first, &mut one, &none), view.write(&second, &mut other, &none));
        assert!(both.0.is_err() || both.1.is_err(), "{both:?}");
        for done in [view.remove(&first).await, view.remove(&second).await] {
            assert!(matches!(done, Ok(()) | Err(BackendError::NoSuchFile(_))), "{done:?}");
        }
        // By a place that does not count.
        put(&place, "/home/user/a", &content).await;
        put(&place, "/tmp/large", &content).await;
        let moved = view.rename(&path("/tmp/large"), &path("/home/user/large")).await;
        assert!(matches!(moved, Err(BackendError::NoSpace(_))), "{moved:?}");
        // Folders count as well.
        let mut made = 0;
        let refused = loop {
            match view.make_dir(&path(&format!("/home/user/d{made}"))).await {
                Ok(_) => made += 1,
                Err(error) => break error,
            }
            assert!(made < 100, "nobody counts them");
        };
        assert!(matches!(refused, BackendError::NoSpace(_)), "{refused:?}");
        view.remove(&path("/home/user/d0")).await.expect("removing is always allowed");
    });
}

#[test]
fn a_full_disk_is_said() {
    run(async {
        let limits = Limits { disk_bytes: 4 << 20, tmp_bytes: 4 << 20, ..Limits::default() };
        let place = sandbox_with(limits).await;
        let view = inside(&place).await;
        let content = vec![0; 8 << 20];
        for name in ["/mnt/data/large", "/tmp/large"] {
            let full = view.write(&path(name), &mut &*content, &BTreeMap::new()).await;
            assert!(matches!(full, Err(BackendError::NoSpace(_))), "{name}: {full:?}");
            let left = timeout(LONGEST, async {
                loop {
                    let left = view.list(&path(name).split().unwrap().0, 1).await.unwrap();
                    if left.is_empty() {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            });
            left.await.expect("no draft is left");
        }
        put(&place, "/mnt/data/small", b"fits").await;
    });
}

/// Waits for this change; others before it do not matter.
async fn until(changes: &mut FolderChanges, name: &str, change: Change) {
    let wanted = FolderChange { name: name.to_owned(), change };
    let mut seen = Vec::new();
    loop {
        let next =
            timeout(LONGEST, changes.recv()).await.unwrap_or_else(|_| panic!("{wanted:?} after {seen:?}"));
        let next = next.unwrap_or_else(|| panic!("the watch ended after {seen:?}"));
        if next == wanted {
            return;
        }
        seen.push(next);
    }
}

#[test]
fn changes_are_told() {
    run(async {
        let place = sandbox().await;
        let view = inside(&place).await;
        let mut changes = view.watch(&path("/home/user"), false).await.unwrap();
        command(&place, "cd; touch a; echo x > a; chmod 700 a; mv a b; rm b").await;
        for (name, change) in [
            ("a", Change::Created),
            ("a", Change::Written),
            ("a", Change::Permissions),
            ("a", Change::Renamed),
            ("b", Change::Created),
            ("b", Change::Removed),
        ] {
            until(&mut changes, name, change).await;
        }
        // What is written through the server looks as if it were written in place.
        put(&place, "/home/user/up", b"1").await;
        for change in [Change::Created, Change::Permissions, Change::Written] {
            assert_eq!(next(&mut changes).await, ("up".into(), change));
        }
        put(&place, "/home/user/up", b"2").await;
        assert_eq!(next(&mut changes).await, ("up".into(), Change::Written));
    });
}

#[test]
fn whoever_asks_hears_of_everything_up_to_then() {
    run(async {
        let place = sandbox().await;
        let view = inside(&place).await;
        let mut changes = view.watch(&path("/home/user"), false).await.unwrap();
        for turn in 0..50 {
            put(&place, &format!("/home/user/{turn}"), b"x").await;
            changes.questions().send(()).await.unwrap();
            let mut told = 0;
            while timeout(LONGEST, changes.next()).await.unwrap().unwrap() != FolderNews::UpToDate {
                told += 1;
            }
            assert_eq!(told, 3, "made, its permissions, written; turn {turn}");
        }
    });
}

#[test]
fn files_that_the_kernel_makes_up_can_be_read() {
    run(async {
        let place = sandbox().await;
        let view = inside(&place).await;
        for range in [None, Some(ByteRange { start: 6, length: Some(4) })] {
            let mut open = view.open(&path("/proc/self/status"), range).await.unwrap();
            let mut content = String::new();
            open.reader.read_to_string(&mut content).await.unwrap();
            assert!(open.entry.size > 100, "{:?}", open.entry);
            assert!(
                if range.is_none() { content.starts_with("Name:") } else { content.len() == 4 },
                "{content}"
            );
        }
    });
}

async fn next(changes: &mut FolderChanges) -> (String, Change) {
    let change = timeout(LONGEST, changes.recv()).await.expect("a change").expect("the watch goes on");
    (change.name, change.change)
}

#[test]
fn a_watch_may_go_all_the_way_down_and_ends_with_its_folder() {
    run(async {
        let place = sandbox().await;
        let view = inside(&place).await;
        view.make_dir(&path("/tmp/w/old")).await.unwrap();
        let mut changes = view.watch(&path("/tmp/w"), true).await.unwrap();
        let mut flat = view.watch(&path("/tmp/w"), false).await.unwrap();
        command(&place, "cd /tmp/w; touch old/a; mkdir -p new/er; touch new/er/b").await;
        until(&mut changes, "old/a", Change::Created).await;
        until(&mut changes, "new/er/b", Change::Created).await;
        command(&place, "cd /tmp/w; mv new moved; echo x > moved/er/c").await;
        until(&mut changes, "moved/er/c", Change::Created).await;
        until(&mut flat, "moved", Change::Created).await;
        command(&place, "rm -r /tmp/w").await;
        timeout(LONGEST, async { while changes.recv().await.is_some() {} }).await.expect("the watch ends");
    });
}

#[test]
fn two_hundred_watches_work_at_once() {
    run(async {
        let place = sandbox().await;
        let view = inside(&place).await;
        command(&place, "mkdir /tmp/d{1..200}").await;
        let mut all = Vec::new();
        for at in 1..=200 {
            all.push(view.watch(&path(&format!("/tmp/d{at}")), false).await.unwrap());
        }
        command(&place, "for i in {1..200}; do : > /tmp/d$i/f; done").await;
        for changes in &mut all {
            until(changes, "f", Change::Created).await;
        }
        drop(all);
        // Their places are free again.
        for _ in 0..300 {
            drop(view.watch(&path("/tmp/d1"), false).await.unwrap());
        }
        let mut again = view.watch(&path("/tmp/d1"), false).await.unwrap();
        put(&place, "/tmp/d1/g", b"").await;
        until(&mut again, "g", Change::Created).await;
    });
}

#[test]
fn a_watch_of_too_many_folders_says_so() {
    run(async {
        let place = sandbox().await;
        command(&place, "mkdir -p /tmp/many/{1..2100}").await;
        let error = inside(&place).await.watch(&path("/tmp/many"), true).await.unwrap_err();
        assert!(error.to_string().contains("2000 folders"), "{error}");
    });
}

#[test]
fn ports_are_reached() {
    run(async {
        let place = sandbox().await;
        let view = inside(&place).await;
        assert!(matches!(view.connect(8123).await, Err(BackendError::PortClosed(8123))));
        put(&place, "/home/user/hello.txt", b"hello from inside").await;
        for (port, address) in [(8123, "127.0.0.1"), (8124, "::1")] {
            let args =
                ["-u", "-m", "http.server", "--bind", address, &port.to_string()].map(str::to_owned).to_vec();
            let start = StartProcess { program: "python3".into(), args, ..StartProcess::default() };
            let mut server = place.processes().await.unwrap().start(start).await.unwrap();
            timeout(LONGEST, server.events.recv()).await.expect("it says that it serves");
            let mut connection = view.connect(port).await.unwrap();
            connection.write_all(b"GET /hello.txt HTTP/1.0\r\n\r\n").await.unwrap();
            connection.shutdown().await.unwrap();
            let mut answer = String::new();
            timeout(LONGEST, connection.read_to_string(&mut answer)).await.unwrap().unwrap();
            assert!(answer.starts_with("HTTP/1.0 200") && answer.ends_with("hello from inside"), "{answer}");
        }
    });
}

#[test]
fn a_port_answers_what_it_was_given_and_leaves_others_theirs() {
    run(async {
        let place = sandbox().await;
        let view = inside(&place).await;
        view.answer(8125, "nobody is here\n").await.unwrap();
        view.answer(8125, "somebody else\n").await.expect("it listens already");
        let hear = "import socket\nprint(socket.create_connection(('127.0.0.1', 8125)).recv(99))";
        for _ in 0..3 {
            assert_eq!(place.ok(hear).await.stdout, "b'nobody is here\\n'\n");
        }
        place.ok("s = socket.create_server(('127.0.0.1', 8126))").await;
        view.answer(8126, "not heard").await.expect("code listens there");
        place.ok("c = socket.create_connection(('127.0.0.1', 8126)); s.accept()[0].sendall(b'mine')").await;
        assert_eq!(place.ok("print(c.recv(9))").await.stdout, "b'mine'\n");
    });
}

#[test]
fn much_goes_through_a_port_both_ways() {
    run(async {
        let place = sandbox().await;
        let echo = "import socket, threading\ns = socket.create_server(('127.0.0.1', 9000))\ndef serve():\n    c, _ = s.accept()\n    while data := c.recv(65536):\n        c.sendall(data)\n    c.close()\nthreading.Thread(target=serve, daemon=True).start()";
        place.ok(echo).await;
        let connection = inside(&place).await.connect(9000).await.unwrap();
        let (mut reader, mut writer) = tokio::io::split(connection);
        let content: Vec<u8> = (0..10u32 << 20).map(|at| (at ^ (at >> 7)) as u8).collect();
        let sent = content.clone();
        let sending = tokio::spawn(async move {
            writer.write_all(&sent).await.unwrap();
            writer.shutdown().await.unwrap();
        });
        let mut back = Vec::new();
        timeout(LONGEST, reader.read_to_end(&mut back)).await.unwrap().unwrap();
        sending.await.unwrap();
        assert!(back == content);
    });
}

#[test]
fn a_paused_or_deleted_sandbox_says_so() {
    run(async {
        let place = sandbox().await;
        let view = inside(&place).await;
        put(&place, "/tmp/x", b"").await;
        place.pause().await.unwrap();
        assert!(matches!(view.stat(&path("/tmp/x")).await, Err(BackendError::Paused)));
        place.resume().await.unwrap();
        view.stat(&path("/tmp/x")).await.unwrap();
        let mut changes = view.watch(&path("/tmp"), false).await.unwrap();
        place.stop().await.unwrap();
        assert!(matches!(view.stat(&path("/tmp/x")).await, Err(BackendError::NoSuchSandbox(_))));
        assert_eq!(timeout(LONGEST, changes.recv()).await.expect("the watch ends"), None);
    });
}

#[test]
fn a_stopped_agent_does_not_hold_up_files_for_ever() {
    run(async {
        let place = sandbox().await;
        put(&place, "/home/user/x", b"1").await;
        let args = vec!["-c".to_owned(), "kill -STOP $PPID".to_owned()];
        let stop = StartProcess { program: "/bin/sh".into(), args, ..StartProcess::default() };
        let started = place.processes().await.unwrap().start(stop).await;
        let view = inside(&place).await;
        // Until the signal has come through, it still answers; it may also come before the start is answered.
        let refused = timeout(LONGEST, async {
            if let Err(error) = started {
                return error;
            }
            loop {
                if let Err(error) = view.stat(&path("/home/user/x")).await {
                    return error;
                }
            }
        });
        let refused = refused.await.expect("nobody waits for it for ever").to_string();
        assert!(refused.contains("did not answer"), "{refused}");
        assert_eq!(get(&place, "/home/user/x").await, b"1", "the next call has another");
    });
}
