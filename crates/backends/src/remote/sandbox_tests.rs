//! A remote sandbox over a provider that misbehaves in all the ways that no real one does on demand.

use sandgate_core::{Backend, Ending, Event, Outcome, SandboxPath};
use tempfile::TempDir;

use super::*;
use crate::remote::RemoteBackend;
use crate::remote::double::{Account, code, made, run, spec};

async fn there() -> (Account, TempDir, Arc<RemoteBackend>, Arc<dyn Sandbox>) {
    let (account, home) = (Account::default(), tempfile::tempdir().unwrap());
    let backend = Arc::new(account.backend("far", home.path()).await);
    let sandbox = made(&backend).await;
    (account, home, backend, sandbox)
}

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text).unwrap()
}

async fn kept(backend: &RemoteBackend, sandbox: &Arc<dyn Sandbox>) -> Vec<String> {
    let kept = backend.0.kept(sandbox.id(), &spec().limits).await.unwrap();
    kept.list("/mnt/data", 9).await.unwrap().into_iter().map(|stat| stat.path).collect()
}

fn unreachable() -> ProviderError {
    ProviderError::Unreachable("no answer".to_owned())
}

fn notes(outcome: &Outcome) -> String {
    format!("{outcome:?}")
}

#[tokio::test]
async fn what_one_sandbox_does_closes_the_backend_for_nobody() {
    let (account, _home, backend, sandbox) = there().await;
    for _ in 0..20 {
        let outcome = run(&sandbox, "break").await.unwrap();
        assert_eq!(outcome.ending, Ending::Signalled { signal: 9 }, "{outcome:?}");
    }
    account.table().fails.insert("execute", unreachable());
    for _ in 0..20 {
        assert!(run(&sandbox, "say hi").await.is_err());
    }
    assert!(backend.is_healthy());
    account.table().fails.clear();
    made(&backend).await;
}

#[tokio::test]
async fn a_sandbox_that_does_not_answer_is_replaced_when_its_provider_is_well() {
    let (account, _home, _backend, sandbox) = there().await;
    run(&sandbox, "write /mnt/data/a one").await.unwrap();
    account.table().fails.insert("execute", unreachable());
    assert!(run(&sandbox, "say hi").await.is_err());
    assert!(run(&sandbox, "say hi").await.is_err());
    assert!(account.table().places.contains_key("p1"));
    assert!(run(&sandbox, "say hi").await.is_err());
    account.table().fails.clear();
    let outcome = run(&sandbox, "say hi").await.unwrap();
    assert_eq!(outcome.stdout, "hi");
    assert!(!account.table().places.contains_key("p1"));
    account.only(|place| assert_eq!(place.files.get("/mnt/data/a").map(Vec::as_slice), Some(&b"one"[..])));
}

#[tokio::test]
async fn a_provider_that_is_down_is_not_asked_and_its_running_sandboxes_are() {
    let (account, _home, backend, sandbox) = there().await;
    account.table().fails.insert("create", unreachable());
    for _ in 0..3 {
        assert!(backend.create(spec()).await.is_err());
    }
    assert!(!backend.is_healthy());
    let asked = account.calls("create");
    assert!(backend.create(spec()).await.unwrap_err().to_string().contains("3 times in a row"));
    assert_eq!(account.calls("create"), asked);
    // What runs answers, so it is used; asking for what nobody can do closes nothing.
    assert_eq!(run(&sandbox, "say hi").await.unwrap().stdout, "hi");
    assert!(sandbox.processes().await.is_err());
    assert!(!backend.is_healthy());
    // Until it does not answer either.
    account.table().fails.insert("execute", unreachable());
    assert!(run(&sandbox, "say hi").await.is_err());
    let asked = account.calls("execute");
    assert!(run(&sandbox, "say hi").await.unwrap_err().to_string().contains("in a row"));
    assert_eq!(account.calls("execute"), asked);
}

