//! Running the interpreter: a clean environment, one ordered stream of output, a log of it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How much of the end of the output is kept for an error.
const TAIL_LINES: usize = 80;

/// An isolated interpreter (`-I`): no `PYTHON*` variables, no user packages, nothing from the current folder.
pub(super) fn python(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"PYTHON") {
            command.env_remove(name);
        }
    }
    command.env_remove("VIRTUAL_ENV").env_remove("__PYVENV_LAUNCHER__");
    command.arg("-I").stdin(Stdio::null());
    command
}

/// How a command ended, and the last lines that it wrote.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) tail: Vec<String>,
}

/// Runs to the end. stdout and stderr come in true order, line by line, to `on_line`, which says what is worth a
/// line in the log.
pub(super) fn stream(
    mut command: Command,
    log: &mut File,
    on_line: &mut dyn FnMut(&str) -> bool,
) -> io::Result<Ended> {
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The command holds the writing ends; the reader would never see the end of the output.
    drop(command);

    let mut reader = BufReader::new(reader);
    let mut tail = VecDeque::with_capacity(TAIL_LINES);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if on_line(&text) {
            // A full disk must not hide what the command says about it.
            let _ = log.write_all(&line);
        }
        if tail.len() == TAIL_LINES {
            tail.pop_front();
        }
        tail.push_back(text);
        line.clear();
    }
    Ok(Ended { status: child.wait()?, tail: tail.into() })
}

/// Runs a command that says little, and kills it after `limit`.
pub(super) fn ask(mut command: Command, limit: Duration) -> io::Result<Output> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // Read beside the waiting: a command that says more than a pipe holds would never end.
    let stdout = child.stdout.take().map(read_all);
    let stderr = child.stderr.take().map(read_all);
    let deadline = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            let text = format!("it did not answer within {} seconds", limit.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, text));
        }
        thread::sleep(Duration::from_millis(2));
    };
    Ok(Output { status, stdout: joined(stdout), stderr: joined(stderr) })
}

fn read_all(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn joined(reader: Option<thread::JoinHandle<Vec<u8>>>) -> Vec<u8> {
    reader.and_then(|thread| thread.join().ok()).unwrap_or_default()
}

/// The last line that is not blank: where Python names the exception.
pub(super) fn last_line<'a>(lines: impl DoubleEndedIterator<Item = &'a str>) -> &'a str {
    lines.rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it said nothing")
}
