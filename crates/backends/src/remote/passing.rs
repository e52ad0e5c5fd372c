//! What a run says, on its way to who reads it: within the limit of output, and with what was left behind in files
//! fetched.

use std::sync::Arc;
use std::time::Duration;

use sandgate_core::{CodeError, Event, MimeBundle, Note, SandboxId, human_bytes};
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, timeout_at};

use super::outgoing::Outgoing;
use super::told::{Channel, Content, Kind, Meant, Part, Reader, meant};
use crate::{Place, ProviderError, Said};

/// For all displays of a run that were left behind as files: code can name files that are not there, and nothing
/// else is heard of the run meanwhile.
const LONGEST_FETCHING: Duration = Duration::from_secs(20);
const MOST_FETCHED: u32 = 256;
/// Of an error's name, and of its value, as in the embedded engine.
const LONGEST_NAME: usize = 256;
const LONGEST_VALUE: usize = 16 * 1024;

#[derive(Debug)]
pub(super) struct Passing<'a> {
    sandbox: &'a SandboxId,
    place: Arc<dyn Place>,
    out: &'a mut Outgoing,
    reader: Option<Reader>,
    limit: u64,
    kept: u64,
    dropped: u64,
    /// Of this run.
    count: u64,
    taught: u64,
    /// The number that the interpreter gave this run, and the one that it gave the last.
    told: Option<u64>,
    before: u64,
    has_raised: bool,
    fetches: Fetches,
}

/// How runs are numbered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    /// This one, unless the interpreter has another number.
    pub(super) own: u64,
    /// What the interpreter called the last one; zero for one that is new.
    pub(super) before: u64,
    /// So many of the interpreter's runs were the gate's own.
    pub(super) taught: u64,
}

/// What may still be fetched.
#[derive(Debug)]
struct Fetches {
    left: u32,
    time: Duration,
    failed: u64,
}

impl<'a> Passing<'a> {
    pub(super) fn new(
        sandbox: &'a SandboxId,
        place: Arc<dyn Place>,
        channel: Option<&Channel>,
        out: &'a mut Outgoing,
        limit: u64,
        counts: Counts,
    ) -> Self {
        Self {
            sandbox,
            place,
            out,
            reader: channel.map(Channel::reader),
            limit,
            kept: 0,
            dropped: 0,
            count: counts.own,
            taught: counts.taught,
            told: None,
            before: counts.before,
            has_raised: false,
            fetches: Fetches { left: MOST_FETCHED, time: LONGEST_FETCHING, failed: 0 },
        }
    }

