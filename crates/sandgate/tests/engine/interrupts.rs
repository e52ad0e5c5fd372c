//! Code that is stopped, and interpreters that die: each is told as what it was, and the sandbox goes on.

use std::time::Duration;

use sandgate_core::{Ending, ExecuteRequest, LimitKind, Limits, Note, human_bytes};

use crate::common::{Place, Read, finished, next_stdout, run, sandbox, sandbox_with};

const LOOP: &str = "x = 1\nprint('running')\nwhile True:\n    pass";

/// Variables are gone, files are not, and the next execution says so once.
async fn assert_started_afresh(place: &Place) {
    let next = place.cell("print(open('kept').read())\nx").await;
    assert_eq!(next.raised(), "NameError");
    assert_eq!(next.stdout, "file\n");
    let note = next.note(Note::FreshKernel);
    assert!(note.contains("variables") && note.contains("gone") && note.contains("files"), "{note}");
    assert!(place.ok("x = 2").await.notes.is_empty());
}

/// Loses its variables to `code`.
async fn after_death_by(limits: Limits, code: &str) -> (Ending, String) {
    let place = sandbox_with(limits).await;
    place.ok("x = 1\nopen('kept', 'w').write('file');").await;
    let outcome = place.cell(&format!("print('last words')\n{code}")).await;
    assert_eq!(outcome.stdout, "last words\n");
    assert!(outcome.text.contains("variables are gone, files are kept"), "{outcome:?}");
    assert_started_afresh(&place).await;
    (outcome.ending, outcome.text)
}

#[test]
fn an_interrupt_keeps_the_state() {
    run(async {
        let place = sandbox().await;
        for code in [
            LOOP,
            "x = 1\nprint('running')\nimport time\ntime.sleep(1000)",
            "x = 1\nprint('running')\n!sleep 1000",
            "x = 1\nprint('running')\nimport asyncio\nawait asyncio.sleep(1000)",
        ] {
            let mut execution = place.start(code).await;
            assert_eq!(next_stdout(&mut execution).await, "running\n", "{code}");
            execution.handle.interrupt();
            let outcome = finished(execution).await;
            assert_eq!(outcome.ending, Ending::Interrupted, "{code}: {outcome:?}");
            let error = outcome.error.as_ref().unwrap_or_else(|| panic!("{code}: {outcome:?}"));
            assert_eq!(error.name, "KeyboardInterrupt", "{code}");
            assert_eq!(outcome.text, "the code was interrupted");
            let next = place.ok("x").await;
            assert_eq!(next.value(), "1");
            assert!(next.notes.is_empty(), "{next:?}");
        }
    });
}

#[test]
fn an_interrupt_that_comes_too_late_does_nothing() {
    run(async {
        let place = sandbox().await;
        for n in 0..20 {
            let mut execution = place.start(&format!("x = {n}\nprint('over')")).await;
            next_stdout(&mut execution).await;
            let handle = execution.handle.clone();
            handle.interrupt();
            let outcome = finished(execution).await;
            assert!(matches!(&*outcome.text, "" | "the code was interrupted"), "{outcome:?}");
            handle.interrupt();
            handle.kill();
            assert_eq!(place.value("x").await, n.to_string());
        }
    });
}

#[test]
fn code_nobody_listens_to_is_interrupted() {
    run(async {
        let place = sandbox().await;
        let mut execution = place.start(LOOP).await;
        next_stdout(&mut execution).await;
        drop(execution);
        let next = place.ok("x").await;
        assert_eq!(next.value(), "1");
        assert!(next.notes.is_empty());
    });
}

#[test]
fn a_timeout_interrupts() {
    run(async {
        let place = sandbox().await;
        let outcome = place.cell_within(LOOP, 0.5).await;
        assert_eq!(outcome.ending, Ending::TimedOut);
        assert_eq!(outcome.text, "the time limit of 0.5 seconds was reached; the code was interrupted");
        assert_eq!(place.value("x").await, "1");
    });
}

#[test]
fn code_that_handles_the_interrupt_may_tidy_up() {
    run(async {
        let place = sandbox().await;
        let outcome = place
            .cell_within("import time\ntry:\n    time.sleep(1000)\nfinally:\n    print('tidied')", 0.3)
            .await;
        assert_eq!((outcome.ending, &*outcome.stdout), (Ending::TimedOut, "tidied\n"));
        // Code that swallows the interrupt and ends is still code that ran into its limit.
        let outcome = place
            .cell_within("try:\n    time.sleep(1000)\nexcept KeyboardInterrupt:\n    print('fine')", 0.3)
            .await;
        assert_eq!((outcome.ending, &*outcome.stdout), (Ending::TimedOut, "fine\n"));
    });
}

#[test]
fn code_that_ignores_the_interrupt_is_killed_after_the_grace() {
    run(async {
        let place = sandbox().await;
        place.ok("import signal\nx = 1\nopen('kept', 'w').write('file');").await;
        let outcome = place
            .cell_within("signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    pass", 0.3)
            .await;
        assert_eq!(outcome.ending, Ending::TimedOut, "{outcome:?}");
        assert!(
            outcome.text.contains("0.3 seconds") && outcome.text.contains("was ended"),
            "{}",
            outcome.text
        );
        assert!(outcome.text.contains("variables are gone, files are kept"), "{}", outcome.text);
        assert_started_afresh(&place).await;
    });
}

