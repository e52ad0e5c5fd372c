//! Made, stopped, woken, paused, expired, deleted; and nothing is left of a server that was killed.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sandgate_core::{
    Backend, BackendError, Container, ContainerState, Containers, ContainersConfig, ExecuteRequest, Limits,
    MemoryRegistry, NewContainer, Note, Outcome, Owner, SandboxId, SandboxSpec,
};
use sandgate_engine::{Engine, EngineConfig, StartError};
use sandgate_store::Store;
use serde_json::json;
use tempfile::TempDir;

use crate::common::{
    Place, Read, Server, engine, finished, home, lean_engine, next_stdout, path, run, sandbox, sandbox_with,
    scratch_home, system, wait_until,
};
use crate::http::post;

#[test]
fn a_stopped_sandbox_comes_back_with_its_files() {
    run(async {
        let place = sandbox().await;
        let other = place.context("other").await;
        place.ok("x = 1\nopen('kept', 'w').write('file')\nopen('/home/user/kept', 'w').write('home')\nopen('/tmp/gone', 'w').close()").await;
        place.in_context(&other, "y = 1").await.assert_ok();
        place.stop().await.unwrap();
        place.stop().await.expect("twice is as good as once");
        assert_eq!(system::in_group(place.id().as_str()), []);
        let files = engine().await.files(place.id(), &SandboxSpec::default()).await.unwrap();
        assert_eq!(files.read(&path("kept"), 100).await.unwrap(), "file", "files can be read meanwhile");

        let again = Place::of(engine().await.revive(place.id(), SandboxSpec::default()).await.unwrap());
        assert_eq!(again.id(), place.id());
        let outcome = again.cell("import os\nprint(open('kept').read(), open('/home/user/kept').read(), os.path.exists('/tmp/gone'))\nx").await;
        assert_eq!((&*outcome.stdout, outcome.raised()), ("file home False\n", "NameError"));
        assert!(outcome.note(Note::FreshKernel).contains("variables of earlier executions are gone"));
        assert!(outcome.files.is_empty(), "none of the files is this execution's doing: {:?}", outcome.files);
        assert!(again.ok("1").await.notes.is_empty(), "said once");
    });
}

#[test]
fn reviving_what_runs_gives_what_runs() {
    run(async {
        let place = sandbox().await;
        place.ok("x = 1").await;
        let same = engine().await.revive(place.id(), SandboxSpec::default()).await.unwrap();
        let request = ExecuteRequest { code: "x".into(), ..ExecuteRequest::default() };
        assert_eq!(finished(same.execute(request).await.unwrap()).await.value(), "1");
        let unknown = engine().await.revive(&SandboxId::random(), SandboxSpec::default()).await;
        assert!(matches!(unknown, Err(BackendError::NoSuchSandbox(_))));
    });
}

#[test]
fn a_deleted_sandbox_leaves_nothing() {
    run(async {
        let place = sandbox().await;
        // Also what an ordinary remove would stumble over.
        place.ok("import os\nos.makedirs('a/b/c')\nopen('a/b/c/f', 'w').close()\nos.chmod('a/b', 0)\nos.symlink('/', 'link')").await;
        let folder = system::volume(&home(), place.id());
        assert!(folder.join("mnt/data/a").exists());
        engine().await.delete(place.id()).await.unwrap();
        assert!(!folder.exists() && !folder.parent().unwrap().exists());
        assert_eq!(system::in_group(place.id().as_str()), []);
        assert!(system::groups(place.id().as_str()).is_empty());
        let gone = engine().await.files(place.id(), &SandboxSpec::default()).await;
        assert!(matches!(gone, Err(BackendError::NoSuchSandbox(_))));
        assert!(matches!(engine().await.delete(place.id()).await, Err(BackendError::NoSuchSandbox(_))));
    });
}

