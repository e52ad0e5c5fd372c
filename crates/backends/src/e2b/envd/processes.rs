//! Commands and terminals in a sandbox at E2B.

use std::sync::PoisonError;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use sandgate_core::{
    BackendError, Input, Joined, ProcessEnd, ProcessEvent, ProcessInfo, ProcessRef, Processes, Result,
    StartProcess, TerminalSize,
};
use serde::Serialize;
use tokio::sync::mpsc;

use super::super::place::{E2bPlace, gone_or};
use super::frames::{Frame, Frames, frame};
use super::messages::{
    About, Data, End, Event, EventResponse, Input as SentInput, Last, Listed, Nothing, Program, Pty,
    Selector, Size, Start,
};
use crate::http::{Call, HttpError};
use crate::{ProviderError, ProviderResult};

const TIMEOUT: HeaderName = HeaderName::from_static("connect-timeout-ms");
const KEEPALIVE: HeaderName = HeaderName::from_static("keepalive-ping-interval");
/// The agent says so often that it is still there.
const KEEPALIVE_SECONDS: u64 = 30;
const AHEAD: usize = 64;

#[derive(Debug)]
pub(in crate::e2b) struct EnvdProcesses(E2bPlace);

impl EnvdProcesses {
    pub(in crate::e2b) fn new(place: E2bPlace) -> Self {
        Self(place)
    }

    fn is_terminal(&self, which: &ProcessRef) -> bool {
        let terminals = self.0.terminals.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(which, ProcessRef::Pid(pid) if terminals.contains(pid))
    }

    async fn about(&self, method: &str, which: &ProcessRef, fill: impl FnOnce(&mut About)) -> Result<()> {
        let mut about = About { process: selector(which), input: None, signal: None, pty: None };
        fill(&mut about);
        let call = self.0.rpc_call(&format!("process.Process/{method}")).and_then(|call| call.json(&about));
        let answer = self.0.client().demand(call.map_err(failed)?).await.map_err(of_process(which))?;
        answer.json::<Nothing>(super::LARGEST).await.map(|_| ()).map_err(failed)
    }
}

#[async_trait]
impl Processes for EnvdProcesses {
    async fn start(&self, start: StartProcess) -> Result<Joined> {
        let pty = match start.input {
            Input::Terminal(size) => Some(Pty { size: size_of(size) }),
            Input::Closed | Input::Pipe => None,
        };
        let stdin = start.input != Input::Closed;
        let envs = start.env.into_iter().collect();
        let process = Program { cmd: start.program, args: start.args, envs, cwd: start.cwd };
        let message = Start { process, pty, tag: start.tag, stdin };
        let is_terminal = message.pty.is_some();
        let started = self.0.stream("Start", &message, start.timeout, None).await;
        let joined = started.map_err(|error| match error {
            ProviderError::NoSuchFile(what) => BackendError::NoSuchFile(what),
            ProviderError::File { path: _, reason } => BackendError::Invalid(reason),
            error => lost_or_failed(error),
        })?;
        if is_terminal {
            self.0.terminals.lock().unwrap_or_else(PoisonError::into_inner).insert(joined.pid);
        }
        Ok(joined)
    }

    async fn join(&self, which: &ProcessRef) -> Result<Joined> {
        let about = About { process: selector(which), input: None, signal: None, pty: None };
        self.0.stream("Connect", &about, None, None).await.map_err(|error| match error {
            ProviderError::NoSuchFile(_) => BackendError::NoSuchProcess(name(which)),
            error => lost_or_failed(error),
        })
    }

    async fn list(&self) -> Result<Vec<ProcessInfo>> {
        let listed = self.0.rpc::<Listed>("process.Process/List", &serde_json::json!({}), "").await;
        let listed = listed.map_err(lost_or_failed)?;
        let info = |running: super::messages::Running| ProcessInfo {
            pid: running.pid,
            tag: running.tag,
            program: running.config.cmd,
            args: running.config.args,
            env: running.config.envs.into_iter().collect(),
            cwd: running.config.cwd,
        };
        Ok(listed.processes.into_iter().map(info).collect())
    }