#[test]
fn a_kill_does_not_wait() {
    run(async {
        let place = sandbox().await;
        place.ok("open('kept', 'w').write('file');").await;
        let mut execution = place.start(LOOP).await;
        next_stdout(&mut execution).await;
        execution.handle.kill();
        let outcome = finished(execution).await;
        assert_eq!(outcome.ending, Ending::Interrupted);
        assert!(outcome.error.is_none(), "no code of it ran any more: {outcome:?}");
        assert_started_afresh(&place).await;
    });
}

#[test]
fn a_second_interrupt_kills() {
    run(async {
        let place = sandbox().await;
        place.ok("open('kept', 'w').write('file');").await;
        let code = "import signal\nsignal.signal(signal.SIGINT, lambda *_: print('ignored'))\nprint('running')\nwhile True:\n    pass";
        let mut execution = place.start(code).await;
        next_stdout(&mut execution).await;
        execution.handle.interrupt();
        assert_eq!(next_stdout(&mut execution).await, "ignored\n");
        execution.handle.interrupt();
        assert_eq!(finished(execution).await.ending, Ending::Interrupted);
        assert_started_afresh(&place).await;
    });
}

#[test]
fn stopping_a_queued_execution_leaves_the_running_one_alone() {
    run(async {
        let place = sandbox().await;
        let mut first = place.start("import os, time\nx = 1\nprint('running')\nwhile not os.path.exists('go'):\n    time.sleep(0.01)").await;
        next_stdout(&mut first).await;
        let queued = place.start("x = 2\nwhile True:\n    pass").await;
        let unheard = place.start("x = 3").await;
        queued.handle.kill();
        drop(unheard);
        place.put("go", b"").await;
        finished(first).await.assert_ok();
        assert_eq!(finished(queued).await.ending, Ending::Interrupted);
        let next = place.cell("x").await;
        assert!(next.notes.is_empty(), "code that never ran costs no state: {next:?}");
        assert_eq!(next.value(), "1");
    });
}

#[test]
fn a_segmentation_fault_is_told_as_one() {
    run(async {
        let (ending, text) = after_death_by(Limits::default(), "import ctypes\nctypes.string_at(0)").await;
        assert_eq!(ending, Ending::Signalled { signal: 11 });
        assert!(text.contains("segmentation fault"), "{text}");
    });
}

#[test]
fn an_exit_is_told_with_its_code() {
    run(async {
        let (ending, text) = after_death_by(Limits::default(), "import os\nos._exit(3)").await;
        assert_eq!(ending, Ending::Exited { code: 3 });
        assert!(text.contains("exit code 3"), "{text}");
        let (ending, _) = after_death_by(Limits::default(), "import os\nos._exit(0)").await;
        assert_eq!(ending, Ending::Exited { code: 0 });
    });
}

#[test]
fn exit_ends_the_code_and_not_the_interpreter() {
    run(async {
        let place = sandbox().await;
        place.ok("x = 1").await;
        for code in ["exit()", "import sys\nsys.exit(3)", "raise SystemExit"] {
            assert_eq!(place.cell(code).await.raised(), "SystemExit", "{code}");
        }
        assert_eq!(place.value("x").await, "1");
    });
}

#[test]
fn code_that_kills_itself_is_told_with_the_signal() {
    run(async {
        let (ending, text) = after_death_by(Limits::default(), "import os\nos.kill(os.getpid(), 9)").await;
        assert_eq!(ending, Ending::Signalled { signal: 9 });
        assert!(text.contains("SIGKILL"), "{text}");
        let (ending, text) = after_death_by(Limits::default(), "import os\nos.abort()").await;
        assert_eq!(ending, Ending::Signalled { signal: 6 });
        assert!(text.contains("abort"), "{text}");
    });
}

#[test]
fn running_out_of_memory_is_told_with_the_limit() {
    run(async {
        let limits = Limits { memory_bytes: 256 << 20, ..Limits::default() };
        let (ending, text) =
            after_death_by(limits, "hoard = []\nwhile True:\n    hoard.append(bytearray(b'x') * (1 << 20))")
                .await;
        assert_eq!(ending, Ending::LimitHit { limit: LimitKind::Memory });
        assert!(
            text.contains(&format!("the memory limit of {} was reached", human_bytes(256 << 20))),
            "{text}"
        );
    });
}

#[test]
fn a_death_between_two_executions_costs_the_variables_only() {
    run(async {
        let place = sandbox().await;
        let code = "x = 1\nopen('kept', 'w').write('file')\nimport os, threading\ndef leave():\n    while not os.path.exists('go'):\n        pass\n    os._exit(5)\nthreading.Thread(target=leave).start()";
        place.ok(code).await;
        place.put("go", b"").await;
        let mut processes = place.usage().await.unwrap().processes;
        while processes > 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
            processes = place.usage().await.unwrap().processes;
        }
        assert_started_afresh(&place).await;
    });
}

#[test]
fn no_execution_gets_more_time_than_the_sandbox_gives() {
    run(async {
        let place = sandbox_with(Limits { wall: Duration::from_millis(400), ..Limits::default() }).await;
        let request =
            |timeout| ExecuteRequest { code: LOOP.to_owned(), timeout, ..ExecuteRequest::default() };
        for timeout in [None, Some(Duration::from_secs(3600))] {
            let outcome = finished(place.request(request(timeout)).await).await;
            assert_eq!(outcome.ending, Ending::TimedOut);
            assert!(outcome.text.contains("0.4 seconds"), "{}", outcome.text);
        }
    });
}