#[tokio::test]
async fn code_that_says_its_sandbox_is_gone_has_not_one_more_for_it() {
    let (account, _home, backend, sandbox) = there().await;
    for round in 2..6 {
        // As code that has taken the provider's port answers.
        account.table().liars.insert(format!("p{}", round - 1));
        assert_eq!(run(&sandbox, "say hi").await.unwrap().stdout, "hi");
        while account.table().places.len() > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(account.table().places.keys().collect::<Vec<_>>(), [&format!("p{round}")]);
    }
    assert!(backend.is_healthy());
}

#[tokio::test]
async fn no_room_at_the_provider_is_no_outage() {
    let (account, _home, backend, _sandbox) = there().await;
    let full = ProviderError::RateLimited { message: "20 of 20".to_owned(), retry_after: None };
    account.table().fails.insert("create", full);
    for _ in 0..9 {
        assert!(matches!(backend.create(spec()).await, Err(BackendError::Unavailable { .. })));
    }
    assert!(backend.is_healthy());
}

#[tokio::test]
async fn a_slow_reader_loses_nothing_and_stops_nothing() {
    let (account, _home, _backend, sandbox) = there().await;
    let mut execution = sandbox.execute(code("flood 5000\nwrite /mnt/data/a one\nsay end")).await.unwrap();
    // Nobody reads, and the code comes to its end all the same.
    while account.calls("read") == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let mut text = String::new();
    let mut ending = None;
    while let Some(event) = execution.events.recv().await {
        match event {
            Event::Stdout { text: more } => text.push_str(&more),
            Event::Done { ending: how, .. } => ending = Some(how),
            _ => {}
        }
    }
    assert_eq!((text.len(), ending), (5003, Some(Ending::Ok)));
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_named_and_keeps_no_other() {
    let (account, _home, backend, sandbox) = there().await;
    let why = ProviderError::Refused { status: 403, message: "not yours".to_owned() };
    account.table().bad_files.insert("/mnt/data/b".to_owned(), why);
    let outcome =
        run(&sandbox, "write /mnt/data/a 1\nwrite /mnt/data/b 2\nwrite /mnt/data/c 3").await.unwrap();
    let said = notes(&outcome);
    assert!(
        said.contains("could not be fetched") && said.contains("/mnt/data/b") && said.contains("not yours"),
        "{said}"
    );
    assert_eq!(kept(&backend, &sandbox).await, ["/mnt/data/a", "/mnt/data/c"]);
    // The next sandbox says that it is missing, once.
    account.table().places.clear();
    let said = notes(&run(&sandbox, "say hi").await.unwrap());
    assert!(said.contains("could not be kept: /mnt/data/b"), "{said}");
    let said = notes(&run(&sandbox, "say hi").await.unwrap());
    assert!(!said.contains("could not be kept"), "{said}");
}

#[tokio::test]
async fn a_last_look_that_fails_is_told_by_the_next_sandbox() {
    let (account, _home, backend, sandbox) = there().await;
    run(&sandbox, "write /mnt/data/a 1").await.unwrap();
    account.table().fails.insert("list", unreachable());
    sandbox.stop().await.unwrap();
    account.table().fails.clear();
    let sandbox = backend.revive(sandbox.id(), spec()).await.unwrap();
    let said = notes(&run(&sandbox, "say hi").await.unwrap());
    assert!(said.contains("may be missing"), "{said}");
    account.only(|place| assert_eq!(place.files.len(), 1));
}

#[tokio::test]
async fn a_file_that_cannot_be_put_back_keeps_no_other_and_is_not_forgotten() {
    let (account, _home, backend, sandbox) = there().await;
    run(&sandbox, "write /mnt/data/a 1\nwrite /mnt/data/b 2").await.unwrap();
    account.table().places.clear();
    account.table().bad_files.insert("/mnt/data/a".to_owned(), ProviderError::Failed("500".to_owned()));
    let said = notes(&run(&sandbox, "say hi").await.unwrap());
    assert!(said.contains("/mnt/data/a"), "{said}");
    account.only(|place| assert_eq!(place.files.keys().collect::<Vec<_>>(), ["/mnt/data/b"]));
    assert_eq!(kept(&backend, &sandbox).await, ["/mnt/data/a", "/mnt/data/b"]);
    account.table().bad_files.clear();
    account.table().places.clear();
    run(&sandbox, "say hi").await.unwrap();
    account.only(|place| assert_eq!(place.files.len(), 2));
}

#[tokio::test]
async fn paths_that_lead_elsewhere_are_not_kept() {
    let (account, _home, backend, sandbox) = there().await;
    let code = "write /mnt/data/../../etc/passwd 1\nwrite /mnt/data//x 2\nwrite /mnt/data/good 3";
    run(&sandbox, code).await.unwrap();
    assert_eq!(kept(&backend, &sandbox).await, ["/mnt/data/good"]);
    account.table().places.clear();
    run(&sandbox, "say hi").await.unwrap();
    account.only(|place| assert_eq!(place.files.keys().collect::<Vec<_>>(), ["/mnt/data/good"]));
}

#[tokio::test]
async fn many_files_are_one_listing_and_one_index() {
    let (account, home, backend, sandbox) = there().await;
    let many: String = (0..3000).map(|number| format!("write /mnt/data/{number} x\n")).collect();
    run(&sandbox, &many).await.unwrap();
    assert_eq!(kept(&backend, &sandbox).await.len(), 3000);
    account.table().places.clear();
    let before = account.calls("list");
    run(&sandbox, "say hi").await.unwrap();
    // At the end of the filling, and after the run.
    assert_eq!(account.calls("list") - before, 2);
    account.only(|place| assert_eq!(place.files.len(), 3000));
    assert!(home.path().join("remote").join(sandbox.id().as_str()).join("files.json").exists());
}

#[tokio::test]
async fn a_context_that_is_gone_already_does_not_cost_the_sandbox() {
    let (account, _home, _backend, sandbox) = there().await;
    account.table().fails.insert("delete_context", ProviderError::NoSuchContext);
    let outcome = run(&sandbox, "write /mnt/data/a 1\nbreak").await.unwrap();
    assert!(outcome.text.contains("files are kept"), "{outcome:?}");
    account.only(|place| assert_eq!(place.files.len(), 1));
}

#[tokio::test]
async fn files_are_fetched_before_a_sandbox_goes_with_its_interpreter() {
    let (account, _home, backend, sandbox) = there().await;
    account.table().fails.insert("delete_context", ProviderError::Failed("500".to_owned()));
    let outcome = run(&sandbox, "write /mnt/data/a 1\nbreak").await.unwrap();
    assert!(outcome.text.contains("files are kept"), "{outcome:?}");
    assert!(notes(&outcome).contains("/mnt/data/a"), "{outcome:?}");
    assert_eq!(account.table().places.len(), 0);
    assert_eq!(kept(&backend, &sandbox).await, ["/mnt/data/a"]);
    account.table().fails.insert("list", unreachable());
    let outcome = run(&sandbox, "write /mnt/data/b 1\nbreak").await;
    assert!(outcome.is_err() || outcome.unwrap().text.contains("files that this run made"));
}

#[tokio::test]
async fn a_pause_survives_a_look_at_the_files() {
    let (account, _home, backend, sandbox) = there().await;
    run(&sandbox, "write /mnt/data/a 1").await.unwrap();
    sandbox.pause().await.unwrap();
    assert_eq!(sandbox.files().list(&path("/mnt/data"), 1).await.unwrap().len(), 1);
    let written = sandbox.files().write(&path("/mnt/data/b"), &mut "x".as_bytes()).await;
    assert!(matches!(written, Err(BackendError::Paused)), "{written:?}");
    backend.copy(sandbox.id(), &spec()).await.unwrap();
    assert!(crate::remote::reaper::extend_all(&backend.0, Duration::from_secs(60)).await);
    assert_eq!((backend.reap().await.unwrap(), account.calls("extend")), (0, 0));
    sandbox.resume().await.unwrap();
    assert_eq!(run(&sandbox, "say hi").await.unwrap().stdout, "hi");
    assert_eq!(account.calls("create"), 1);
}

#[tokio::test]
async fn what_is_paused_is_kept_alive_where_its_time_runs_on() {
    let (account, _home, backend, sandbox) = there().await;
    account.table().clock_runs = true;
    run(&sandbox, "write /mnt/data/a 1").await.unwrap();
    sandbox.pause().await.unwrap();
    assert!(crate::remote::reaper::extend_all(&backend.0, Duration::from_secs(60)).await);
    assert_eq!(account.calls("extend"), 1);
    // Should it be gone all the same, it can be woken, and has its files.
    account.table().places.clear();
    assert!(crate::remote::reaper::extend_all(&backend.0, Duration::from_secs(60)).await);
    sandbox.resume().await.unwrap();
    assert_eq!(account.calls("resume"), 0);
    assert_eq!(run(&sandbox, "say hi").await.unwrap().stdout, "hi");
    account.only(|place| assert_eq!(place.files.len(), 1));
}

#[tokio::test]
async fn one_that_never_answers_again_is_replaced_after_a_restart() {
    for broken in [true, false] {
        let (account, home, backend, sandbox) = there().await;
        run(&sandbox, "write /mnt/data/a 1").await.unwrap();
        let again = Account::backend(&account, "far", home.path()).await;
        drop(backend);
        if broken {
            account.table().fails.insert("attach", ProviderError::Failed("it has failed".to_owned()));
            account.table().state = Some(PlaceState::Broken);
        } else {
            account.table().hangs.insert("attach");
            tokio::time::pause();
        }
        let sandbox = again.revive(sandbox.id(), spec()).await.unwrap();
        run(&sandbox, "say hi").await.unwrap();
        assert!(again.is_healthy());
        account.only(|place| assert_eq!(place.files.len(), 1));
    }
}

#[tokio::test]
async fn code_that_the_provider_never_answers_for_is_stopped_all_the_same() {
    let (account, _home, _backend, sandbox) = there().await;
    let first = sandbox.execute(code("hang")).await.unwrap();
    let second = sandbox.execute(code("late")).await.unwrap();
    first.handle.kill();
    Outcome::collect(first).await.unwrap();
    while account.calls("execute") < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    second.handle.interrupt();
    let outcome = Outcome::collect(second).await.unwrap();
    assert_eq!(outcome.ending, Ending::Interrupted, "{outcome:?}");
    assert_eq!(run(&sandbox, "say hi").await.unwrap().stdout, "hi");
}

#[tokio::test]
async fn who_leaves_before_the_answer_leaves_no_code_running() {
    let (account, _home, _backend, sandbox) = there().await;
    let other = Arc::clone(&sandbox);
    let waiting = tokio::spawn(async move { other.execute(code("late")).await.map(drop) });
    while account.calls("execute") == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    waiting.abort();
    while account.calls("delete_context") == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(run(&sandbox, "say hi").await.unwrap().stdout, "hi");
}

#[tokio::test]
async fn what_is_deleted_is_not_fetched_first() {
    let (account, _home, backend, sandbox) = there().await;
    let before = account.calls("list");
    backend.delete(sandbox.id()).await.unwrap();
    assert_eq!((account.calls("list"), account.table().places.len()), (before, 0));
}

#[tokio::test]
async fn a_refusal_is_no_reason_to_try_elsewhere() {
    let (account, _home, backend, _sandbox) = there().await;
    account.table().fails.insert("create", ProviderError::Refused { status: 400, message: "no".to_owned() });
    assert!(matches!(backend.create(spec()).await, Err(BackendError::Invalid(_))));
}

#[test]
fn what_code_is_given_is_not_in_what_is_printed() {
    let config = Account::config("far", std::path::Path::new("/"));
    let config = crate::RemoteConfig { env: vec![("KEY".to_owned(), "hunter2".to_owned())], ..config };
    let shared = Shared::new(Arc::new(Account::default()), config);
    let wish = shared.wish(&SandboxId::random(), &spec());
    assert!(!format!("{shared:?} {wish:?}").contains("hunter2"));
}

#[tokio::test]
async fn what_a_provider_cannot_reach_is_named() {
    let (_account, _home, _backend, sandbox) = there().await;
    let said = sandbox.inside().await.unwrap_err().to_string();
    assert_eq!(said, "reaching files and ports inside a sandbox cannot be done on this backend");
}
