//! Commands and terminals in a sandbox.

use std::sync::Arc;
use std::time::Duration;

use sandgate_core::{
    BackendError, Input, Joined, Limits, ProcessEnd, ProcessEvent, ProcessRef, Processes, StartProcess,
    TerminalSize,
};
use tokio::time::timeout;
use tokio_util::bytes::Bytes;

use crate::common::{LONGEST, Place, run, sandbox, sandbox_with, wait_until};

async fn processes(place: &Place) -> Arc<dyn Processes> {
    place.processes().await.expect("processes")
}

/// A command as a shell reads it.
fn shell(text: &str) -> StartProcess {
    let args = vec!["-l".to_owned(), "-c".to_owned(), text.to_owned()];
    StartProcess { program: "/bin/bash".into(), args, ..StartProcess::default() }
}

fn with_input(text: &str) -> StartProcess {
    StartProcess { input: Input::Pipe, ..shell(text) }
}

fn terminal(text: &str) -> StartProcess {
    StartProcess { input: Input::Terminal(TerminalSize { columns: 80, rows: 24 }), ..shell(text) }
}

async fn next(joined: &mut Joined) -> Option<ProcessEvent> {
    timeout(LONGEST, joined.events.recv()).await.expect("the process says something")
}

#[derive(Debug, Default)]
struct Said {
    out: Vec<u8>,
    err: Vec<u8>,
    terminal: Vec<u8>,
    end: Option<ProcessEnd>,
}

