//! What the doors of notebooks need of a run: variables of its own, data beside pictures, its number ahead, a
//! context that starts over, and another working folder.

use std::time::Duration;

use sandgate_core::{
    Backend, ContextId, ContextSpec, Ending, Event, ExecuteRequest, Limits, Note, Outcome, SandboxSpec,
};
use serde_json::json;
use tokio::time::timeout;

use crate::common::{LONGEST, Place, Read, engine, finished, next_stdout, run, sandbox};

async fn with_env(place: &Place, code: &str, env: &[(&str, &str)]) -> Outcome {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    finished(place.request(ExecuteRequest { code: code.to_owned(), env, ..Default::default() }).await).await
}

fn notebook(code: &str) -> ExecuteRequest {
    ExecuteRequest { code: code.to_owned(), with_chart_data: true, ..ExecuteRequest::default() }
}

async fn place_with(spec: SandboxSpec) -> Place {
    Place::of(engine().await.create(spec).await.unwrap())
}

#[test]
fn variables_of_a_run_are_gone_after_it() {
    run(async {
        let env = vec![("FOO".to_owned(), "sandbox".to_owned())];
        let place = place_with(SandboxSpec { env, ..SandboxSpec::default() }).await;
        let show = "import os, subprocess\nprint(os.getenv('FOO'), subprocess.getoutput('echo $FOO $BAR'))";
        let run = with_env(&place, show, &[("FOO", "run"), ("BAR", "too")]).await;
        assert_eq!(run.stdout, "run run too\n");
        assert_eq!(place.ok(show).await.stdout, "sandbox sandbox\n");
        assert_eq!(with_env(&place, "1/0", &[("FOO", "run")]).await.raised(), "ZeroDivisionError");
        assert_eq!(place.ok(show).await.stdout, "sandbox sandbox\n");
    });
}

#[test]
fn variables_that_cannot_be_are_refused() {
    run(async {
        let place = sandbox().await;
        let large = "x".repeat(2 << 20);
        for (name, value) in [("", "v"), ("A=B", "v"), ("A\0", "v"), ("A", "\0"), ("A", large.as_str())] {
            let env = vec![(name.to_owned(), value.to_owned())];
            let request = ExecuteRequest { code: "1".to_owned(), env, ..Default::default() };
            assert!(place.execute(request).await.is_err(), "{name:?}");
        }
    });
}

#[test]
fn figures_tables_and_values_come_with_their_data_when_asked_for() {
    run(async {
        let place = sandbox().await;
        let chart = "import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4])\nplt.title('T')\nplt.show()";
        let outcome = finished(place.request(notebook(chart)).await).await;
        let data = outcome.shown();
        assert_eq!(data.keys().collect::<Vec<_>>(), ["e2b/chart", "image/png", "text/plain"]);
        assert_eq!((&data["e2b/chart"]["type"], &data["e2b/chart"]["title"]), (&json!("line"), &json!("T")));
        assert_eq!(data["e2b/chart"]["elements"][0]["points"], json!([[1.0, 3.0], [2.0, 4.0]]));
        let table = "import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': ['x', None]})";
        let outcome = finished(place.request(notebook(table)).await).await;
        assert_eq!(outcome.shown()["e2b/data"], json!({"a": [1, 2], "b": ["x", null]}));
        let outcome = finished(place.request(notebook("{'a': (1, 2.5)}")).await).await;
        assert_eq!(outcome.shown()["application/json"], json!({"a": [1, 2.5]}));
        let save = "from PIL import Image\nImage.new('RGB', (3, 2)).save('x.png')";
        let outcome = finished(place.request(notebook(save)).await).await;
        assert!(outcome.shown().contains_key("image/png"));
        assert!(place.ok(save).await.results.is_empty(), "nobody asked");
    });
}

