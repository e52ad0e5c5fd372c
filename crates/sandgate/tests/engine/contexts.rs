//! Several interpreters in one sandbox: apart in state, together in files, side by side in time.

use sandgate_core::{BackendError, ContextId, ContextSpec, Ending, ExecuteRequest, Limits, Note};

use crate::common::{Read, finished, next_stdout, run, sandbox, sandbox_with, system, wait_until};

/// Ends once the file is there.
fn wait_for(file: &str) -> String {
    format!("import os, time\nwhile not os.path.exists('{file}'):\n    time.sleep(0.01)\n")
}

#[test]
fn state_is_apart_and_files_are_shared() {
    run(async {
        let place = sandbox().await;
        let (a, b) = (place.context("a").await, place.context("b").await);
        place
            .in_context(&a, "x = 'a'\nopen('f', 'w').write('from a')\nimport os\nos.environ['V'] = 'a'")
            .await
            .assert_ok();
        let other =
            place.in_context(&b, "print(open('f').read())\nimport os\nprint(os.environ.get('V'))\nx").await;
        assert_eq!((&*other.stdout, other.raised()), ("from a\nNone\n", "NameError"));
        assert_eq!(place.cell("x").await.raised(), "NameError");
        let again = place.in_context(&a, "x").await;
        assert_eq!(again.value(), "'a'");
        assert_eq!(again.execution_count, 2, "each counts for itself");
    });
}

#[test]
fn they_are_listed_with_what_they_are() {
    run(async {
        let place = sandbox().await;
        place.ok("import os\nos.mkdir('sub')").await;
        let id = Some(ContextId::parse("named").unwrap());
        let spec = ContextSpec { id, language: Some("python".into()), cwd: Some("/mnt/data/sub".into()) };
        let info = place.create_context(spec).await.unwrap();
        assert_eq!(
            (info.id.as_str(), &*info.language, &*info.cwd, info.busy),
            ("named", "python", "/mnt/data/sub", false)
        );
        assert_eq!(place.in_context(&info.id, "import os\nos.getcwd()").await.value(), "'/mnt/data/sub'");
        let unnamed = place.create_context(ContextSpec::default()).await.unwrap();
        let mut running = place.start_in(&unnamed.id, "print('running')\nwhile True:\n    pass").await;
        next_stdout(&mut running).await;
        let listed = place.contexts().await.unwrap();
        let busy: Vec<_> = listed.iter().map(|one| (one.id.as_str(), one.busy)).collect();
        let expected = [("default", false), ("named", false), (unnamed.id.as_str(), true)];
        assert_eq!(busy, expected);
    });
}

#[test]
fn executions_of_one_context_queue_in_order() {
    run(async {
        let place = sandbox().await;
        let mut first = place.start(&format!("print('running')\n{}order = [0]", wait_for("go"))).await;
        next_stdout(&mut first).await;
        let mut queued = Vec::new();
        for n in 1..=10 {
            queued.push(place.start(&format!("order.append({n})")).await);
        }
        place.put("go", b"").await;
        finished(first).await.assert_ok();
        for execution in queued {
            finished(execution).await.assert_ok();
        }
        assert_eq!(place.value("order").await, "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]");
    });
}

#[test]
fn different_contexts_run_at_the_same_time() {
    run(async {
        let place = sandbox().await;
        let names = ["a", "b", "c"];
        let mut running = Vec::new();
        // Each ends only when all have begun.
        for name in names {
            let id = place.context(name).await;
            let all: String = names.iter().map(|other| wait_for(other)).collect();
            running.push(place.start_in(&id, &format!("open('{name}', 'w').close()\n{all}")).await);
        }
        for execution in running {
            finished(execution).await.assert_ok();
        }
    });
}

#[test]
fn a_death_in_one_context_is_nothing_to_another() {
    run(async {
        let place = sandbox().await;
        let (a, b) = (place.context("a").await, place.context("b").await);
        place.in_context(&a, "x = 1").await.assert_ok();
        let mut waiting = place.start_in(&a, &format!("print('running')\n{}x", wait_for("go"))).await;
        next_stdout(&mut waiting).await;
        let died = place.in_context(&b, "import os\nos.kill(os.getpid(), 9)").await;
        assert_eq!(died.ending, Ending::Signalled { signal: 9 });
        place.put("go", b"").await;
        assert_eq!(finished(waiting).await.value(), "1");
        assert!(place.in_context(&b, "1").await.has_note(Note::FreshKernel));
    });
}

