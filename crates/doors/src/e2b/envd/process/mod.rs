//! The service `process.Process`.

mod end;
mod events;
mod input;

use axum::Router;
use futures_util::stream::BoxStream;
use sandgate_core::{
    BackendError, FileKind, Input, ProcessInfo as Running, ProcessRef, StartProcess, TerminalSize,
};
use tokio::time::{Duration, timeout};

use super::Shared;
use super::connect::{Call, Last, from_stream, to_stream, unary};
use super::guest::Guest;
use super::messages::process::{
    CloseStdinRequest, ConnectRequest, Empty, EventResponse, ListRequest, ListResponse, ProcessConfig,
    ProcessInfo, ProcessSelector, Pty, Selector, SendSignalRequest, Signal, StartRequest, UpdateRequest,
};
use super::paths::resolve;
use super::refusal::{Kind, Refusal};
use events::Watched;

/// Of a terminal whose client does not say.
const USUAL_SIZE: TerminalSize = TerminalSize { columns: 80, rows: 24 };

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/process.Process/List", unary(list))
        .route("/process.Process/Start", to_stream(start))
        .route("/process.Process/Connect", to_stream(connect))
        .route("/process.Process/Update", unary(update))
        .route("/process.Process/SendInput", unary(input::send))
        .route("/process.Process/StreamInput", from_stream(input::stream))
        .route("/process.Process/SendSignal", unary(send_signal))
        .route("/process.Process/CloseStdin", unary(close_stdin))
}

async fn list(call: Call, _ask: ListRequest) -> Result<ListResponse, Refusal> {
    let running = call.guest.processes().await?.list().await?;
    Ok(ListResponse { processes: running.into_iter().map(info).collect() })
}

fn info(running: Running) -> ProcessInfo {
    let config = ProcessConfig {
        cmd: running.program,
        args: running.args,
        envs: running.env.into_iter().collect(),
        cwd: running.cwd,
    };
    ProcessInfo { config: Some(config), pid: running.pid, tag: running.tag }
}

/// The deadline of this call is the process's own.
async fn start(
    call: Call,
    ask: StartRequest,
) -> Result<BoxStream<'static, Result<EventResponse, Last>>, Refusal> {
    let config = ask.process.unwrap_or_default();
    if config.cmd.is_empty() {
        return Err(Refusal::invalid("the request names no program to start"));
    }
    let cwd = match config.cwd.as_deref().filter(|cwd| !cwd.is_empty()) {
        Some(cwd) => Some(folder(&call.guest, cwd).await?),
        None => None,
    };
    let input = match (ask.pty, ask.stdin) {
        (Some(pty), _) => Input::Terminal(size(pty)?.unwrap_or(USUAL_SIZE)),
        (None, Some(false)) => Input::Closed,
        (None, Some(true) | None) => Input::Pipe,
    };
    let process = StartProcess {
        program: config.cmd,
        args: config.args,
        env: config.envs.into_iter().collect(),
        cwd,
        tag: ask.tag,
        input,
        timeout: call.timeout,
    };
    let name = process.program.clone();
    let joined = call.guest.start(process).await.map_err(|error| match error {
        BackendError::NoSuchFile(_)
        | BackendError::PermissionDenied(_)
        | BackendError::IsFolder(_)
        | BackendError::NotAFolder(_)
        | BackendError::File { .. } => Refusal::invalid(format!("error starting process '{name}': {error}")),
        other => other.into(),
    })?;
    Ok(Watched::started(joined, call.keepalive))
}

async fn folder(guest: &Guest, cwd: &str) -> Result<String, Refusal> {
    let path = resolve(cwd)?;
    match guest.inside().await?.stat(&path).await {
        Ok(entry) if entry.kind == FileKind::Directory => Ok(path.to_string()),
        Ok(_) => Err(Refusal::invalid(format!("cwd '{path}' is not a directory"))),
        Err(BackendError::NoSuchFile(_) | BackendError::NotAFolder(_)) => {
            Err(Refusal::invalid(format!("cwd '{path}' does not exist")))
        }
        Err(error) => Err(error.into()),
    }
}

