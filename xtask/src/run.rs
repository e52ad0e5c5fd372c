//! Running commands: output passes through as it comes, and is read on the way.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

use crate::counts::Counts;
use crate::say::pass_through;

/// Runs to the end, with both streams in true order on ours, and counts the tests that it reports.
pub(crate) fn counted(command: Command) -> Result<(ExitStatus, Counts)> {
    let mut counts = Counts::default();
    let status = each_line(command, |line| {
        pass_through(line);
        counts.read(&String::from_utf8_lossy(line));
    })?;
    Ok((status, counts))
}

/// The same for one that runs beside others: its output is given back whole, so that lines of two never mix.
pub(crate) fn counted_aside(command: Command) -> Result<(ExitStatus, Counts, Vec<u8>)> {
    let mut counts = Counts::default();
    let mut said = Vec::new();
    let status = each_line(command, |line| {
        said.extend_from_slice(line);
        counts.read(&String::from_utf8_lossy(line));
    })?;
    Ok((status, counts, said))
}

/// Runs to the end and fails with the command's name if it did.
pub(crate) fn must(command: Command) -> Result<()> {
    let name = name_of(&command);
    let status = each_line(command, pass_through)?;
    if status.success() { Ok(()) } else { bail!("`{name}` failed ({status})") }
}

/// What a command says, without its last line break. Its errors go to the terminal.
pub(crate) fn output(mut command: Command) -> Result<String> {
    let name = name_of(&command);
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("`{name}` could not be started"))?;
    if !output.status.success() {
        bail!("`{name}` failed ({})", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Whether a command can be started and succeeds; it is not heard.
pub(crate) fn works(command: &mut Command) -> bool {
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    silent.status().is_ok_and(|status| status.success())
}

fn each_line(mut command: Command, mut on_line: impl FnMut(&[u8])) -> Result<ExitStatus> {
    let name = name_of(&command);
    let (reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("`{name}` could not be started"))?;
    // The command holds the writing ends; the reader would never see the end of the output.
    drop(command);
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        on_line(&line);
        line.clear();
    }
    Ok(child.wait()?)
}

/// As a person would type it.
pub(crate) fn name_of(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
