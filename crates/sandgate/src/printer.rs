//! Everything a command prints goes through here: the code's output as it comes, values on a line of
//! their own, and what Sandgate itself has to say on standard error.

use std::io::{self, IsTerminal, Write};

use crate::terminal::{Filter, Keep, plain};

pub(crate) struct Printer {
    out: Stream,
    err: Stream,
}

struct Stream {
    to: Box<dyn Write>,
    /// Only a terminal needs protection; files and pipes get every byte.
    filter: Option<Filter>,
    at_line_start: bool,
}

impl Printer {
    pub(crate) fn standard() -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let (out_terminal, err_terminal) = (out.is_terminal(), err.is_terminal());
        Self { out: Stream::new(Box::new(out), out_terminal), err: Stream::new(Box::new(err), err_terminal) }
    }

    /// What the code wrote to its standard output.
    pub(crate) fn stdout(&mut self, text: &str) -> io::Result<()> {
        self.out.write(text)
    }

    /// What the code wrote to its standard error.
    pub(crate) fn stderr(&mut self, text: &str) {
        self.err.write_or_lose(text);
    }

    /// A value, on lines of its own.
    pub(crate) fn value(&mut self, text: &str) -> io::Result<()> {
        self.out.fresh_line()?;
        self.out.write(text)?;
        self.out.fresh_line()
    }

    pub(crate) fn traceback(&mut self, lines: &[String]) {
        let text = lines.join("\n");
        self.on_own_line(&if self.err.filter.is_some() { text } else { plain(&text) });
    }

    /// Sandgate's own words.
    pub(crate) fn say(&mut self, text: &str) {
        self.on_own_line(&format!("sandgate: {text}"));
    }

    fn on_own_line(&mut self, text: &str) {
        // On a terminal both streams share the line.
        if self.out.filter.is_some() && self.err.filter.is_some() && !self.out.at_line_start {
            self.err.at_line_start = false;
            self.out.at_line_start = true;
        }
        if !self.err.at_line_start {
            self.err.write_or_lose("\n");
        }
        self.err.write_or_lose(text);
        if !self.err.at_line_start {
            self.err.write_or_lose("\n");
        }
    }
}

impl Stream {
    fn new(to: Box<dyn Write>, terminal: bool) -> Self {
        Self { to, filter: terminal.then(|| Filter::new(Keep::Harmless)), at_line_start: true }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let Some(last) = text.chars().next_back() else { return Ok(()) };
        self.at_line_start = last == '\n';
        match &mut self.filter {
            Some(filter) => self.to.write_all(filter.feed(text).as_bytes())?,
            None => self.to.write_all(text.as_bytes())?,
        }
        // Output streams as it is made, also when it does not end a line.
        self.to.flush()
    }

    /// There is nobody to tell when standard error is gone.
    fn write_or_lose(&mut self, text: &str) {
        let _ = self.write(text);
    }

    fn fresh_line(&mut self) -> io::Result<()> {
        if self.at_line_start { Ok(()) } else { self.write("\n") }
    }
}

#[cfg(test)]
#[path = "printer_tests.rs"]
mod tests;