    pub(super) fn out(&mut self) -> &mut Outgoing {
        self.out
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn has_raised(&self) -> bool {
        self.has_raised
    }

    /// The number that the interpreter gave this run.
    pub(super) fn told(&self) -> Option<u64> {
        self.told
    }

    /// It counts from less than it had come to: the provider has begun another one in its place.
    pub(super) fn is_renewed(&self) -> bool {
        self.told.is_some_and(|told| told < self.before)
    }

    /// `until`: when who calls has to look after other things.
    pub(super) async fn pass_on(&mut self, said: Said, until: Instant) {
        match said {
            Said::Stdout(text) => match self.reader.as_mut().map(|reader| reader.read(&text)) {
                None => self.text(text, false),
                Some(parts) => {
                    for part in parts {
                        self.part(part, until).await;
                    }
                }
            },
            Said::Stderr(text) => self.text(text, true),
            Said::Value(data) => self.bundle(data, true),
            Said::Shown(data) => self.bundle(data, false),
            Said::Raised(error) => self.error(error),
            Said::Count(count) => {
                self.told = Some(count);
                // Those that taught it are nobody's.
                self.count = count.saturating_sub(self.taught).max(1);
            }
            Said::Ended(_) => {}
        }
    }

    /// What is still held back, and what was not told.
    pub(super) fn finish(&mut self) {
        if let Some(rest) = self.reader.as_mut().and_then(Reader::finish) {
            self.text(rest, false);
        }
        let mut note = |text| self.out.push(Event::Note { note: Note::OutputTrimmed, text });
        if self.dropped > 0 {
            let (limit, dropped) = (human_bytes(self.limit), human_bytes(self.dropped));
            note(format!("the output limit of {limit} was reached; {dropped} more were dropped"));
        }
        if self.fetches.failed > 0 {
            let failed = self.fetches.failed;
            note(format!("{failed} of the displays could not be fetched from the sandbox and are not shown"));
        }
    }

    async fn part(&mut self, part: Part, until: Instant) {
        let (kind, content) = match part {
            Part::Text(text) => return self.text(text, false),
            Part::Told { kind, content } => (kind, content),
        };
        let bytes = match content {
            Content::Inline(bytes) => bytes,
            Content::File(path) => match self.left_behind(&path, until).await {
                Ok(bytes) => bytes,
                Err(error) => {
                    tracing::debug!(sandbox = %self.sandbox, %error, "what code displayed could not be fetched");
                    self.fetches.failed += 1;
                    return;
                }
            },
        };
        match meant(kind, &bytes) {
            Some(Meant::Bundle(data)) => self.bundle(data, kind == Kind::Value),
            Some(Meant::Error(error)) => self.error(error),
            // Nothing of ours, or more than the output may be.
            None => self.dropped += bytes.len() as u64,
        }
    }

    /// A display that was too long for the output.
    async fn left_behind(&mut self, path: &str, until: Instant) -> Result<Vec<u8>, ProviderError> {
        let began = Instant::now();
        let late = |_| ProviderError::TimedOut { what: "displays".to_owned(), after: LONGEST_FETCHING };
        if self.fetches.left == 0 {
            return Err(ProviderError::TooLarge { what: "what was displayed".to_owned(), limit: self.limit });
        }
        self.fetches.left -= 1;
        let (place, limit) = (Arc::clone(&self.place), self.limit);
        let fetching = async {
            let content = place.read(path).await?;
            let mut bytes = Vec::new();
            let read = content.reader.take(limit + 1).read_to_end(&mut bytes).await;
            read.map_err(|error| ProviderError::Unreachable(error.to_string()))?;
            place.remove(path).await?;
            Ok(bytes)
        };
        let fetched = timeout_at(until.min(began + self.fetches.time), fetching).await.map_err(late);
        self.fetches.time = self.fetches.time.saturating_sub(began.elapsed());
        fetched?
    }

    fn fits(&mut self, size: u64) -> bool {
        let fits = self.kept.saturating_add(size) <= self.limit;
        if fits {
            self.kept += size;
        } else {
            self.dropped += size;
        }
        fits
    }

    fn text(&mut self, mut text: String, is_error: bool) {
        let room = usize::try_from(self.limit.saturating_sub(self.kept)).unwrap_or(usize::MAX);
        let cut = text.floor_char_boundary(room.min(text.len()));
        self.dropped += (text.len() - cut) as u64;
        text.truncate(cut);
        self.kept += text.len() as u64;
        if !text.is_empty() {
            let event = if is_error { Event::Stderr { text } } else { Event::Stdout { text } };
            self.out.push(event);
        }
    }

    /// The first is told whatever else was said: it is how the code ended.
    fn error(&mut self, mut error: CodeError) {
        shorten(&mut error.name, LONGEST_NAME);
        shorten(&mut error.value, LONGEST_VALUE);
        let fits = self.fits((error.name.len() + error.value.len()) as u64);
        if fits || !self.has_raised {
            error.traceback.retain(|line| self.fits(line.len() as u64));
            self.out.push(Event::Error(error));
        }
        self.has_raised = true;
    }

    fn bundle(&mut self, data: MimeBundle, is_value: bool) {
        let size: usize = data.iter().map(|(kind, value)| kind.len() + weight(value)).sum();
        if self.fits(size as u64) {
            let event = match is_value {
                true => Event::Result { data, execution_count: self.count },
                false => Event::Display { data },
            };
            self.out.push(event);
        }
    }
}

fn shorten(text: &mut String, most: usize) {
    text.truncate(text.floor_char_boundary(most.min(text.len())));
}

fn weight(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::String(text) => text.len(),
        other => other.to_string().len(),
    }
}

#[cfg(test)]
#[path = "passing_tests.rs"]
mod tests;