/// Those of a whole terminal, or none.
fn size(pty: Pty) -> Result<Option<TerminalSize>, Refusal> {
    let Some(size) = pty.size else { return Ok(None) };
    let wrong = |_| Refusal::invalid("a terminal has at most 65535 columns and rows");
    let (columns, rows) =
        (u16::try_from(size.cols).map_err(wrong)?, u16::try_from(size.rows).map_err(wrong)?);
    Ok(Some(TerminalSize { columns, rows }))
}

async fn connect(
    call: Call,
    ask: ConnectRequest,
) -> Result<BoxStream<'static, Result<EventResponse, Last>>, Refusal> {
    let which = selected(ask.process)?;
    let processes = call.guest.processes().await?;
    let joined = processes.join(&which).await.map_err(|error| not_found(error, &which))?;
    Ok(Watched::joined(joined, call.keepalive, call.timeout))
}

async fn update(call: Call, ask: UpdateRequest) -> Result<Empty, Refusal> {
    let which = selected(ask.process)?;
    if let Some(size) = ask.pty.map(size).transpose()?.flatten() {
        let processes = call.guest.processes().await?;
        processes.resize(&which, size).await.map_err(|error| not_found(error, &which))?;
    }
    Ok(Empty {})
}

/// A killed process that writes to a slow disk takes a moment.
const LONGEST_DYING: Duration = Duration::from_secs(2);

async fn send_signal(call: Call, ask: SendSignalRequest) -> Result<Empty, Refusal> {
    let which = selected(ask.process)?;
    let signal = match Signal::try_from(ask.signal) {
        Ok(signal @ (Signal::Kill | Signal::Term)) => signal,
        Ok(Signal::Unspecified) | Err(_) => {
            return Err(Refusal::new(Kind::Unsupported, "only SIGTERM and SIGKILL can be sent"));
        }
    };
    let processes = call.guest.processes().await?;
    // Whoever kills one and looks at once is not to find it still there.
    let joined = if signal == Signal::Kill { processes.join(&which).await.ok() } else { None };
    processes.signal(&which, signal as i32).await.map_err(|error| not_found(error, &which))?;
    if let Some(mut joined) = joined {
        let ended = async { while joined.events.recv().await.is_some() {} };
        let _ = timeout(LONGEST_DYING, ended).await;
    }
    Ok(Empty {})
}

async fn close_stdin(call: Call, ask: CloseStdinRequest) -> Result<Empty, Refusal> {
    let which = selected(ask.process)?;
    let processes = call.guest.processes().await?;
    processes.close_input(&which).await.map_err(|error| not_found(error, &which))?;
    Ok(Empty {})
}

fn selected(process: Option<ProcessSelector>) -> Result<ProcessRef, Refusal> {
    match process.and_then(|process| process.selector) {
        Some(Selector::Pid(pid)) => Ok(ProcessRef::Pid(pid)),
        Some(Selector::Tag(tag)) => Ok(ProcessRef::Tag(tag)),
        None => Err(Refusal::invalid("name the process by its 'pid', a number, or by its 'tag'")),
    }
}

fn not_found(error: BackendError, which: &ProcessRef) -> Refusal {
    match (error, which) {
        (BackendError::NoSuchProcess(_), ProcessRef::Pid(pid)) => {
            Refusal::new(Kind::NotFound, format!("process with pid {pid} not found"))
        }
        (BackendError::NoSuchProcess(_), ProcessRef::Tag(tag)) => {
            let tag: String = tag.chars().take(100).collect();
            Refusal::new(Kind::NotFound, format!("process with tag {tag} not found"))
        }
        (other, _) => other.into(),
    }
}

#[cfg(test)]
mod tests;
