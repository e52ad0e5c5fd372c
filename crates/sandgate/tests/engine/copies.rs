//! Copies of real sandboxes: of one moment, with an owner of their own, and no trouble to what they are copies of.

use std::time::Duration;

use sandgate_core::{Backend, BackendError, Limits, SandboxId, SandboxSpec};

use crate::common::{Place, Read as _, engine, finished, home, next_stdout, path, run, sandbox, system};

async fn copied(place: &Place) -> Place {
    let spec = SandboxSpec::default();
    let id = engine().await.copy(place.id(), &spec).await.unwrap();
    assert_ne!(id, *place.id());
    Place::of(engine().await.revive(&id, spec).await.unwrap())
}

#[test]
fn a_copy_has_the_files_and_goes_its_own_way() {
    run(async {
        let place = sandbox().await;
        let code = "import os\nos.makedirs('a/b')\nopen('a/b/f', 'w').write('kept')\nos.chmod('a/b/f', 0o640)\n\
                    os.symlink('a/b/f', 'link')\nopen('/home/user/h', 'w').write('home')\nx = 1";
        place.ok(code).await;
        let copy = copied(&place).await;
        let look = "print(open('link').read(), open('/home/user/h').read(), \
                    oct(os.stat('a/b/f').st_mode & 0o777), {os.stat(p).st_uid for p in ['.', 'a', 'a/b/f']} == {os.getuid()})";
        let outcome = copy.ok(&format!("import os\n{look}")).await;
        assert_eq!(outcome.stdout, "kept home 0o640 True\n");
        copy.ok("open('a/b/f', 'w').write('other')\nopen('new', 'w').close()").await;
        assert_eq!(place.value("x, open('a/b/f').read(), os.path.exists('new')").await, "(1, 'kept', False)");
        engine().await.delete(place.id()).await.unwrap();
        assert_eq!(copy.value("open('a/b/f').read()").await, "'other'");
    });
}

#[test]
fn what_runs_stands_still_while_it_is_copied_and_goes_on() {
    run(async {
        let place = sandbox().await;
        // The first of the two is never behind the second, at any one moment.
        let code = "import os\nfor n in range(2000):\n    open(f'm{n}', 'w').close()\n\
                    first = os.open('a', os.O_CREAT | os.O_RDWR)\nlast = os.open('z', os.O_CREAT | os.O_RDWR)\n\
                    n = 0\nprint('running')\n\
                    while not os.path.exists('stop'):\n    n += 1\n    os.pwrite(first, b'%10d' % n, 0)\n    os.pwrite(last, b'%10d' % n, 0)";
        let mut counting = place.start(code).await;
        next_stdout(&mut counting).await;
        for _ in 0..3 {
            let copy = copied(&place).await;
            let ahead = copy.value("int(open('a').read() or 0) - int(open('z').read() or 0)").await;
            assert!(ahead == "0" || ahead == "1", "{ahead}");
            engine().await.delete(copy.id()).await.unwrap();
        }
        let before = place.get("a").await;
        while place.get("a").await == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        place.put("stop", b"").await;
        finished(counting).await.assert_ok();
    });
}

#[test]
fn a_paused_one_stays_paused() {
    run(async {
        let place = sandbox().await;
        place.ok("open('f', 'w').write('x')").await;
        place.pause().await.unwrap();
        let copy = copied(&place).await;
        assert_eq!(copy.value("open('f').read()").await, "'x'");
        let look = place.inside().await.unwrap().stat(&path("f")).await;
        assert!(matches!(look, Err(BackendError::Paused)), "{look:?}");
        place.resume().await.unwrap();
        assert_eq!(place.value("open('f').read()").await, "'x'");
    });
}

#[test]
fn nothing_is_left_of_a_copy_that_is_too_large_or_unwanted() {
    run(async {
        let place = sandbox().await;
        place.ok("open('of_this_test', 'wb').write(b'x' * 100_000)").await;
        let volumes = system::volume(&home(), place.id()).parent().unwrap().parent().unwrap().to_owned();
        let copies = || {
            let all = std::fs::read_dir(&volumes).unwrap().flatten();
            all.filter(|volume| volume.path().join("root/mnt/data/of_this_test").exists()).count()
        };
        let limits = Limits { disk_bytes: 99_999, ..Limits::default() };
        let small = SandboxSpec { limits, ..SandboxSpec::default() };
        let refused = engine().await.copy(place.id(), &small).await;
        assert!(matches!(refused, Err(BackendError::NoSpace(_))), "{refused:?}");
        let unknown = engine().await.copy(&SandboxId::random(), &small).await;
        assert!(matches!(unknown, Err(BackendError::NoSuchSandbox(_))));

        let spec = SandboxSpec::default();
        // Begun, and left.
        tokio::select! {
            biased;
            copied = engine().await.copy(place.id(), &spec) => panic!("it does not wait: {copied:?}"),
            () = std::future::ready(()) => {}
        }
        // It is not frozen for ever, either.
        assert_eq!(place.value("len(open('of_this_test').read())").await, "100000");
        while copies() > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
}
