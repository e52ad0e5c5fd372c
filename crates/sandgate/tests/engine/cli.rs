//! The command line as a shell user meets it: what goes in, what comes out, and every exit code.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{finish, home, pid, prepared, run, sandgate, scratch_home, system};

/// A command under way.
fn start(arguments: &[&str]) -> Child {
    prepared();
    sandgate(&home()).args(arguments).spawn().expect("the program starts")
}

fn with_input(arguments: &[&str], input: &[u8]) -> Output {
    prepared();
    let mut child =
        sandgate(&home()).args(arguments).stdin(Stdio::piped()).spawn().expect("the program starts");
    // It may say no before it has read everything.
    let _ = child.stdin.take().expect("its standard input").write_all(input);
    finish(child)
}

fn output(arguments: &[&str]) -> Output {
    finish(start(arguments))
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("text")
}

/// Without what a start says when it takes long, as on a busy machine.
fn stderr(output: &Output) -> &str {
    let mut text = std::str::from_utf8(&output.stderr).expect("text");
    while let Some((first, rest)) = text.split_once('\n')
        && is_about_the_start(first)
    {
        text = rest;
    }
    text
}

fn is_about_the_start(line: &str) -> bool {
    line == "starting the engine" || (line.starts_with("Python ") && line.contains(" was chosen"))
}

/// Asserts its exit code and gives what it printed.
#[track_caller]
fn exited(code: i32, output: &Output) -> (&str, &str) {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    (stdout(output), stderr(output))
}

fn folder_with(name: &str, content: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, content).expect("a file");
    (folder, path)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path")
}

#[test]
fn code_from_the_command_line() {
    assert_eq!(exited(0, &output(&["run", "-c", "print(6*7)"])), ("42\n", ""));
    assert_eq!(exited(0, &output(&["run", "-c", "6*7"])), ("42\n", ""));
    let both = output(&["run", "-c", "import sys\nprint('out')\nprint('err', file=sys.stderr)"]);
    assert_eq!(exited(0, &both), ("out\n", "err\n"));
}

#[test]
fn code_from_a_file_and_from_standard_input() {
    let (_folder, file) = folder_with("code.py", "\u{feff}print('from a file é')\r\n".as_bytes());
    assert_eq!(exited(0, &output(&["run", text(&file)])), ("from a file é\n", ""));
    assert_eq!(exited(0, &with_input(&["run", "-"], b"print('piped')")), ("piped\n", ""));
    assert_eq!(exited(0, &with_input(&["run"], b"print('piped')")), ("piped\n", ""));
}

#[test]
fn output_streams() {
    let mut child = start(&["run", "-c", "import time\nprint('now', end='', flush=True)\ntime.sleep(1000)"]);
    let mut first = [0; 3];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    assert_eq!(&first, b"now");
    kill_process(pid(&child), Signal::INT).unwrap();
    exited(130, &finish(child));
}

#[test]
fn code_that_raises_exits_1() {
    let output = output(&["run", "-c", "print('before')\n1/0"]);
    let (out, err) = exited(1, &output);
    assert_eq!(out, "before\n");
    assert!(err.contains("ZeroDivisionError: division by zero") && err.contains("----> 2 1/0"), "{err}");
    assert!(!err.contains('\x1b') && !err.contains("sandgate:"), "{err}");
    exited(1, &self::output(&["run", "-c", "syntax error"]));
}

#[test]
fn a_timeout_exits_124() {
    let output = output(&["run", "--timeout", "0.5", "-c", "print('begun')\nwhile True:\n    pass"]);
    let (out, err) = exited(124, &output);
    assert_eq!(out, "begun\n");
    assert!(err.contains("sandgate: the time limit of 0.5 seconds was reached"), "{err}");
}

#[test]
fn the_memory_limit_exits_137() {
    let code = "hoard = []\nwhile True:\n    hoard.append(bytearray(b'x') * (1 << 20))";
    let output = output(&["run", "--memory", "200m", "-c", code]);
    let (_, err) = exited(137, &output);
    assert!(err.contains("sandgate: the memory limit of 200 MiB was reached"), "{err}");
}

#[test]
fn other_ends_have_the_codes_a_shell_has() {
    exited(3, &output(&["run", "-c", "import os; os._exit(3)"]));
    let output = output(&["run", "-c", "import ctypes; ctypes.string_at(0)"]);
    let (_, err) = exited(139, &output);
    assert!(err.contains("segmentation fault"), "{err}");
}

