//! Every language against the real engine: state, values, errors, stops, limits, and what is said of those that are
//! missing.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use sandgate_core::{
    Backend, BackendError, ContextSpec, Ending, Event, ExecuteRequest, LimitKind, Limits, Note, Outcome,
    SandboxSpec,
};
use sandgate_engine::runtime::Silent;
use sandgate_engine::runtime::languages::{self, Edition, Tool};

use crate::common::{
    Place, Read, engine, finished, home, lean_engine, next_stdout, prepared, run, sandbox, sandbox_with,
};

/// What is tried in a language.
struct Trial {
    language: &'static str,
    /// Makes a state, and asks for it.
    set: &'static str,
    get: &'static str,
    value: &'static str,
    fails: &'static str,
    name: &'static str,
    /// Says `running` and does not end.
    endless: &'static str,
    /// Prints 1, has a child print 2, prints 3.
    prints: &'static str,
    /// Takes memory until there is none.
    hoards: &'static str,
}

const BASH: Trial = Trial {
    language: "bash",
    set: "x=5; cd /tmp",
    get: "echo \"$x $PWD\"",
    value: "5 /tmp",
    fails: "false",
    name: "ExitStatus",
    endless: "echo running; while true; do :; done",
    prints: "echo 1; sh -c 'echo 2'; echo 3",
    hoards: "x=x; while true; do x=$x$x; done",
};
const JAVASCRIPT: Trial = Trial {
    language: "javascript",
    set: "const x = await Promise.resolve(5)",
    get: "x + 1",
    value: "6",
    fails: "null.x",
    name: "TypeError",
    endless: "console.log('running'); while (true) {}",
    prints: "console.log(1); require('child_process').execSync('echo 2', { stdio: 'inherit' }); console.log(3)",
    hoards: "const all = []; while (true) all.push(new Array(100000).fill(1.5))",
};
const TYPESCRIPT: Trial = Trial {
    language: "typescript",
    set: "enum E { A = 5 }\nconst x: number = E.A",
    get: "x + 1",
    value: "6",
    ..JAVASCRIPT
};
const JAVA: Trial = Trial {
    language: "java",
    set: "int x = 5;",
    get: "x + 1",
    value: "6",
    fails: "throw new IllegalStateException(\"no\");",
    name: "EvalException",
    endless: "System.out.println(\"running\"); while (true) {}",
    prints: "System.out.println(1); new ProcessBuilder(\"echo\", \"2\").inheritIO().start().waitFor(); System.out.println(3);",
    hoards: "var all = new ArrayList<long[]>(); while (true) all.add(new long[100000]);",
};
const GO: Trial = Trial {
    language: "go",
    set: "x := 5",
    get: "x + 1",
    value: "6",
    fails: "var y int = \"s\"",
    name: "CompileError",
    endless: "fmt.Println(\"running\")\nfor {}",
    prints: "fmt.Println(1)\nc := exec.Command(\"echo\", \"2\")\nc.Stdout = os.Stdout\nc.Run()\nfmt.Println(3)",
    hoards: "var all [][]byte\nfor { b := make([]byte, 1<<20); for i := range b { b[i] = 1 }; all = append(all, b) }",
};
const R: Trial = Trial {
    language: "r",
    set: "x <- 5",
    get: "x + 1",
    value: "[1] 6",
    fails: "stop('no')",
    name: "Error",
    endless: "cat('running\\n'); repeat {}",
    prints: "cat('1\\n'); system('echo 2'); cat('3\\n')",
    hoards: "all <- list(); repeat all[[length(all) + 1]] <- rnorm(1e5)",
};

/// Every runtime is there when this returns; after the first time it is at once.
pub(crate) fn with_runtimes() {
    static ADDED: OnceLock<()> = OnceLock::new();
    prepared();
    ADDED.get_or_init(|| {
        let another = Edition::parse("node@20").unwrap();
        for edition in Tool::ALL.into_iter().map(Edition::from).chain([another]) {
            languages::add(&home().join("runtimes"), edition, &Silent).expect("a runtime");
        }
    });
}

