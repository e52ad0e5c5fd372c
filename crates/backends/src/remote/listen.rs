//! What the provider says of a run that is under way, until its end.

use std::time::Duration;

use sandgate_core::{Ending, Event, LimitKind, MimeBundle, Note, Stop, human_bytes};
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::contexts::Ended;
use super::look::Looked;
use super::outgoing::Outgoing;
use super::run::Opened;
use super::sandbox::Inner;
use super::told::{Content, Kind, Meant, Part, Reader, meant};
use crate::{ProviderError, Run, RunEnd, Said};

/// From an interrupt to the end by force, as in the embedded engine.
pub(super) const GRACE: Duration = Duration::from_secs(2);
/// How far past the limit a run may go on printing before it is ended.
const GIVE_UP_FACTOR: u64 = 10;
/// For a display that was left behind as a file.
const LONGEST_FETCH: Duration = Duration::from_secs(20);
const SIGKILL: i32 = 9;
/// Until an interpreter must have heard of an interrupt.
const PROBE: Duration = Duration::from_millis(1500);

/// More than this of a run's output is not even read.
pub(super) fn most_read(limit: u64) -> u64 {
    limit.saturating_mul(GIVE_UP_FACTOR)
}

#[derive(Debug)]
pub(super) struct Finished {
    pub(super) ending: Ending,
    pub(super) text: String,
    pub(super) count: u64,
    pub(super) interpreter_lost: bool,
    pub(super) sandbox_lost: bool,
    /// On the way to the sandbox.
    pub(super) error: Option<ProviderError>,
    /// Its files, where somebody has looked at them already.
    pub(super) looked: Option<Looked>,
}

impl Finished {
    pub(super) fn new(ending: Ending, text: impl Into<String>) -> Self {
        Self {
            ending,
            text: text.into(),
            count: 0,
            interpreter_lost: false,
            sandbox_lost: false,
            error: None,
            looked: None,
        }
    }

    pub(super) fn failed(why: &str) -> Self {
        let mut failed =
            Self::new(Ending::Signalled { signal: SIGKILL }, format!("the sandbox failed: {why}"));
        failed.interpreter_lost = true;
        failed
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    Asked,
    Killed,
    TimedOut,
    Flooding,
}

impl Stopped {
    pub(super) fn told(self, timeout: Duration, output_limit: u64, how: &str) -> Finished {
        match self {
            Self::TimedOut => {
                let seconds = timeout.as_secs_f64();
                let text = format!("the time limit of {seconds} seconds was reached; the code {how}");
                Finished::new(Ending::TimedOut, text)
            }
            Self::Killed => Finished::new(Ending::Interrupted, "the code was ended on request"),
            Self::Flooding => {
                let limit = human_bytes(output_limit);
                let text =
                    format!("the code went on printing far past the output limit of {limit} and {how}");
                Finished::new(Ending::LimitHit { limit: LimitKind::Output }, text)
            }
            Self::Asked => Finished::new(Ending::Interrupted, format!("the code {how}")),
        }
    }
}

pub(super) struct Listening<'a> {
    inner: &'a Inner,
    opened: Opened,
    out: &'a mut Outgoing,
    stops: mpsc::UnboundedReceiver<Stop>,
    timeout: Duration,
    reader: Option<Reader>,
    count: u64,
    raised: bool,
    kept: u64,
    dropped: u64,
    stopped: Option<Stopped>,
    /// A display took too long to be fetched; no other is.
    fetching_fails: bool,
}

impl<'a> Listening<'a> {
    pub(super) fn new(
        inner: &'a Inner,
        opened: Opened,
        out: &'a mut Outgoing,
        stops: mpsc::UnboundedReceiver<Stop>,
        timeout: Duration,
        count: u64,
    ) -> Self {
        let reader = opened.interpreter.channel.as_ref().map(super::told::Channel::reader);
        Self {
            inner,
            opened,
            out,
            stops,
            timeout,
            reader,
            count,
            raised: false,
            kept: 0,
            dropped: 0,
            stopped: None,
            fetching_fails: false,
        }
    }