#[test]
fn wrong_usage_exits_2() {
    let (_folder, file) = folder_with("latin1.py", b"print('caf\xe9')");
    let not_text = output(&["run", text(&file)]);
    let (_, err) = exited(2, &not_text);
    assert!(err.contains("latin1.py is not UTF-8 text: the byte at offset 10"), "{err}");
    let piped = with_input(&["run", "-"], b"\xff");
    let (_, err) = exited(2, &piped);
    assert!(err.contains("standard input is not UTF-8"), "{err}");
    for arguments in [
        &["run", "/no/such/file.py"][..],
        &["run", "--timeout", "0", "-c", "1"],
        &["run", "--memory", "1k", "-c", "1"],
        &["run", "--file", "/no/such/file", "-c", "1"],
        &["run", "--language", "cobol", "-c", "1"],
        &["run", "-c", "1", "file.py"],
        &["dance"],
    ] {
        let output = output(arguments);
        let (out, err) = exited(2, &output);
        assert!(out.is_empty() && !err.is_empty() && !err.contains("panicked"), "{arguments:?} {err}");
    }
    let long = format!("# {}", "x".repeat(5 << 20));
    let output = with_input(&["run", "-"], long.as_bytes());
    let (_, err) = exited(2, &output);
    assert!(err.contains("longer than the limit of 4194304 bytes"), "{err}");
}