fn request(trial: &Trial, code: &str) -> ExecuteRequest {
    let language = Some(trial.language.to_owned());
    ExecuteRequest { code: code.to_owned(), language, ..ExecuteRequest::default() }
}

async fn cell(place: &Place, trial: &Trial, code: &str) -> Outcome {
    finished(place.request(request(trial, code)).await).await
}

/// The value, or for a language without values what it printed.
fn answer(outcome: &Outcome) -> String {
    outcome.assert_ok();
    if outcome.results.is_empty() { outcome.stdout.trim_end().to_owned() } else { outcome.value() }
}

fn in_all(trial: impl AsyncFn(&Trial)) {
    with_runtimes();
    run(async {
        for one in [&BASH, &JAVASCRIPT, &TYPESCRIPT, &JAVA, &GO, &R] {
            trial(one).await;
        }
    });
}

#[test]
fn state_lasts_and_errors_leave_it() {
    in_all(async |trial| {
        let (place, language) = (sandbox().await, trial.language);
        cell(&place, trial, trial.set).await.assert_ok();
        assert_eq!(answer(&cell(&place, trial, trial.get).await), trial.value, "{language}");
        let failed = cell(&place, trial, trial.fails).await;
        assert_eq!(failed.raised(), trial.name, "{language}: {failed:?}");
        assert!(!failed.error.as_ref().unwrap().traceback.is_empty(), "{language}");
        assert_eq!(answer(&cell(&place, trial, trial.get).await), trial.value, "{language}");
        let again = cell(&place, trial, trial.get).await;
        assert_eq!((again.execution_count, again.notes.len()), (5, 0), "{language}: {again:?}");
    });
}

#[test]
fn an_interrupt_ends_the_cell_and_not_the_context() {
    in_all(async |trial| {
        let (place, language) = (sandbox().await, trial.language);
        cell(&place, trial, trial.set).await.assert_ok();
        let mut running = place.request(request(trial, trial.endless)).await;
        assert_eq!(next_stdout(&mut running).await.trim_end(), "running", "{language}");
        running.handle.interrupt();
        let outcome = finished(running).await;
        assert_eq!(outcome.ending, Ending::Interrupted, "{language}: {outcome:?}");
        assert_eq!(outcome.text, "the code was interrupted", "{language}");
        assert_eq!(answer(&cell(&place, trial, trial.get).await), trial.value, "{language}");
    });
}

#[test]
fn a_timeout_ends_the_cell_and_a_second_stop_the_context() {
    in_all(async |trial| {
        let (place, language) = (sandbox().await, trial.language);
        cell(&place, trial, trial.set).await.assert_ok();
        let timeout = Some(std::time::Duration::from_secs(1));
        let late = place.request(ExecuteRequest { timeout, ..request(trial, trial.endless) }).await;
        let outcome = finished(late).await;
        assert_eq!(outcome.ending, Ending::TimedOut, "{language}: {outcome:?}");
        let mut running = place.request(request(trial, trial.endless)).await;
        next_stdout(&mut running).await;
        running.handle.kill();
        let outcome = finished(running).await;
        assert_eq!(outcome.ending, Ending::Interrupted, "{language}: {outcome:?}");
        assert!(outcome.text.contains("variables are gone"), "{language}: {}", outcome.text);
        assert!(cell(&place, trial, trial.set).await.has_note(Note::FreshKernel), "{language}");
    });
}