    async fn write(&self, which: &ProcessRef, input: Bytes) -> Result<()> {
        let text = BASE64_STANDARD.encode(&input);
        let is_terminal = self.is_terminal(which);
        let input = if is_terminal { SentInput::Pty(text) } else { SentInput::Stdin(text) };
        self.about("SendInput", which, |about| about.input = Some(input)).await
    }

    async fn close_input(&self, which: &ProcessRef) -> Result<()> {
        self.about("CloseStdin", which, |_| ()).await
    }

    async fn signal(&self, which: &ProcessRef, signal: i32) -> Result<()> {
        let name = match signal {
            9 => "SIGNAL_SIGKILL",
            15 => "SIGNAL_SIGTERM",
            _ => return Err(BackendError::Unsupported("any signal but TERM and KILL")),
        };
        self.about("SendSignal", which, |about| about.signal = Some(name)).await
    }

    async fn resize(&self, which: &ProcessRef, size: TerminalSize) -> Result<()> {
        self.about("Update", which, |about| about.pty = Some(Pty { size: size_of(size) })).await
    }
}

impl E2bPlace {
    /// Runs a program to its end; its exit code, -1 for none.
    pub(super) async fn run_as(&self, user: &str, program: &str, args: Vec<String>) -> ProviderResult<i32> {
        let process = Program { cmd: program.to_owned(), args, ..Program::default() };
        let message = Start { process, pty: None, tag: None, stdin: false };
        let mut joined = self.stream("Start", &message, Some(self.patience()), Some(user)).await?;
        while let Some(event) = joined.events.recv().await {
            if let ProcessEvent::Ended(end) = event {
                return Ok(match end {
                    ProcessEnd::Exited { code } => code,
                    ProcessEnd::Signalled { .. } | ProcessEnd::TimedOut => -1,
                });
            }
        }
        Err(HttpError::Broken("before a command had ended".to_owned()).into())
    }

    async fn stream(
        &self,
        method: &str,
        message: &impl Serialize,
        timeout: Option<Duration>,
        user: Option<&str>,
    ) -> ProviderResult<Joined> {
        let call = self.rpc_call(&format!("process.Process/{method}"))?;
        let mut call: Call = call
            .body("application/connect+json", frame(message)?)
            .plain(KEEPALIVE, HeaderValue::from(KEEPALIVE_SECONDS))
            .silence(Duration::from_secs(KEEPALIVE_SECONDS) + self.patience());
        if let Some(timeout) = timeout {
            let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
            call = call.plain(TIMEOUT, HeaderValue::from(millis));
        }
        if let Some(user) = user {
            let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:")));
            let basic = HeaderValue::try_from(basic).map_err(|error| HttpError::Ours(error.to_string()))?;
            call = call.plain(header::AUTHORIZATION, basic);
        }
        let answer = self.client().demand(call).await.map_err(super::of_file(""))?;
        let mut frames = Frames::new(answer);
        let pid = loop {
            match next(&mut frames).await? {
                Next::Event(Event::Start { pid }) => break pid,
                Next::Event(Event::Keepalive {}) => {}
                Next::Refused(code, message) if code == "not_found" => {
                    return Err(ProviderError::NoSuchFile(message));
                }
                Next::Refused(_, reason) => return Err(ProviderError::File { path: String::new(), reason }),
                Next::Event(Event::Data(_) | Event::End(_)) | Next::Over => {
                    return Err(ProviderError::Garbage(
                        "a process that does not begin with its start".to_owned(),
                    ));
                }
            }
        };
        let (sender, events) = mpsc::channel(AHEAD);
        tokio::spawn(tell(frames, sender));
        Ok(Joined { pid, events })
    }
}

