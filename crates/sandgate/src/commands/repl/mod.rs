//! `sandgate repl`: a prompt whose state lives in a sandbox. Input from a pipe runs piece by piece.

mod complete;
mod complete_braces;
mod complete_shell;
mod prompt;
mod whole;

use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use sandgate_core::Outcome;
use sandgate_engine::runtime::languages::Language;
use tokio::runtime::Runtime;

use crate::bad_input::BadInput;
use crate::cli::ReplArgs;
use crate::home;
use crate::keep::Keeper;
use crate::printer::Printer;
use crate::session::{Plan, Session, runtime};
use crate::show::{Show, Shown};

use prompt::{Entered, Prompt};
use whole::is_whole;

/// A person is there and can press Ctrl-C.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3600);

pub(crate) fn repl(args: ReplArgs) -> Result<ExitCode> {
    let plan = Plan::new(&args.sandbox, DEFAULT_TIMEOUT)?;
    let out = args.sandbox.out;
    let pictures_to = out.clone().unwrap_or_else(|| PathBuf::from(""));
    let keeper = Keeper::new(Some(pictures_to), out, plan.limits.disk_bytes)?;
    let home = home::open()?;
    // A name that is none is said by the engine, with those that are.
    let language = plan.language.as_deref().and_then(Language::parse).unwrap_or(Language::Python);
    let runtime = runtime()?;
    let session = runtime.block_on(Box::pin(Session::open(plan)))?;
    let mut repl = Repl { runtime, session, keeper, printer: Printer::standard(), language };
    let ended =
        if io::stdin().is_terminal() { repl.at_the_prompt(&home) } else { repl.piped(io::stdin().lock()) };
    let Repl { runtime, session, .. } = repl;
    runtime.block_on(session.close());
    ended.map(|()| ExitCode::SUCCESS)
}

struct Repl {
    runtime: Runtime,
    session: Session,
    keeper: Keeper,
    printer: Printer,
    language: Language,
}

#[derive(PartialEq, Eq)]
enum Next {
    GoOn,
    Leave,
}

impl Repl {
    fn at_the_prompt(&mut self, home: &Path) -> Result<()> {
        let history = match self.language {
            Language::Python => "repl_history".to_owned(),
            other => format!("repl_history_{other}"),
        };
        let mut prompt = Prompt::new(&home.join(history), self.language)?;
        // Wrong before the first line is typed, if it is wrong.
        self.try_language()?;
        let title = self.language.title();
        self.printer.value(&format!("{title} in a sandbox. Ctrl-C interrupts, Ctrl-D leaves."))?;
        loop {
            match prompt.read()? {
                Entered::Code(code)
                    if matches!(code.trim(), "exit" | "quit" | "exit()" | "quit()" | "/exit" | "q()") =>
                {
                    return Ok(());
                }
                Entered::Code(code) => {
                    if self.cell(code)? == Next::Leave {
                        return Ok(());
                    }
                }
                Entered::Cleared => {}
                Entered::End => return Ok(()),
            }
        }
    }

    /// No prompt; an unfinished piece at the end is run as it is, and the language says what is wrong with it.
    fn piped(&mut self, mut input: impl BufRead) -> Result<()> {
        let mut cell = String::new();
        let mut offset = 0;
        while let Some(line) = next_line(&mut input, &mut offset)? {
            cell.push_str(&line);
            if is_whole(self.language, &cell) {
                if self.cell(std::mem::take(&mut cell))? == Next::Leave {
                    return Ok(());
                }
            } else {
                cell.push('\n');
            }
        }
        self.cell(cell).map(drop)
    }

    /// Starts the interpreter, so that the first input does not wait for it.
    fn try_language(&mut self) -> Result<()> {
        let Self { runtime, session, .. } = self;
        runtime.block_on(async {
            let (execution, _watch) = session.execute(String::new()).await?;
            Outcome::collect(execution).await?;
            Ok(())
        })
    }

    fn cell(&mut self, code: String) -> Result<Next> {
        if code.trim().is_empty() {
            return Ok(Next::GoOn);
        }
        let Self { runtime, session, keeper, printer, language: _ } = self;
        let shown = runtime.block_on(async {
            let (execution, _watch) = session.execute(code).await?;
            let files = session.files();
            Show { printer, keeper, files: &*files }.all(execution).await
        });
        match shown? {
            Shown::Ended(_) => Ok(Next::GoOn),
            Shown::Left(_) | Shown::NobodyReads => Ok(Next::Leave),
        }
    }
}

/// One line without its end; None at the end of the input. `offset` counts the bytes read.
fn next_line(input: &mut impl BufRead, offset: &mut usize) -> Result<Option<String>> {
    let mut bytes = Vec::new();
    input.read_until(b'\n', &mut bytes).context("cannot read standard input")?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let begin = *offset;
    *offset += bytes.len();
    let line = String::from_utf8(bytes).map_err(|error| {
        let at = begin + error.utf8_error().valid_up_to();
        BadInput::error(format!(
            "standard input is not UTF-8 text: the byte at offset {at} fits no character"
        ))
    })?;
    Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned()))
}

#[cfg(test)]
#[path = "mod_tests.rs"]
mod tests;