    pub(super) async fn into_finished(mut self) -> Finished {
        let mut wake = self.opened.sent + self.timeout;
        let reader = self.out.sender();
        let mut finished = loop {
            tokio::select! {
                said = self.opened.running.said.recv(), if !self.out.is_full() => match said {
                    Some(Ok(Said::Ended(end))) => break self.ended(end).await,
                    Some(Ok(said)) => {
                        self.pass_on(said).await;
                        if self.stopped.is_none() && self.dropped > most_read(self.limit()) {
                            wake = self.stop(Stopped::Flooding);
                        }
                    }
                    Some(Err(error)) => break self.broke(error).await,
                    None => break self.broke(ProviderError::Garbage("a run without an end".to_owned())).await,
                },
                room = reader.reserve(), if self.out.has_waiting() => self.out.send_next(room),
                Some(stop) = self.stops.recv() => {
                    let second = self.stopped.is_some();
                    wake = self.stop(if stop == Stop::Kill { Stopped::Killed } else { Stopped::Asked });
                    if stop == Stop::Kill || second {
                        wake = Instant::now();
                    }
                }
                () = reader.closed(), if self.stopped.is_none() => wake = self.stop(Stopped::Asked),
                () = sleep_until(wake) => {
                    if self.stopped.is_some() {
                        break self.end_by_force().await;
                    }
                    wake = self.stop(Stopped::TimedOut);
                }
            }
        };
        if let Some(rest) = self.reader.as_mut().and_then(Reader::finish) {
            self.text(rest, false);
        }
        if self.dropped > 0 {
            let (limit, dropped) = (human_bytes(self.limit()), human_bytes(self.dropped));
            let text = format!("the output limit of {limit} was reached; {dropped} more were dropped");
            self.out.push(Event::Note { note: Note::OutputTrimmed, text });
        }
        finished.count = self.count;
        finished
    }

    fn limit(&self) -> u64 {
        self.inner.spec.limits.output_bytes
    }

    /// Asks the provider to interrupt, without waiting for its answer: what counts is how the run ends.
    fn stop(&mut self, why: Stopped) -> Instant {
        if self.stopped.is_some() {
            return Instant::now() + GRACE;
        }
        self.stopped = Some(why);
        if why == Stopped::Killed || !self.inner.shared.provider.capabilities().interrupt {
            return Instant::now();
        }
        let (place, context) = (self.opened.at.place.clone(), self.opened.interpreter.remote.clone());
        tokio::spawn(async move {
            if let Err(error) = place.interrupt(context.as_deref()).await {
                tracing::debug!(%error, "code at a provider could not be interrupted");
            }
        });
        Instant::now() + GRACE
    }

    async fn end_by_force(&self) -> Finished {
        let mut finished = self.how_stopped("was ended");
        let why = std::mem::take(&mut finished.text);
        self.end_interpreter(&mut finished, &why).await;
        finished
    }

    /// It is not used again, and what runs in it ends. `why` it had to is told with what went with it.
    async fn end_interpreter(&self, finished: &mut Finished, why: &str) {
        let Opened { at, interpreter, .. } = &self.opened;
        let ended = self.inner.end_by_force(at, interpreter.remote.as_deref()).await;
        finished.text = format!("{why}; {}", ended.text());
        finished.interpreter_lost = true;
        if let Ended::Sandbox(looked) = ended {
            (finished.sandbox_lost, finished.looked) = (true, looked);
        }
    }

    fn how_stopped(&self, how: &str) -> Finished {
        self.stopped.unwrap_or(Stopped::Asked).told(self.timeout, self.limit(), how)
    }

    async fn ended(&self, end: RunEnd) -> Finished {
        let can = self.inner.shared.provider.capabilities();
        match end {
            _ if self.stopped.is_some() && can.interrupt_by_hanging_up && !self.is_free().await => {
                self.end_by_force().await
            }
            _ if self.stopped.is_some() => self.how_stopped("was interrupted"),
            RunEnd::Finished if self.raised => Finished::new(Ending::Raised, "the code raised"),
            RunEnd::Finished => Finished::new(Ending::Ok, ""),
            RunEnd::Interrupted => Finished::new(Ending::Interrupted, "the code was interrupted"),
            RunEnd::TimedOut => {
                let mut finished = Stopped::TimedOut.told(self.timeout, self.limit(), "was ended");
                if !can.interrupt {
                    // What cannot be interrupted was killed, and its interpreter with it.
                    let why = std::mem::take(&mut finished.text);
                    self.end_interpreter(&mut finished, &why).await;
                }
                finished
            }
            RunEnd::Died(why) => {
                let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
                let text = format!("the interpreter died{why}; variables are gone, files are kept");
                let mut died = Finished::new(Ending::Signalled { signal: SIGKILL }, text);
                died.interpreter_lost = true;
                died
            }
        }
    }

    /// Where hanging up is the interrupt, nobody says whether the code heard of it. What runs next in its context
    /// would wait behind it, so something is run now.
    async fn is_free(&self) -> bool {
        let run = Run {
            // An expression in all languages that there are.
            code: "1".to_owned(),
            context: self.opened.interpreter.remote.clone(),
            timeout: PROBE,
            output_bytes: 1 << 20,
            ..Run::default()
        };
        let tried = async {
            let mut running = self.opened.at.place.execute(run).await.ok()?;
            loop {
                if let Said::Ended(end) = running.said.recv().await?.ok()? {
                    return Some(end == RunEnd::Finished);
                }
            }
        };
        tokio::time::timeout(PROBE, tried).await.ok().flatten().unwrap_or(false)
    }