#[test]
fn a_paused_sandbox_stands_still() {
    run(async {
        let place = sandbox().await;
        let code = "import os\nn = 0\nf = os.open('n', os.O_CREAT | os.O_RDWR)\nprint('running')\nwhile not os.path.exists('stop'):\n    n += 1\n    os.pwrite(f, b'%10d' % n, 0)";
        let mut counting = place.start(code).await;
        next_stdout(&mut counting).await;
        place.pause().await.unwrap();
        let before = place.get("n").await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(place.get("n").await, before, "it counted while it was paused");
        place.put("uploaded", b"while paused").await;
        place.resume().await.unwrap();
        while place.get("n").await == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        place.put("stop", b"").await;
        finished(counting).await.assert_ok();
        assert_eq!(place.value("open('uploaded').read()").await, "'while paused'");
    });
}

#[test]
fn a_paused_sandbox_can_be_deleted() {
    run(async {
        let place = sandbox().await;
        let mut running = place.start("print('running')\nwhile True:\n    pass").await;
        next_stdout(&mut running).await;
        place.pause().await.unwrap();
        engine().await.delete(place.id()).await.unwrap();
        assert_eq!(system::in_group(place.id().as_str()), []);
        assert!(!matches!(finished(running).await.ending, sandgate_core::Ending::Ok));
    });
}

#[test]
fn what_is_asked_for_in_the_environment_is_there() {
    run(async {
        let env = vec![
            ("GREETING".to_owned(), "hello wörld".to_owned()),
            ("PATH".to_owned(), "/usr/bin".to_owned()),
        ];
        let spec = SandboxSpec { env, ..SandboxSpec::default() };
        let place = Place::of(engine().await.create(spec).await.unwrap());
        assert_eq!(
            place.value("import os\nos.environ['GREETING'], os.environ['PATH']").await,
            "('hello wörld', '/usr/bin')"
        );
        assert_eq!(place.ok("!echo $GREETING").await.stdout, "hello wörld\n");
    });
}

#[test]
fn usage_is_measured() {
    run(async {
        let place = sandbox_with(Limits::default()).await;
        place.ok("keep = bytearray(b'x') * (50 << 20)\nopen('f', 'wb').write(keep[:5 << 20])\nimport time\nend = time.process_time() + 0.3\nwhile time.process_time() < end:\n    pass").await;
        let usage = place.usage().await.unwrap();
        assert!(usage.memory_bytes > 50 << 20 && usage.memory_peak_bytes >= usage.memory_bytes, "{usage:?}");
        assert!(usage.disk_bytes >= 5 << 20 && usage.disk_bytes < 6 << 20, "{usage:?}");
        assert!((1..10).contains(&usage.processes), "{usage:?}");
        // Version 1 counts time in a hierarchy of its own, which the engine uses only where it comes with the quota's.
        let apart = Path::new("/sys/fs/cgroup/cpu").exists()
            && !Path::new("/sys/fs/cgroup/cpu/cpuacct.usage").exists();
        assert!(usage.cpu_micros > 250_000 || apart, "{usage:?}");
    });
}

/// Containers over the shared engine, with a registry of their own.
async fn containers(idle: Duration, max_live: usize) -> Containers {
    let backend = Arc::clone(engine().await) as Arc<dyn Backend>;
    let config = ContainersConfig { idle, max_live, ..ContainersConfig::default() };
    Containers::open(backend, Arc::new(MemoryRegistry::default()), config).await.unwrap()
}

fn named(name: &str) -> NewContainer {
    NewContainer { name: Some(name.to_owned()), ..NewContainer::default() }
}

async fn cell(container: &Container, code: &str) -> Outcome {
    let request = ExecuteRequest { code: code.to_owned(), ..ExecuteRequest::default() };
    finished(container.execute(request).await.expect("it starts")).await
}

async fn state(container: &Container) -> ContainerState {
    container.info().await.expect("it is there").state
}