#[test]
fn files_go_in_and_come_out() {
    let (folder, file) = folder_with("in.txt", b"input");
    let out = folder.path().join("results");
    let code = "
import matplotlib.pyplot as plt, os
os.mkdir('sub')
open('sub/out.txt', 'w').write(open('in.txt').read().upper() + open('renamed').read())
plt.plot([1, 2]); plt.show()";
    let renamed = format!("{}=renamed", text(&file));
    let output = output(&["run", "--file", text(&file), "--file", &renamed, "--out", text(&out), "-c", code]);
    let (_, err) = exited(0, &output);
    assert_eq!(fs::read_to_string(out.join("sub/out.txt")).unwrap(), "INPUTinput");
    assert!(fs::read(out.join("figure-1.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(err.contains("figure-1.png") && err.contains("sub/out.txt"), "{err}");
    assert!(!out.join("in.txt").exists(), "what went in unchanged does not come out");
    assert_eq!(fs::read(&file).unwrap(), b"input");
}

#[test]
fn files_that_are_not_kept_are_mentioned() {
    let output = output(&["run", "-c", "open('f', 'w').close()"]);
    let (_, err) = exited(0, &output);
    assert_eq!(err, "sandgate: 1 file made and not kept; --out DIR keeps them\n");
}

#[test]
fn links_out_of_the_sandbox_bring_nothing_out() {
    let folder = tempfile::tempdir().unwrap();
    let code = "import os\nos.symlink('/etc/passwd', 'link')\nos.symlink('/', 'root')\nopen('real', 'w').write('x');";
    let output = output(&["run", "--out", text(folder.path()), "-c", code]);
    exited(0, &output);
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["real"]);
}

#[test]
fn what_is_in_the_folder_stays_as_it_is() {
    let (folder, precious) = folder_with("results.csv", b"precious");
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("hooks")).unwrap();
    let code = "
import os
os.mkdir('hooks')
for name in ['results.csv', 'hooks/run', 'new.txt']:
    open(name, 'w').write('code')";
    let output = output(&["run", "--out", text(folder.path()), "-c", code]);
    let (_, err) = exited(0, &output);
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
    assert_eq!(fs::read(folder.path().join("results-2.csv")).unwrap(), b"code");
    assert_eq!(fs::read(folder.path().join("new.txt")).unwrap(), b"code");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    assert!(err.contains("/mnt/data/hooks/run was not saved: a link or a file is in the way"), "{err}");
}

#[test]
fn files_with_holes_do_not_fill_the_users_disk() {
    let folder = tempfile::tempdir().unwrap();
    let code = "
for number in range(50):
    with open(f'hole{number}', 'wb') as file:
        file.truncate(600 << 20)
open('small', 'w').write('x')";
    let output = output(&["run", "--json", "--out", text(folder.path()), "-c", code]);
    let (out, _) = exited(0, &output);
    let report: Value = serde_json::from_str(out).unwrap();
    assert_eq!(report["not_saved"].as_array().unwrap().len(), 49, "{report}");
    assert_eq!(fs::read(folder.path().join("small")).unwrap(), b"x");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn json_is_for_machines() {
    let folder = tempfile::tempdir().unwrap();
    let code = "print('out')\nopen('f', 'w').write('x')\n1/0";
    let output = output(&["run", "--json", "--out", text(folder.path()), "-c", code]);
    let (out, err) = exited(1, &output);
    assert_eq!((out.lines().count(), err), (1, ""));
    let report: Value = serde_json::from_str(out).unwrap();
    assert_eq!((&report["stdout"], &report["ending"]), (&json!("out\n"), &json!({"kind": "raised"})));
    assert_eq!(report["error"]["name"], "ZeroDivisionError");
    assert_eq!(report["files"][0]["path"], "/mnt/data/f");
    assert_eq!(report["saved"], json!([folder.path().join("f")]));
}

/// Code that has begun, with the rest of its output.
fn begun(code: &str) -> Child {
    let mut child = start(&["run", "-c", code]);
    let mut line = String::new();
    BufReader::with_capacity(1, child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "begun\n");
    child
}

#[test]
fn one_ctrl_c_interrupts() {
    let child = begun("print('begun')\nimport time\ntime.sleep(1000)");
    kill_process(pid(&child), Signal::INT).unwrap();
    let output = finish(child);
    let (_, err) = exited(130, &output);
    assert!(err.contains("KeyboardInterrupt") && err.contains("sandgate: the code was interrupted"), "{err}");
}

#[test]
fn a_second_ctrl_c_kills() {
    let code = "import signal, sys\nsignal.signal(signal.SIGINT, lambda *_: print('ignored', file=sys.stderr))\nprint('begun')\nwhile True:\n    pass";
    let mut child = begun(code);
    kill_process(pid(&child), Signal::INT).unwrap();
    let mut lines = BufReader::with_capacity(1, child.stderr.as_mut().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.find(|line| !is_about_the_start(line)).unwrap(), "ignored");
    kill_process(pid(&child), Signal::INT).unwrap();
    exited(130, &finish(child));
}

#[test]
fn a_reader_that_leaves_ends_it() {
    let mut child = start(&["run", "-c", "while True:\n    print('x' * 1000)"]);
    let mut line = String::new();
    let stdout = child.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    exited(0, &finish(child));
}

#[test]
fn nothing_of_a_run_is_left() {
    let home = run(scratch_home());
    let code = "open('f', 'w').close()\nimport subprocess\nsubprocess.Popen(['sleep', '86395']);";
    exited(0, &finish(sandgate(home.path()).args(["run", "-c", code]).spawn().unwrap()));
    assert!(system::instances(home.path()).is_empty());
    assert_eq!(system::mounts_of(home.path()), [] as [String; 0]);
    let names = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["instances", "runtimes"], "data is in its place, and nothing else is");
}

#[test]
fn the_prompt_reads_a_pipe() {
    let input = b"x = 6\nfor i in range(2):\n    x += 1\n\nprint(x)\nx * 2\n1/0\nprint('still here')\n";
    let output = with_input(&["repl"], input);
    let (out, err) = exited(0, &output);
    assert_eq!(out, "8\n16\nstill here\n");
    assert!(err.contains("ZeroDivisionError"), "{err}");
}

#[test]
fn the_doctor_reports() {
    let json = output(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&json.stdout).unwrap_or_else(|_| panic!("{json:?}"));
    let healthy = report["ok"].as_bool().expect("a verdict");
    assert_eq!(json.status.code(), Some(i32::from(!healthy)));
    let checks = report["checks"].as_array().expect("checks");
    for check in checks {
        assert!(["on", "off", "missing"].contains(&check["state"].as_str().unwrap()), "{check}");
        assert!(check["name"].is_string() && check["group"].is_string(), "{check}");
        assert!(check["state"] == "on" || check["remedy"].is_string(), "what is not on says how: {check}");
    }
    assert!(!checks.is_empty() && healthy, "{report:#}");
    let table = output(&["doctor"]);
    let (text, _) = exited(0, &table);
    assert!(checks.iter().all(|check| text.contains(check["name"].as_str().unwrap())), "{text}");
}

#[test]
fn a_home_that_cannot_be_used_is_one_sentence() {
    let (_folder, file) = folder_with("file", b"");
    let child = sandgate(&file.join("below")).args(["run", "-c", "1"]).spawn().unwrap();
    let output = finish(child);
    let (_, err) = exited(125, &output);
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.contains("cannot be used") && err.contains("SANDGATE_HOME"), "{err}");
}

/// No server, and the same words as everywhere.
#[test]
fn a_run_reaches_what_it_is_given_and_nothing_else() {
    let code = "import os, socket\nprint(os.environ.get('HTTP_PROXY'))\n\
        for name in ['a.example', 'b.example']:\n\
        \x20   try: print(socket.gethostbyname(name)[:7])\n\
        \x20   except OSError: print('not found')";
    let given = output(&["run", "--network", "a.example", "-c", code]);
    assert_eq!(exited(0, &given).0, "http://127.0.0.1:3128\n198.18.\nnot found\n");
    let without = output(&["run", "-c", code]);
    assert_eq!(exited(0, &without).0, "None\nnot found\nnot found\n");
}