#[test]
fn output_keeps_its_order_and_comes_before_the_value() {
    in_all(async |trial| {
        let (place, language) = (sandbox().await, trial.language);
        let code = format!("{}\n{}", trial.prints, if language == "go" { "7" } else { "" });
        let mut running = place.request(request(trial, &code)).await;
        let (mut printed, mut after) = (String::new(), String::new());
        while let Some(event) = running.events.recv().await {
            match event {
                Event::Stdout { text } if after.is_empty() => printed.push_str(&text),
                Event::Stdout { text } => panic!("{language}: {text:?} came after {after}"),
                Event::Result { data, .. } => after = format!("{data:?}"),
                _ => {}
            }
        }
        assert_eq!(printed, "1\n2\n3\n", "{language}");
    });
}

#[test]
fn the_memory_limit_holds_in_every_language() {
    in_all(async |trial| {
        let limits = Limits { memory_bytes: 400 << 20, ..Limits::default() };
        let (place, language) = (sandbox_with(limits).await, trial.language);
        cell(&place, trial, trial.set).await.assert_ok();
        let outcome = cell(&place, trial, trial.hoards).await;
        match language {
            // Its own heap ends before the sandbox's memory.
            "java" => assert!(format!("{outcome:?}").contains("java.lang.OutOfMemoryError"), "{outcome:?}"),
            // A program of its own is killed, not what compiled it.
            "go" => {
                assert_eq!(outcome.raised(), "ExitStatus");
                assert!(outcome.note(Note::ChildKilledForMemory).contains("400 MiB"), "{outcome:?}");
            }
            _ => {
                let memory = Ending::LimitHit { limit: LimitKind::Memory };
                assert_eq!(outcome.ending, memory, "{language}: {outcome:?}");
            }
        }
        cell(&place, trial, trial.set).await.assert_ok();
    });
}

#[test]
fn contexts_of_a_language_are_apart() {
    in_all(async |trial| {
        let (place, language) = (sandbox().await, trial.language);
        let mut made = Vec::new();
        for _ in 0..2 {
            let spec = ContextSpec { language: Some(language.to_owned()), ..ContextSpec::default() };
            let info = place.create_context(spec).await.unwrap();
            assert_eq!(info.language, language);
            made.push(info.id);
        }
        place.in_context(&made[0], trial.set).await.assert_ok();
        assert_eq!(answer(&place.in_context(&made[0], trial.get).await), trial.value, "{language}");
        let other = place.in_context(&made[1], trial.get).await;
        let seen = other.ending == Ending::Ok && answer(&other) == trial.value;
        assert!(!seen, "{language}: {other:?}");
    });
}

#[test]
fn each_language_has_a_default_context_of_its_own() {
    with_runtimes();
    run(async {
        let place = sandbox().await;
        place.ok("x = 'python'").await;
        cell(&place, &JAVASCRIPT, "const x = 'js'").await.assert_ok();
        cell(&place, &TYPESCRIPT, "const x: string = 'ts'").await.assert_ok();
        cell(&place, &BASH, "x=bash").await.assert_ok();
        assert_eq!(place.value("x").await, "'python'");
        for (alias, code, value) in
            [("js", "x", "'js'"), ("ts", "x", "'ts'"), ("sh", "echo $x", "bash"), ("py", "x", "'python'")]
        {
            let (code, language) = (code.to_owned(), Some(alias.to_owned()));
            let asked = ExecuteRequest { code, language, ..ExecuteRequest::default() };
            assert_eq!(answer(&finished(place.request(asked).await).await), value, "{alias}");
        }
        let listed = place.contexts().await.unwrap();
        let listed: Vec<_> = listed.iter().map(|one| (one.id.as_str(), &*one.language)).collect();
        let expected = [
            ("default", "python"),
            ("default-javascript", "javascript"),
            ("default-typescript", "typescript"),
            ("default-bash", "bash"),
        ];
        assert_eq!(listed, expected);
        let id = place.context("mine").await;
        let wrong = ExecuteRequest { context: Some(id), ..request(&JAVASCRIPT, "1") };
        let refused = place.execute(wrong).await.unwrap_err().to_string();
        assert!(refused.contains("'mine' runs python, not javascript"), "{refused}");
    });
}

