//! An execution as a person sees it: each event printed as it comes, pictures and files kept.

use std::io;

use anyhow::{Result, bail};
use sandgate_core::{Ending, Event, Execution, Files, MimeBundle};

use crate::keep::{Keeper, Kept, Picture};
use crate::leaving::{Left, left};
use crate::printer::Printer;

/// What a value is shown as, best first.
const AS_TEXT: [&str; 5] = ["text/plain", "text/markdown", "text/latex", "text/html", "application/json"];

pub(crate) struct Show<'a> {
    pub(crate) printer: &'a mut Printer,
    pub(crate) keeper: &'a mut Keeper,
    pub(crate) files: &'a dyn Files,
}

#[derive(Debug)]
pub(crate) enum Shown {
    Ended(Ending),
    /// By itself, with this code.
    Left(u8),
    /// The reader of standard output went away, as `head` does: no error, and no reason to go on.
    NobodyReads,
}

impl Show<'_> {
    /// To the end of the execution.
    pub(crate) async fn all(&mut self, mut execution: Execution) -> Result<Shown> {
        let mut has_left = None;
        while let Some(event) = execution.events.recv().await {
            if let Event::Done { ending, text, .. } = &event {
                // Code that raised has said so itself.
                if !matches!(ending, Ending::Ok | Ending::Raised) && !text.is_empty() {
                    self.printer.say(text);
                }
                let has_left = has_left.filter(|_| *ending == Ending::Raised);
                return Ok(has_left.map_or(Shown::Ended(*ending), Shown::Left));
            }
            if let Event::Error(error) = &event
                && let Some(Left { code, said }) = left(error)
            {
                has_left = Some(code);
                if let Some(said) = said {
                    self.printer.stderr(&format!("{said}\n"));
                }
                continue;
            }
            match self.event(event).await {
                Err(error) if is_broken_pipe(&error) => return Ok(Shown::NobodyReads),
                shown => shown?,
            }
        }
        bail!("the sandbox engine failed: the execution broke off without saying how it ended")
    }

    async fn event(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Stdout { text } => self.printer.stdout(&text)?,
            Event::Stderr { text } => self.printer.stderr(&text),
            // The text beside a displayed picture only says that it is a picture.
            Event::Display { data } => {
                if !self.picture(&data)? {
                    self.text(&data)?;
                }
            }
            Event::Result { data, .. } => {
                self.text(&data)?;
                self.picture(&data)?;
            }
            Event::Error(error) => self.printer.traceback(&error.traceback),
            Event::Note { text, .. } => self.printer.say(&text),
            Event::Files { changes } => {
                for kept in self.keeper.files(self.files, &changes).await? {
                    match kept {
                        Kept::Saved(path) => self.printer.say(&format!("saved {}", path.display())),
                        Kept::Not(why) => self.printer.say(&why),
                    }
                }
            }
            Event::Started { .. } | Event::Done { .. } => {}
        }
        Ok(())
    }

    fn picture(&mut self, data: &MimeBundle) -> Result<bool> {
        let picture = self.keeper.picture(data)?;
        if let Some(Picture::Saved(path)) = &picture {
            self.printer.say(&format!("saved {}", path.display()));
        }
        Ok(picture.is_some())
    }

    fn text(&mut self, data: &MimeBundle) -> io::Result<()> {
        match AS_TEXT.iter().find_map(|mime| data.get(*mime)) {
            Some(serde_json::Value::String(text)) => self.printer.value(text),
            Some(value) => self.printer.value(&value.to_string()),
            None => Ok(()),
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