/// Until the process ends, or nobody listens any more.
async fn tell(mut frames: Frames, sender: mpsc::Sender<ProcessEvent>) {
    loop {
        let next = tokio::select! {
            biased;
            () = sender.closed() => return,
            next = next(&mut frames) => next,
        };
        let event = match next {
            Ok(Next::Event(Event::Data(data))) => match output(data) {
                Some(event) => event,
                None => return,
            },
            Ok(Next::Event(Event::End(end))) => ProcessEvent::Ended(ended(&end)),
            Ok(Next::Refused(code, _)) if code == "deadline_exceeded" => {
                ProcessEvent::Ended(ProcessEnd::TimedOut)
            }
            Ok(Next::Event(Event::Start { .. } | Event::Keepalive {})) => continue,
            Ok(Next::Refused(..) | Next::Over) => return,
            Err(error) => {
                tracing::debug!(%error, "a process of a sandbox was lost sight of");
                return;
            }
        };
        let is_last = matches!(event, ProcessEvent::Ended(_));
        if sender.send(event).await.is_err() || is_last {
            return;
        }
    }
}

enum Next {
    Event(Event),
    Refused(String, String),
    Over,
}

async fn next(frames: &mut Frames) -> Result<Next, HttpError> {
    let garbage = |_| HttpError::Unreadable("a message is not as it should be".to_owned());
    match frames.next().await? {
        Frame::Message(body) => {
            let response: EventResponse = serde_json::from_slice(&body).map_err(garbage)?;
            Ok(response.event.map_or(Next::Event(Event::Keepalive {}), Next::Event))
        }
        Frame::Last(body) => {
            let last: Last = serde_json::from_slice(&body).map_err(garbage)?;
            Ok(last.error.map_or(Next::Over, |refusal| Next::Refused(refusal.code, refusal.message)))
        }
    }
}

fn output(data: Data) -> Option<ProcessEvent> {
    let bytes = |text: String| BASE64_STANDARD.decode(text).ok().map(Bytes::from);
    Some(match data {
        Data::Stdout(text) => ProcessEvent::Stdout(bytes(text)?),
        Data::Stderr(text) => ProcessEvent::Stderr(bytes(text)?),
        Data::Pty(text) => ProcessEvent::Terminal(bytes(text)?),
    })
}

fn ended(end: &End) -> ProcessEnd {
    if end.exited || !end.status.starts_with("signal: ") {
        return ProcessEnd::Exited { code: end.exit_code };
    }
    let signal = match end.status.as_str() {
        "signal: interrupt" => 2,
        "signal: aborted" => 6,
        "signal: segmentation fault" => 11,
        "signal: terminated" => 15,
        _ => 9,
    };
    ProcessEnd::Signalled { signal, reason: end.error.clone() }
}

fn selector(which: &ProcessRef) -> Selector {
    match which {
        ProcessRef::Pid(pid) => Selector::Pid(*pid),
        ProcessRef::Tag(tag) => Selector::Tag(tag.clone()),
    }
}

fn name(which: &ProcessRef) -> String {
    match which {
        ProcessRef::Pid(pid) => pid.to_string(),
        ProcessRef::Tag(tag) => tag.clone(),
    }
}

fn size_of(size: TerminalSize) -> Size {
    Size { cols: size.columns, rows: size.rows }
}

fn failed(error: HttpError) -> BackendError {
    lost_or_failed(gone_or(error))
}

/// What is not the command's own fault is nobody's here: the sandbox can be had again.
fn lost_or_failed(error: ProviderError) -> BackendError {
    BackendError::Unavailable { backend: "e2b".to_owned(), reason: error.to_string(), retry_seconds: 1 }
}

fn of_process(which: &ProcessRef) -> impl Fn(HttpError) -> BackendError {
    move |error| match error.status() {
        Some(StatusCode::NOT_FOUND) => BackendError::NoSuchProcess(name(which)),
        _ => failed(error),
    }
}