#[test]
fn plots_of_r_are_pictures() {
    with_runtimes();
    run(async {
        let place = sandbox().await;
        let outcome = cell(&place, &R, "plot(1:3, main = 'Größe')").await;
        let picture = outcome.shown()["image/png"].as_str().unwrap().to_owned();
        assert!(picture.starts_with("iVBORw0KGgo") && picture.len() > 1000, "{picture}");
    });
}

async fn with_variable(name: &str, version: &str) -> Place {
    let env = vec![(name.to_owned(), version.to_owned())];
    Place::of(engine().await.create(SandboxSpec { env, ..SandboxSpec::default() }).await.unwrap())
}

#[test]
fn a_version_is_chosen_by_a_variable_for_contexts_and_commands() {
    with_runtimes();
    run(async {
        let runtimes = home().join("runtimes");
        let there: Vec<_> = languages::ready(&runtimes, Tool::Node).map(|(_, one)| one.version).collect();
        let (chosen, older) = (there.first().unwrap(), there.last().unwrap());
        assert!(older.starts_with("20.") && chosen != older, "{there:?}");
        for (asked, version) in
            [("20", older), ("v20", older), (older, older), (chosen, chosen), ("", chosen)]
        {
            let place = with_variable("NODE_VERSION", asked).await;
            let seen = answer(&cell(&place, &JAVASCRIPT, "process.versions.node").await);
            assert_eq!(seen, format!("'{version}'"), "{asked}");
            let seen = answer(&cell(&place, &BASH, "node --version").await);
            assert_eq!(seen, format!("v{version}"), "{asked}");
        }
    });
}

#[test]
fn an_older_version_runs_what_the_chosen_one_does() {
    with_runtimes();
    run(async {
        let place = with_variable("NODE_VERSION", "20").await;
        for trial in [&JAVASCRIPT, &TYPESCRIPT] {
            cell(&place, trial, trial.set).await.assert_ok();
            assert_eq!(answer(&cell(&place, trial, trial.get).await), trial.value);
            assert_eq!(cell(&place, trial, trial.fails).await.raised(), trial.name);
            let mut running = place.request(request(trial, trial.endless)).await;
            next_stdout(&mut running).await;
            running.handle.interrupt();
            assert_eq!(finished(running).await.ending, Ending::Interrupted, "{}", trial.language);
            assert_eq!(answer(&cell(&place, trial, trial.get).await), trial.value);
        }
        let imports = "import { join } from 'node:path'\njoin('a', 'b')";
        assert_eq!(answer(&cell(&place, &JAVASCRIPT, imports).await), "'a/b'");
        assert_eq!(cell(&place, &TYPESCRIPT, "const y: = 3").await.raised(), "SyntaxError");
    });
}

#[test]
fn a_version_that_is_not_there_is_refused_with_those_that_are() {
    with_runtimes();
    run(async {
        let runtimes = home().join("runtimes");
        let there: Vec<_> = languages::ready(&runtimes, Tool::Node).map(|(_, one)| one.version).collect();
        let there = there.join(", ");
        for (asked, add) in
            [("1", ""), ("22", "; the operator can add it with: sandgate runtime add node@22")]
        {
            let place = with_variable("NODE_VERSION", asked).await;
            let expected = format!(
                "NODE_VERSION asks for JavaScript {asked}, which is not installed here; there is: {there}{add}"
            );
            let refused = place.execute(request(&JAVASCRIPT, "1")).await.unwrap_err();
            assert_eq!(refused.to_string(), expected);
            let spec = ContextSpec { language: Some("js".into()), ..ContextSpec::default() };
            assert_eq!(place.create_context(spec).await.unwrap_err().to_string(), expected);
            place.ok("'it is nothing to Python'").await;
            let path = answer(&cell(&place, &BASH, "echo $PATH").await);
            assert!(path.contains("/opt/runtimes/go/bin") && !path.contains("/node"), "{path}");
        }
        let place = with_variable("PYTHON_VERSION", "2.7").await;
        let refused = place.execute(ExecuteRequest::default()).await.unwrap_err().to_string();
        assert!(
            refused.contains("PYTHON_VERSION asks for Python 2.7") && refused.contains("3."),
            "{refused}"
        );
        let bash = place.create_context(ContextSpec { language: Some("bash".into()), ..Default::default() });
        assert_eq!(bash.await.unwrap().language, "bash");
        let place = with_variable("PYTHON_VERSION", "3").await;
        assert_eq!(place.value("6*7").await, "42");
    });
}