#[test]
fn there_is_a_limit_and_it_is_named() {
    run(async {
        let place = sandbox_with(Limits { contexts: 3, ..Limits::default() }).await;
        place.ok("1").await;
        let mut made = Vec::new();
        let refused = loop {
            match place.create_context(ContextSpec::default()).await {
                Ok(info) => made.push(info.id),
                Err(error) => break error,
            }
            assert!(made.len() <= 3, "more than the limit");
        };
        assert!(matches!(refused, BackendError::TooManyContexts { limit: 3 }), "{refused:?}");
        assert!(refused.to_string().contains("3 contexts"), "{refused}");
        place.delete_context(&made[0]).await.unwrap();
        place.context("room-again").await;
    });
}

#[test]
fn deleting_ends_what_it_started_and_nothing_else() {
    run(async {
        let place = sandbox().await;
        let (a, b) = (place.context("a").await, place.context("b").await);
        let marks = ["86398.5", "86398.25"].map(|mark| format!("{mark}{}", std::process::id()));
        for (context, mark) in [&a, &b].into_iter().zip(&marks) {
            let code = format!("import subprocess\nx = 1\nsubprocess.Popen(['setsid', 'sleep', '{mark}']);");
            place.in_context(context, &code).await.assert_ok();
            wait_until("the child runs", || !system::with_argument(mark).is_empty());
        }
        place.delete_context(&a).await.unwrap();
        wait_until("the child of the deleted one is gone", || system::with_argument(&marks[0]).is_empty());
        assert!(!system::with_argument(&marks[1]).is_empty());
        assert_eq!(place.in_context(&b, "x").await.value(), "1");
        let gone =
            place.execute(ExecuteRequest { context: Some(a.clone()), ..ExecuteRequest::default() }).await;
        assert!(matches!(gone, Err(BackendError::NoSuchContext(id)) if id == a));
        assert!(matches!(place.delete_context(&a).await, Err(BackendError::NoSuchContext(_))));
    });
}

#[test]
fn one_that_is_deleted_while_it_runs_says_so_to_everybody_who_waits() {
    run(async {
        let place = sandbox().await;
        let id = place.context("a").await;
        let mut running = place.start_in(&id, "print('running')\nwhile True:\n    pass").await;
        next_stdout(&mut running).await;
        let queued = place.start_in(&id, "open('ran', 'w').close()").await;
        place.delete_context(&id).await.unwrap();
        for execution in [running, queued] {
            let outcome = finished(execution).await;
            assert!(!matches!(outcome.ending, Ending::Ok | Ending::Raised), "{outcome:?}");
        }
        assert_eq!(
            place.value("import os\nos.path.exists('ran')").await,
            "False",
            "a deleted context runs nothing"
        );
        // The name is free again, and what has it now is new.
        let again = place.context("a").await;
        assert!(place.in_context(&again, "1").await.notes.is_empty());
    });
}

#[test]
fn wrong_names_and_languages_are_said() {
    run(async {
        let place = sandbox().await;
        let a = place.context("a").await;
        let again = place.create_context(ContextSpec { id: Some(a.clone()), ..ContextSpec::default() }).await;
        assert!(matches!(again, Err(BackendError::ContextExists(id)) if id == a));
        for name in ["", "a/b", "..", "ä", "a\0", &"x".repeat(65)] {
            assert!(ContextId::parse(name).is_err(), "{name:?}");
        }
        let cobol = Some("cobol".to_owned());
        let refused =
            place.create_context(ContextSpec { language: cobol.clone(), ..ContextSpec::default() }).await;
        assert!(refused.unwrap_err().to_string().contains("'cobol' is not available here; there is: python"));
        let refused = place.execute(ExecuteRequest { language: cobol, ..ExecuteRequest::default() }).await;
        assert!(matches!(refused, Err(BackendError::NoSuchLanguage { .. })));
        let unknown = ContextId::parse("unknown").unwrap();
        let refused =
            place.execute(ExecuteRequest { context: Some(unknown), ..ExecuteRequest::default() }).await;
        assert!(matches!(refused, Err(BackendError::NoSuchContext(_))));
    });
}

#[test]
fn a_working_folder_that_is_not_there_is_said() {
    run(async {
        let place = sandbox().await;
        let spec = ContextSpec { cwd: Some("missing".into()), ..ContextSpec::default() };
        let id = place.create_context(spec).await.unwrap().id;
        let outcome = place.in_context(&id, "6*7").await;
        assert_eq!(outcome.value(), "42");
        assert!(outcome.stderr.contains("/mnt/data/missing cannot be used"), "{outcome:?}");
    });
}