    async fn broke(&mut self, error: ProviderError) -> Finished {
        let mut broken = match &error {
            ProviderError::Lost => {
                let text = "the provider lost the sandbox while the code ran; variables are gone, and so are \
                            files that this run made";
                let mut lost = Finished::new(Ending::Signalled { signal: SIGKILL }, text);
                (lost.interpreter_lost, lost.sandbox_lost) = (true, true);
                lost
            }
            // It told what it ran in: that is gone, and the sandbox is not.
            ProviderError::NoSuchContext => {
                Finished::failed("its interpreter is gone; variables are gone, files are kept")
            }
            ProviderError::TooLarge { .. } => {
                self.stopped = Some(Stopped::Flooding);
                return self.end_by_force().await;
            }
            // Who asked for it has left, and the connection with him.
            _ if self.stopped.is_some() => self.end_by_force().await,
            error => {
                // The code may run on.
                let mut failed = Finished::failed(&error.to_string());
                let why = std::mem::take(&mut failed.text);
                self.end_interpreter(&mut failed, &why).await;
                failed
            }
        };
        broken.error = Some(error);
        broken
    }

    async fn pass_on(&mut self, said: Said) {
        match said {
            Said::Stdout(text) => match self.reader.as_mut().map(|reader| reader.read(&text)) {
                None => self.text(text, false),
                Some(parts) => {
                    for part in parts {
                        self.part(part).await;
                    }
                }
            },
            Said::Stderr(text) => self.text(text, true),
            Said::Value(data) => self.bundle(data, true),
            Said::Shown(data) => self.bundle(data, false),
            Said::Raised(mut error) => {
                self.raised = true;
                error.traceback.retain(|line| self.fits(line.len() as u64));
                self.out.push(Event::Error(error));
            }
            // Those that taught it are nobody's.
            Said::Count(count) => {
                self.count = count.saturating_sub(self.opened.interpreter.taught).max(1);
            }
            Said::Ended(_) => {}
        }
    }

    async fn part(&mut self, part: Part) {
        let (kind, content) = match part {
            Part::Text(text) => return self.text(text, false),
            Part::Told { kind, content } => (kind, content),
        };
        let bytes = match content {
            Content::Inline(bytes) => bytes,
            Content::File(path) => match self.left_behind(&path).await {
                Ok(bytes) => bytes,
                Err(error) => {
                    tracing::warn!(sandbox = %self.inner.id, %error, "what code displayed could not be fetched");
                    self.fetching_fails |= matches!(error, ProviderError::TimedOut { .. });
                    self.dropped += 1;
                    return;
                }
            },
        };
        match meant(kind, &bytes) {
            Some(Meant::Bundle(data)) => self.bundle(data, kind == Kind::Value),
            Some(Meant::Error(error)) => Box::pin(self.pass_on(Said::Raised(error))).await,
            // Nothing of ours, or more than the output may be.
            None => self.dropped += bytes.len() as u64,
        }
    }

    /// A display that was too long for the output.
    async fn left_behind(&self, path: &str) -> Result<Vec<u8>, ProviderError> {
        let late = || ProviderError::TimedOut { what: "a display".to_owned(), after: LONGEST_FETCH };
        if self.fetching_fails {
            return Err(late());
        }
        let place = &self.opened.at.place;
        let fetching = async {
            let content = place.read(path).await?;
            let mut bytes = Vec::new();
            let read = content.reader.take(self.limit() + 1).read_to_end(&mut bytes).await;
            read.map_err(|error| ProviderError::Unreachable(error.to_string()))?;
            place.remove(path).await?;
            Ok(bytes)
        };
        tokio::time::timeout(LONGEST_FETCH, fetching).await.unwrap_or_else(|_| Err(late()))
    }

    fn fits(&mut self, size: u64) -> bool {
        let fits = self.kept.saturating_add(size) <= self.limit();
        if fits {
            self.kept += size;
        } else {
            self.dropped += size;
        }
        fits
    }

    fn text(&mut self, mut text: String, is_error: bool) {
        let room = usize::try_from(self.limit().saturating_sub(self.kept)).unwrap_or(usize::MAX);
        let cut = text.floor_char_boundary(room.min(text.len()));
        self.dropped += (text.len() - cut) as u64;
        text.truncate(cut);
        self.kept += text.len() as u64;
        if !text.is_empty() {
            let event = if is_error { Event::Stderr { text } } else { Event::Stdout { text } };
            self.out.push(event);
        }
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

fn weight(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::String(text) => text.len(),
        other => other.to_string().len(),
    }
}