#[test]
fn an_idle_container_sleeps_and_wakes() {
    run(async {
        let containers = containers(Duration::ZERO, 10).await;
        let container = containers.create(named("mine")).await.unwrap();
        cell(&container, "x = 1\nopen('kept', 'w').write('file')").await.assert_ok();
        let sandbox = container.sandbox().await.unwrap().id().clone();
        assert_eq!(state(&container).await, ContainerState::Running);
        containers.expire_idle().await;
        assert_eq!(state(&container).await, ContainerState::Asleep);
        assert_eq!(system::in_group(sandbox.as_str()), [], "its processes are given back");
        let files = container.files().await.unwrap();
        assert_eq!(files.read(&path("kept"), 100).await.unwrap(), "file");
        let outcome = cell(&container, "open('kept').read()").await;
        assert_eq!(outcome.value(), "'file'");
        assert!(outcome.has_note(Note::FreshKernel), "{outcome:?}");
        assert_eq!(state(&container).await, ContainerState::Running);
        containers.delete(container.owner(), container.id()).await.unwrap();
        assert!(container.info().await.is_none() && containers.list(&Owner::anonymous()).await.is_empty());
    });
}

#[test]
fn a_container_at_work_or_paused_does_not_sleep() {
    run(async {
        let containers = containers(Duration::ZERO, 10).await;
        let container = containers.create(NewContainer::default()).await.unwrap();
        let request = ExecuteRequest {
            code: "x = 1\nprint('running')\nwhile True:\n    pass".into(),
            ..ExecuteRequest::default()
        };
        let mut running = container.execute(request).await.unwrap();
        next_stdout(&mut running).await;
        containers.expire_idle().await;
        assert_eq!(state(&container).await, ContainerState::Running);
        running.handle.interrupt();
        finished(running).await;

        container.pause().await.unwrap();
        containers.expire_idle().await;
        assert_eq!(state(&container).await, ContainerState::Paused);
        let refused = container.execute(ExecuteRequest::default()).await.unwrap_err();
        assert_eq!(refused.to_string(), "the container is paused; resume it first");
        container.resume().await.unwrap();
        assert_eq!(cell(&container, "x").await.value(), "1");
        containers.delete(container.owner(), container.id()).await.unwrap();
    });
}

#[test]
fn there_is_room_for_so_many_containers() {
    run(async {
        let containers = containers(Duration::from_secs(60), 2).await;
        let first = containers.create(NewContainer::default()).await.unwrap();
        let second = containers.create(NewContainer::default()).await.unwrap();
        let refused = containers.create(NewContainer::default()).await.unwrap_err();
        assert!(refused.to_string().contains("2 are live, which is the limit"), "{refused}");
        for container in [first, second] {
            containers.delete(container.owner(), container.id()).await.unwrap();
        }
    });
}

async fn open(engine: &Arc<Engine>, home: &TempDir) -> Containers {
    let registry = Arc::new(Store::open(home.path()).await.unwrap());
    let backend = Arc::clone(engine) as Arc<dyn Backend>;
    Containers::open(backend, registry, ContainersConfig::default()).await.unwrap()
}

#[test]
fn containers_outlive_the_engine() {
    run(async {
        let home = scratch_home().await;
        let first = lean_engine(home.path()).await;
        let containers = open(&first, &home).await;
        let spec = SandboxSpec {
            limits: Limits { processes: 50, ..Limits::default() },
            env: vec![("A".into(), "b".into())],
            ..SandboxSpec::default()
        };
        let made = containers.create(NewContainer { spec, ..named("kept") }).await.unwrap();
        cell(&made, "x = 1\nopen('kept', 'w').write('file')").await.assert_ok();
        let [run] = &system::instances(home.path())[..] else { panic!("one run") };
        first.shut_down().await;
        assert_eq!(system::in_group(run), []);
        assert!(system::groups(run).is_empty(), "{:?}", system::groups(run));
        assert!(system::instances(home.path()).is_empty());
        assert!(matches!(first.create(SandboxSpec::default()).await, Err(BackendError::ShuttingDown)));
        let id = made.id().clone();
        drop((first, containers, made));

        let second = lean_engine(home.path()).await;
        let containers = open(&second, &home).await;
        let listed = containers.list(&Owner::anonymous()).await;
        assert_eq!(listed.len(), 1);
        assert_eq!(
            (&listed[0].id, listed[0].name.as_deref(), listed[0].state),
            (&id, Some("kept"), ContainerState::Asleep)
        );
        let again = containers.get(&Owner::anonymous(), &id).unwrap();
        let outcome = cell(&again, "import os\nprint(open('kept').read(), os.environ['A'])\nx").await;
        assert_eq!((&*outcome.stdout, outcome.raised()), ("file b\n", "NameError"));
        assert!(outcome.has_note(Note::FreshKernel));
        second.shut_down().await;
    });
}