impl Said {
    fn out(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
    fn terminal(&self) -> String {
        String::from_utf8_lossy(&self.terminal).into_owned()
    }
}

/// Everything to its end.
async fn all(joined: &mut Joined) -> Said {
    let mut said = Said::default();
    while let Some(event) = next(joined).await {
        match event {
            ProcessEvent::Stdout(bytes) => {
                assert!(bytes.len() <= 32 << 10);
                said.out.extend_from_slice(&bytes);
            }
            ProcessEvent::Stderr(bytes) => said.err.extend_from_slice(&bytes),
            ProcessEvent::Terminal(bytes) => {
                assert!(bytes.len() <= 16 << 10);
                said.terminal.extend_from_slice(&bytes);
            }
            ProcessEvent::Ended(end) => {
                assert!(said.end.replace(end).is_none());
            }
        }
    }
    said
}

async fn finished(place: &Place, start: StartProcess) -> Said {
    all(&mut processes(place).await.start(start).await.expect("it starts")).await
}

/// Reads until the text has come.
async fn until(joined: &mut Joined, wanted: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(wanted) {
        match next(joined).await {
            Some(
                ProcessEvent::Stdout(bytes) | ProcessEvent::Stderr(bytes) | ProcessEvent::Terminal(bytes),
            ) => {
                seen.push_str(&String::from_utf8_lossy(&bytes));
            }
            other => panic!("{other:?} after {seen:?}"),
        }
    }
    seen
}

fn exited(code: i32) -> Option<ProcessEnd> {
    Some(ProcessEnd::Exited { code })
}

fn killed(signal: i32) -> Option<ProcessEnd> {
    Some(ProcessEnd::Signalled { signal, reason: None })
}

#[test]
fn output_and_exit_codes_come_through() {
    run(async {
        let place = sandbox().await;
        let said = finished(&place, shell("echo out; echo err >&2; exit 3")).await;
        assert_eq!((said.out(), &*said.err, said.end), ("out\n".into(), &b"err\n"[..], exited(3)));
        let said = finished(&place, shell("true")).await;
        assert_eq!((said.out(), said.end), (String::new(), exited(0)));
        let said = finished(&place, shell("kill -SEGV $$")).await;
        assert_eq!(said.end, killed(11));
    });
}

#[test]
fn a_command_finds_an_ordinary_account() {
    run(async {
        let place = sandbox().await;
        let start = StartProcess {
            env: vec![("MINE".into(), "1".into())],
            ..shell(
                "whoami; id -un; pwd; echo $HOME $USER $MINE; command -v python3; ls -d ~; umask; test -r /etc/profile && echo profile",
            )
        };
        let said = finished(&place, start).await;
        let expected =
            "user\nuser\n/home/user\n/home/user user 1\n/opt/venv/bin/python3\n/home/user\n0022\nprofile\n";
        assert_eq!(
            (said.out(), String::from_utf8_lossy(&said.err).into_owned()),
            (expected.into(), String::new())
        );
        let start = StartProcess { cwd: Some("/tmp".into()), ..shell("pwd") };
        assert_eq!(finished(&place, start).await.out(), "/tmp\n");
    });
}

#[test]
fn files_are_those_that_code_sees() {
    run(async {
        let place = sandbox().await;
        place.ok("open('/mnt/data/a', 'w').write('from code')").await;
        assert_eq!(
            finished(&place, shell("cat /mnt/data/a; echo -n by command > /mnt/data/b")).await.out(),
            "from code"
        );
        assert_eq!(place.value("open('/mnt/data/b').read()").await, "'by command'");
    });
}

#[test]
fn what_cannot_start_is_said() {
    run(async {
        let place = sandbox().await;
        let all = processes(&place).await;
        let start = StartProcess { cwd: Some("/no/where".into()), ..shell("true") };
        let error = all.start(start).await.unwrap_err();
        assert!(
            matches!(&error, BackendError::Invalid(text) if text == "cwd '/no/where' does not exist"),
            "{error:?}"
        );
        let start = StartProcess { program: "no-such-program".into(), ..StartProcess::default() };
        let error = all.start(start).await.unwrap_err();
        assert!(
            matches!(&error, BackendError::Invalid(text) if text.contains("no such file or directory")),
            "{error:?}"
        );
        assert!(all.list().await.unwrap().is_empty());
    });
}

#[test]
fn input_is_read_and_ends() {
    run(async {
        let place = sandbox().await;
        let all_of = processes(&place).await;
        let mut cat = all_of.start(with_input("cat; echo over")).await.unwrap();
        let which = ProcessRef::Pid(cat.pid);
        all_of.write(&which, Bytes::from_static(b"one\n")).await.unwrap();
        assert_eq!(until(&mut cat, "one\n").await, "one\n");
        all_of.write(&which, Bytes::from_static(b"two\n")).await.unwrap();
        all_of.close_input(&which).await.unwrap();
        let said = all(&mut cat).await;
        assert_eq!((said.out(), said.end), ("two\nover\n".into(), exited(0)));
        assert!(matches!(all_of.write(&which, Bytes::new()).await, Err(BackendError::NoSuchProcess(_))));
        // Without an input there is an end of file at once.
        assert_eq!(finished(&place, shell("cat; echo none")).await.out(), "none\n");
    });
}

#[test]
fn input_waits_for_a_process_that_does_not_read_and_the_process_can_still_be_killed() {
    run(async {
        let place = sandbox().await;
        let all_of = processes(&place).await;
        let mut deaf = all_of.start(with_input("echo ready; exec sleep 1000")).await.unwrap();
        until(&mut deaf, "ready").await;
        let which = ProcessRef::Pid(deaf.pid);
        let much = Bytes::from(vec![b'x'; 8 << 20]);
        let writing = tokio::spawn({
            let (all_of, which) = (Arc::clone(&all_of), which.clone());
            async move { all_of.write(&which, much).await }
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(!writing.is_finished(), "8 MiB do not fit into a pipe");
        all_of.signal(&which, 9).await.unwrap();
        assert_eq!(all(&mut deaf).await.end, killed(9));
        assert!(timeout(LONGEST, writing).await.unwrap().unwrap().is_err());
    });
}

#[test]
fn a_signal_goes_to_the_whole_group() {
    run(async {
        let place = sandbox().await;
        let all_of = processes(&place).await;
        let mut group = all_of.start(shell("sleep 1234 & echo $!; wait")).await.unwrap();
        let child = until(&mut group, "\n").await;
        all_of.signal(&ProcessRef::Pid(group.pid), 15).await.unwrap();
        assert_eq!(all(&mut group).await.end, killed(15));
        let gone =
            shell(&format!("while kill -0 {} 2>/dev/null; do sleep 0.01; done; echo gone", child.trim()));
        assert_eq!(finished(&place, gone).await.out(), "gone\n");
        assert!(matches!(
            all_of.signal(&ProcessRef::Pid(999_999), 9).await,
            Err(BackendError::NoSuchProcess(_))
        ));
    });
}

#[test]
fn a_terminal_is_one() {
    run(async {
        let place = sandbox().await;
        let all_of = processes(&place).await;
        let said =
            finished(&place, terminal("tty; stty size; [ -t 0 ] && [ -t 2 ] && echo yes; ps -o tty= -p $$"))
                .await;
        assert!(said.terminal().starts_with("/dev/pts/"), "{said:?}");
        assert!(said.terminal().contains("24 80") && said.terminal().contains("yes"), "{said:?}");
        assert_eq!((said.out.len(), said.end), (0, exited(0)));

        let mut resized = all_of
            .start(terminal("trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done"))
            .await
            .unwrap();
        until(&mut resized, "ready").await;
        let which = ProcessRef::Pid(resized.pid);
        all_of.resize(&which, TerminalSize { columns: 132, rows: 43 }).await.unwrap();
        until(&mut resized, "43 132").await;
        all_of.signal(&which, 9).await.unwrap();
        assert_eq!(all(&mut resized).await.end, killed(9));

        let mut interrupted = all_of.start(terminal("echo ready; exec sleep 1000")).await.unwrap();
        until(&mut interrupted, "ready").await;
        // Ctrl-C as a key.
        let which = ProcessRef::Pid(interrupted.pid);
        all_of.write(&which, Bytes::from_static(b"\x03")).await.unwrap();
        assert_eq!(all(&mut interrupted).await.end, killed(2));
    });
}

#[test]
fn what_is_typed_after_a_new_size_finds_it() {
    run(async {
        let place = sandbox().await;
        let all_of = processes(&place).await;
        // It looks as soon as a key arrives: a shell would start a program first, and find the size by then.
        let look = "stty raw -echo; exec python3 -IS -c '
import os
print(\"ready\", flush=True)
while os.read(0, 1):
    print(os.get_terminal_size().columns, flush=True)'";
        let mut shell = all_of.start(terminal(look)).await.unwrap();
        until(&mut shell, "ready\n").await;
        let which = ProcessRef::Pid(shell.pid);
        for columns in 100..400 {
            all_of.resize(&which, TerminalSize { columns, rows: 24 }).await.unwrap();
            all_of.write(&which, Bytes::from_static(b"\n")).await.unwrap();
            assert_eq!(until(&mut shell, "\n").await, format!("{columns}\n"));
        }
        all_of.signal(&which, 9).await.unwrap();
        assert_eq!(all(&mut shell).await.end, killed(9));
        let late = all_of.resize(&which, TerminalSize { columns: 80, rows: 24 }).await;
        assert!(matches!(late, Err(BackendError::NoSuchProcess(_))), "{late:?}");
    });
}

#[test]
fn a_shell_in_a_terminal_can_be_used_and_left() {
    run(async {
        let place = sandbox().await;
        let all_of = processes(&place).await;
        let start = StartProcess {
            program: "/bin/bash".into(),
            args: vec!["-i".into(), "-l".into()],
            input: Input::Terminal(TerminalSize { columns: 80, rows: 24 }),
            env: vec![("TERM".into(), "xterm-256color".into())],
            tag: Some("term".into()),
            ..StartProcess::default()
        };
        let mut bash = all_of.start(start).await.unwrap();
        let which = ProcessRef::Tag("term".into());
        until(&mut bash, "user@sandbox").await;
        all_of.write(&which, Bytes::from_static(b"echo $((6*7)) $TERM\n")).await.unwrap();
        let seen = until(&mut bash, "42 xterm-256color").await;
        // Between two prompts the key would be an end of file to nobody.
        if !seen.split_once("42 xterm").is_some_and(|(_, after)| after.contains("user@sandbox")) {
            until(&mut bash, "user@sandbox").await;
        }
        all_of.close_input(&which).await.unwrap();
        let said = all(&mut bash).await;
        assert_eq!(said.end, exited(0), "{said:?}");
        assert!(!said.terminal().contains("no job control"), "{said:?}");
    });
}

#[test]
fn a_slow_reader_slows_a_flood_and_loses_nothing() {
    run(async {
        let place = sandbox().await;
        let mut flood = processes(&place).await.start(shell("yes | head -c 50000000")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
        let said = all(&mut flood).await;
        assert_eq!((said.out.len(), said.end), (50_000_000, exited(0)));
    });
}

#[test]
fn a_process_outlives_its_reader_and_can_be_joined() {
    run(async {
        let place = sandbox().await;
        let all_of = processes(&place).await;
        let start = StartProcess {
            tag: Some("bg".into()),
            ..shell("yes | head -c 5000000; until [ -e /tmp/go ]; do sleep 0.05; done; echo last; exit 5")
        };
        let left = all_of.start(start).await.unwrap();
        let pid = left.pid;
        drop(left);
        assert!(place.is_busy().await.unwrap());
        let listed = all_of.list().await.unwrap();
        assert_eq!((listed.len(), listed[0].pid, listed[0].tag.as_deref()), (1, pid, Some("bg")));
        let mut one = all_of.join(&ProcessRef::Pid(pid)).await.unwrap();
        let mut other = all_of.join(&ProcessRef::Tag("bg".into())).await.unwrap();
        finished(&place, shell("touch /tmp/go")).await;
        let (one, other) = tokio::join!(all(&mut one), all(&mut other));
        assert!(one.out().ends_with("last\n") && other.out().ends_with("last\n"));
        assert_eq!((one.end, other.end), (exited(5), exited(5)));
        let mut late = all_of.join(&ProcessRef::Pid(pid)).await.unwrap();
        let late = all(&mut late).await;
        assert_eq!((late.out.len(), late.end), (0, exited(5)));
        assert!(all_of.list().await.unwrap().is_empty());
        assert!(!place.is_busy().await.unwrap());
        assert!(matches!(
            all_of.join(&ProcessRef::Tag("none".into())).await,
            Err(BackendError::NoSuchProcess(_))
        ));
    });
}

#[test]
fn what_a_command_leaves_behind_does_not_hold_its_end_up() {
    run(async {
        let place = sandbox().await;
        let said = finished(&place, shell("(sleep 1000; echo never) & echo $!")).await;
        assert_eq!(said.end, exited(0));
        let child = said.out();
        assert_eq!(
            finished(&place, shell(&format!("kill -0 {} && echo alive", child.trim()))).await.out(),
            "alive\n"
        );
    });
}

#[test]
fn time_is_kept() {
    run(async {
        let place = sandbox().await;
        let start = StartProcess { timeout: Some(Duration::from_millis(500)), ..shell("echo a; sleep 1000") };
        let said = finished(&place, start).await;
        assert_eq!((said.out(), said.end), ("a\n".into(), Some(ProcessEnd::TimedOut)));
        // Also of one that nobody reads and that ignores everything.
        let start = StartProcess {
            timeout: Some(Duration::from_millis(500)),
            tag: Some("t".into()),
            ..shell("trap '' TERM INT; yes")
        };
        drop(processes(&place).await.start(start).await.unwrap());
        let gone = async {
            while place.is_busy().await.unwrap() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(LONGEST, gone).await.expect("it is ended");
    });
}

/// Not before the agent has said that it started.
async fn kill_the_agent(place: &Place) -> Joined {
    let all_of = processes(place).await;
    let killer = all_of.start(with_input("read go; kill -9 $PPID; sleep 1000")).await.unwrap();
    all_of.write(&ProcessRef::Pid(killer.pid), Bytes::from_static(b"go\n")).await.unwrap();
    killer
}

#[test]
fn an_agent_that_was_killed_is_replaced() {
    run(async {
        let place = sandbox().await;
        let all_of = processes(&place).await;
        let mut other = all_of.start(shell("echo ready; sleep 1000")).await.unwrap();
        until(&mut other, "ready").await;
        let mut killer = kill_the_agent(&place).await;
        for lost in [&mut other, &mut killer] {
            let end = all(lost).await.end;
            let Some(ProcessEnd::Signalled { signal: 9, reason: Some(reason) }) = end else {
                panic!("{end:?}")
            };
            assert!(reason.contains("killed"), "{reason}");
        }
        assert_eq!(finished(&place, shell("pgrep -c sleep || echo none left")).await.out(), "0\nnone left\n");
    });
}

#[test]
fn each_agent_ends_only_itself() {
    run(async {
        let place = sandbox().await;
        for _ in 0..10 {
            let said = all(&mut kill_the_agent(&place).await).await;
            assert!(
                matches!(said.end, Some(ProcessEnd::Signalled { signal: 9, reason: Some(_) })),
                "{said:?}"
            );
            assert_eq!(finished(&place, shell("sleep 0.1; echo again")).await.out(), "again\n");
        }
    });
}

#[test]
fn a_stopped_agent_does_not_hold_anybody_up_for_ever() {
    run(async {
        let place = sandbox().await;
        let mut stopper = processes(&place)
            .await
            .start(shell("echo stopped; sleep 0.3; kill -STOP $PPID; sleep 1000"))
            .await
            .unwrap();
        until(&mut stopper, "stopped").await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        let error = timeout(LONGEST, processes(&place).await.start(shell("true"))).await.expect("an answer");
        assert!(error.unwrap_err().to_string().contains("did not answer"));
        assert!(matches!(
            all(&mut stopper).await.end,
            Some(ProcessEnd::Signalled { signal: 9, reason: Some(_) })
        ));
        assert_eq!(finished(&place, shell("echo again")).await.out(), "again\n");
    });
}

#[test]
fn the_memory_limit_is_named() {
    run(async {
        let place = sandbox_with(Limits { memory_bytes: 128 << 20, ..Limits::default() }).await;
        let said = finished(&place, shell("exec python3 -c 'x = bytearray(1 << 30)'")).await;
        let Some(ProcessEnd::Signalled { signal: 9, reason: Some(reason) }) = said.end else {
            panic!("{said:?}")
        };
        assert!(reason.contains("memory limit of 128 MiB"), "{reason}");
    });
}

#[test]
fn the_disk_limit_ends_commands() {
    run(async {
        let place = sandbox_with(Limits { disk_bytes: 16 << 20, ..Limits::default() }).await;
        let fill =
            "for i in $(seq 100); do head -c 1000000 /dev/zero > /mnt/data/$i; sleep 0.05; done; sleep 1000";
        let said = finished(&place, shell(fill)).await;
        let Some(ProcessEnd::Signalled { signal: 9, reason: Some(reason) }) = said.end else {
            panic!("{said:?}")
        };
        assert!(reason.contains("disk limit"), "{reason}");
        // What makes room may still run.
        assert_eq!(finished(&place, shell("rm -r /mnt/data/*; echo room")).await.out(), "room\n");
    });
}

#[test]
fn processes_are_bounded_with_the_sandbox() {
    run(async {
        let place = sandbox_with(Limits { processes: 32, ..Limits::default() }).await;
        let all_of = processes(&place).await;
        let mut started = Vec::new();
        let error = loop {
            match all_of
                .start(StartProcess {
                    program: "sleep".into(),
                    args: vec!["1000".into()],
                    ..StartProcess::default()
                })
                .await
            {
                Ok(joined) => started.push(joined),
                Err(error) => break error,
            }
            assert!(started.len() < 64, "no end of processes");
        };
        assert!(matches!(error, BackendError::Busy(_)), "{error:?}");
        for one in &started {
            all_of.signal(&ProcessRef::Pid(one.pid), 9).await.unwrap();
        }
        for one in &mut started {
            assert_eq!(all(one).await.end, killed(9));
        }
        assert_eq!(finished(&place, shell("echo again")).await.out(), "again\n");
    });
}

#[test]
fn a_paused_sandbox_says_so_and_no_time_passes_in_it() {
    run(async {
        let place = sandbox().await;
        let all_of = processes(&place).await;
        let start =
            StartProcess { timeout: Some(Duration::from_secs(2)), ..shell("echo ready; sleep 1; echo done") };
        let mut slow = all_of.start(start).await.unwrap();
        until(&mut slow, "ready").await;
        place.pause().await.unwrap();
        assert!(matches!(all_of.start(shell("true")).await, Err(BackendError::Paused)));
        tokio::time::sleep(Duration::from_secs(3)).await;
        place.resume().await.unwrap();
        let said = all(&mut slow).await;
        assert_eq!((said.out(), said.end), ("done\n".into(), exited(0)));
    });
}

/// Whether any process of this machine has these words as its command line.
fn runs_on_host(words: &[&str]) -> bool {
    let wanted = words.join("\0") + "\0";
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.into_iter()
        .any(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == wanted.as_bytes()))
}

#[test]
fn nothing_of_a_deleted_sandbox_is_left() {
    run(async {
        let place = sandbox().await;
        let all_of = processes(&place).await;
        let mut running =
            all_of.start(shell("setsid sleep 424242 & echo ready; exec sleep 424243")).await.unwrap();
        until(&mut running, "ready").await;
        let terminal = all_of.start(terminal("exec sleep 424244")).await.unwrap();
        wait_until("they run", || {
            ["424242", "424243", "424244"].iter().all(|time| runs_on_host(&["sleep", time]))
        });
        place.stop().await.unwrap();
        for mut joined in [running, terminal] {
            let said = all(&mut joined).await;
            assert_eq!(said.end, None, "the sandbox went away, and with it whoever could say how");
        }
        for time in ["424242", "424243", "424244"] {
            assert!(!runs_on_host(&["sleep", time]), "{time}");
        }
    });
}

#[test]
fn a_command_cannot_look_into_the_agent() {
    run(async {
        let place = sandbox().await;
        let look = "for what in mem environ maps fd/3 stack; do head -c 1 /proc/$PPID/$what && echo \"read $what\"; done; ls /proc/$PPID/fd; ls -l /proc/self/fd";
        let said = finished(&place, shell(look)).await;
        let denied = String::from_utf8_lossy(&said.err);
        assert_eq!(denied.lines().count(), 6, "{denied}");
        assert!(denied.lines().all(|line| line.contains("Permission denied")), "{denied}");
        // Its own are its three streams and the folder it lists.
        assert_eq!(said.out().lines().filter(|line| line.contains(" -> ")).count(), 4, "{}", said.out());
        assert!(!said.out().contains("socket:"), "{}", said.out());
    });
}
