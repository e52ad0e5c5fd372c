//! The line editor: history in a file of the data folder, several lines edited as one piece.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};
use sandgate_engine::runtime::languages::Language;

use super::whole::is_whole;

pub(super) struct Prompt {
    editor: Editor<Typed, DefaultHistory>,
    history: PathBuf,
    sign: &'static str,
}

#[derive(Debug)]
pub(super) enum Entered {
    Code(String),
    /// Ctrl-C.
    Cleared,
    /// Ctrl-D.
    End,
}

impl Prompt {
    pub(super) fn new(history: &Path, language: Language) -> Result<Self> {
        let config = Config::builder().auto_add_history(true).history_ignore_space(true).build();
        let mut editor = Editor::with_config(config).context("the terminal cannot be used")?;
        editor.set_helper(Some(Typed(language)));
        // What is typed may be private; the first to make the file decides who reads it.
        let made = OpenOptions::new().create(true).append(true).mode(0o600).open(history).map(drop);
        let loaded = made.map_err(ReadlineError::from).and_then(|()| editor.load_history(history));
        if let Err(error) = loaded {
            tracing::warn!(%error, path = %history.display(), "the history of earlier prompts could not be read");
        }
        let sign = match language {
            Language::Java => "jshell> ",
            Language::Bash => "$ ",
            Language::JavaScript | Language::TypeScript | Language::Go | Language::R => "> ",
            Language::Python => ">>> ",
        };
        Ok(Self { editor, history: history.to_owned(), sign })
    }

    pub(super) fn read(&mut self) -> Result<Entered> {
        match self.editor.readline(self.sign) {
            Ok(code) => {
                if let Err(error) = self.editor.append_history(&self.history) {
                    tracing::debug!(%error, "the history could not be written");
                }
                Ok(Entered::Code(code))
            }
            Err(ReadlineError::Interrupted) => Ok(Entered::Cleared),
            Err(ReadlineError::Eof) => Ok(Entered::End),
            Err(error) => Err(error).context("the prompt failed"),
        }
    }
}

/// What the editor knows of a language: whether Enter ends the input, and that Tab indents.
struct Typed(Language);

impl Helper for Typed {}
impl Highlighter for Typed {}

impl Hinter for Typed {
    type Hint = String;
}

impl Validator for Typed {
    fn validate(&self, input: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if is_whole(self.0, input.input()) {
            ValidationResult::Valid(None)
        } else {
            ValidationResult::Incomplete
        })
    }
}

impl Completer for Typed {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let before = line[..at].rsplit('\n').next().unwrap_or_default();
        let indents = before.chars().all(|c| c == ' ');
        Ok((at, if indents { vec!["    ".to_owned()] } else { Vec::new() }))
    }
}