#[test]
fn two_engines_with_two_homes_do_not_meet() {
    run(async {
        let home = scratch_home().await;
        let other = lean_engine(home.path()).await;
        let theirs = other.create(SandboxSpec::default()).await.unwrap();
        let ours = sandbox().await;
        ours.ok("open('mine', 'w').write('ours');").await;
        let code = "import os\nos.listdir('.'), os.stat('.').st_uid == os.getuid()";
        let request = ExecuteRequest { code: code.into(), ..ExecuteRequest::default() };
        assert_eq!(finished(theirs.execute(request).await.unwrap()).await.value(), "([], True)");
        let gone = other.files(ours.id(), &SandboxSpec::default()).await;
        assert!(matches!(gone, Err(BackendError::NoSuchSandbox(_))));
        other.shut_down().await;
        assert_eq!(
            ours.value("open('mine').read()").await,
            "'ours'",
            "the end of one is nothing to the other"
        );
    });
}

#[test]
fn one_home_has_one_server() {
    run(async {
        let home = scratch_home().await;
        let first = lean_engine(home.path()).await;
        let config = EngineConfig {
            ephemeral: false,
            ..EngineConfig::new(home.path().to_owned(), env!("CARGO_BIN_EXE_sandgate").into())
        };
        let refused = Engine::start(config, &sandgate_engine::runtime::Silent).await.unwrap_err();
        assert!(matches!(refused, StartError::HomeInUse(_)), "{refused}");
        assert!(refused.to_string().contains("another server uses this home"), "{refused}");
        first.shut_down().await;
    });
}

#[test]
fn nothing_is_left_of_a_server_that_was_killed() {
    let home = run(scratch_home());
    let server = Server::start(home.path());
    let code = "x = 1\nopen('kept', 'w').write('file')\nimport subprocess\nsubprocess.Popen(['setsid', 'sleep', '86397']);";
    let made = post(server.address, &json!({"code": code}));
    assert_eq!(made.status, 200, "{made:?}");
    let container = made.json()["container"].as_str().unwrap().to_owned();

    let [run] = &system::instances(home.path())[..] else { panic!("one run") };
    let family = system::descendants(server.pid().as_raw_nonzero().get());
    assert!(family.len() > 5 && !system::in_group(run).is_empty(), "there is something to leave: {family:?}");
    server.kill_9();
    let killed = Instant::now();
    wait_until("all its processes end", || family.iter().all(|process| !process.lives()));
    assert!(killed.elapsed() < Duration::from_secs(20), "{:?}", killed.elapsed());
    assert_eq!(system::in_group(run), []);
    assert_eq!(system::mounts_of(home.path()), [] as [String; 0]);

    let server = Server::start(home.path());
    assert!(system::groups(run).is_empty(), "{:?}", system::groups(run));
    assert!(!system::instances(home.path()).contains(run));
    let again =
        post(server.address, &json!({"code": "print(open('kept').read())\nx", "container": container}));
    let outcome = again.json();
    assert_eq!(
        (outcome["stdout"].as_str(), outcome["error"]["name"].as_str()),
        (Some("file\n"), Some("NameError")),
        "{outcome}"
    );
    assert_eq!(outcome["notes"][0]["note"], "fresh_kernel", "{outcome}");

    // An ordinary end leaves nothing at once.
    let [run] = &system::instances(home.path())[..] else { panic!("one run") };
    let family = system::descendants(server.pid().as_raw_nonzero().get());
    assert!(server.terminate());
    assert!(family.iter().all(|process| !process.lives()));
    assert!(system::groups(run).is_empty() && system::instances(home.path()).is_empty());
}