/// A home with the Python runtime alone.
fn bare_home() -> tempfile::TempDir {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let runtimes = scratch.path().join("runtimes");
    std::fs::create_dir(&runtimes).unwrap();
    for entry in std::fs::read_dir(home().join("runtimes")).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("python-") {
            std::os::unix::fs::symlink(entry.path(), runtimes.join(entry.file_name())).unwrap();
        }
    }
    scratch
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-rT").args([from, to]).status().unwrap().success());
}

#[test]
fn a_missing_runtime_names_its_command_and_one_added_meanwhile_is_seen() {
    with_runtimes();
    run(async {
        let scratch = bare_home();
        let engine = lean_engine(scratch.path()).await;
        let sandbox = engine.create(SandboxSpec::default()).await.unwrap();
        let refused = sandbox.execute(request(&GO, "1")).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "language 'go' is not available here; there is: python, bash; the operator can add it with: \
             sandgate runtime add go"
        );
        assert!(matches!(refused, BackendError::NoSuchLanguage { .. }));
        let bash = finished(sandbox.execute(request(&BASH, "echo there")).await.unwrap()).await;
        assert_eq!(bash.stdout, "there\n");
        let (all, own) = (home().join("runtimes/languages"), scratch.path().join("runtimes/languages"));
        copy(&all.join("node"), &own.join("node"));
        let late = finished(sandbox.execute(request(&JAVASCRIPT, "6*7")).await.unwrap()).await;
        assert_eq!(late.value(), "42", "it is seen in a sandbox that runs");
        engine.shut_down().await;
    });
}

#[test]
fn the_tools_are_commands_inside_and_nobody_can_change_them() {
    with_runtimes();
    run(async {
        let place = sandbox().await;
        for command in
            ["node --version", "npm --version", "java -version", "go version", "Rscript -e 'cat(1)'"]
        {
            cell(&place, &BASH, command).await.assert_ok();
        }
        let refused = cell(&place, &BASH, "touch /opt/runtimes/x || rm /opt/runtimes/node/bin/node").await;
        assert_eq!(refused.raised(), "ExitStatus");
        assert!(refused.stderr.contains("Read-only") || refused.stderr.contains("denied"), "{refused:?}");
    });
}

#[test]
fn a_second_go_program_uses_the_build_cache() {
    with_runtimes();
    run(async {
        let place = sandbox().await;
        let program = "package main\nimport \"fmt\"\nfunc main() { fmt.Println(3 + 4) }";
        assert_eq!(cell(&place, &GO, program).await.stdout, "7\n");
        let built = "find /tmp/sandgate-go-* -name 'cell-*' -printf '%f %T@\\n' | sort";
        let before = answer(&cell(&place, &BASH, built).await);
        assert_eq!(before.lines().count(), 1, "{before}");
        assert_eq!(cell(&place, &GO, program).await.stdout, "7\n");
        assert_eq!(answer(&cell(&place, &BASH, built).await), before, "nothing was built anew");
        for n in 0..12 {
            let program = format!("package main\nfunc main() {{ println({n}) }}");
            assert_eq!(cell(&place, &GO, &program).await.stderr, format!("{n}\n"));
        }
        let kept = answer(&cell(&place, &BASH, built).await);
        assert_eq!(kept.lines().count(), 8, "only the last ones are kept: {kept}");
    });
}