/// The first event of a run.
async fn number(place: &Place, code: &str) -> u64 {
    let mut execution = place.request(notebook(code)).await;
    let first = execution.events.recv().await;
    let Some(Event::Started { execution_count }) = first else { panic!("{first:?}") };
    let outcome = finished(execution).await;
    assert!([0, execution_count].contains(&outcome.execution_count), "{outcome:?}");
    execution_count
}

#[test]
fn the_number_of_a_run_comes_first() {
    run(async {
        let place = sandbox().await;
        assert_eq!(number(&place, "print(1)").await, 1);
        assert_eq!(number(&place, "x = = 1").await, 2);
        place.ok("2").await;
        assert_eq!(number(&place, "import os; os._exit(3)").await, 4);
        assert_eq!(number(&place, "1").await, 1, "of a fresh interpreter");
        place.restart_context(&ContextId::default_context()).await.unwrap();
        assert_eq!(number(&place, "1").await, 1);
    });
}

#[test]
fn a_restarted_context_has_nothing_but_its_folder() {
    run(async {
        let place = sandbox().await;
        place.ok("import os\nos.mkdir('sub')").await;
        let id = ContextId::parse("one").unwrap();
        let (id, cwd) = (Some(id), Some("/mnt/data/sub".to_owned()));
        let id = place.create_context(ContextSpec { id, cwd, language: None }).await.unwrap().id;
        let child = "x = 1\nimport os, subprocess\nos.chdir('/tmp')\nsubprocess.Popen(['sleep', '1000']).pid";
        place.in_context(&id, child).await.assert_ok();
        let before = place.usage().await.unwrap().processes;
        place.restart_context(&id).await.unwrap();
        let all_gone = async {
            while place.usage().await.unwrap().processes > before.saturating_sub(2) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(LONGEST, all_gone).await.expect("the interpreter and what it started are gone");
        let outcome = place.in_context(&id, "import os\nprint(os.getcwd())\nx").await;
        assert_eq!((&*outcome.stdout, outcome.raised()), ("/mnt/data/sub\n", "NameError"));
        assert!(!outcome.has_note(Note::FreshKernel), "whoever asked for it knows");
        let info = place.contexts().await.unwrap().pop().unwrap();
        assert_eq!((info.id, &*info.cwd), (id, "/mnt/data/sub"));
        assert!(place.restart_context(&ContextId::parse("other").unwrap()).await.is_err());
    });
}

#[test]
fn a_restart_ends_what_runs_and_not_what_waits() {
    run(async {
        let place = sandbox().await;
        let mut running = place.start("print('running')\nwhile True:\n    pass").await;
        next_stdout(&mut running).await;
        let waiting = place.start("print('next')").await;
        place.restart_context(&ContextId::default_context()).await.unwrap();
        let ended = finished(running).await;
        assert_eq!((ended.ending, &*ended.error.unwrap().name), (Ending::Interrupted, "ContextRestarting"));
        let next = finished(waiting).await;
        next.assert_ok();
        assert_eq!(next.stdout, "next\n");
    });
}

#[test]
fn the_working_folder_of_a_sandbox_is_its_contexts() {
    run(async {
        let working_dir = Some("/home/user".to_owned());
        // From the pool, and with a limit that the pool cannot give.
        let own = Limits { open_files: 200, ..Limits::default() };
        for limits in [Limits::default(), own] {
            let spec = SandboxSpec { limits, working_dir: working_dir.clone(), ..SandboxSpec::default() };
            let place = place_with(spec).await;
            assert_eq!(place.value("import os\nos.getcwd()").await, "'/home/user'");
            let other = place.context("other").await;
            assert_eq!(place.in_context(&other, "import os\nos.getcwd()").await.value(), "'/home/user'");
            let folders: Vec<_> = place.contexts().await.unwrap().into_iter().map(|one| one.cwd).collect();
            assert_eq!(folders, ["/home/user", "/home/user"]);
        }
        let spec = SandboxSpec { working_dir: Some("relative".to_owned()), ..SandboxSpec::default() };
        assert!(engine().await.create(spec).await.is_err());
    });
}
