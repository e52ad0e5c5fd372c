//! Daytona's interpreter, which keeps its state: a websocket for each run, and contexts.

use std::collections::BTreeMap;

use async_trait::async_trait;
use http::Method;
use sandgate_core::CodeError;
use serde::{Deserialize, Serialize};

use super::control::LARGEST;
use super::place::DaytonaPlace;
use crate::http::{Heard, HttpError, Socket, of_output, path_segment};
use crate::under_way::{Source, Stopping};
use crate::{ContextWish, ProviderError, ProviderResult, Run, RunEnd, Running, Said};

const EXECUTE: &str = "/process/interpreter/execute";
const CONTEXT: &str = "/process/interpreter/context";
/// Of one piece of output.
const LONGEST_MESSAGE: usize = 64 << 20;
/// How the other side closes: all is said; the time was up; it went away; there is no such context, or we read too
/// slowly.
const DONE: u16 = 1000;
const TIMED_OUT: u16 = 4008;
const GONE: u16 = 1001;
const REFUSED: u16 = 1008;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Execute<'a> {
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_id: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    envs: BTreeMap<&'a str, &'a str>,
    /// Seconds.
    timeout: u64,
}

#[derive(Debug, Serialize)]
struct NewContext<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
}

#[derive(Debug, Deserialize)]
struct Context {
    id: String,
}

#[derive(Debug, Deserialize)]
struct Chunk {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    value: String,
    #[serde(default)]
    traceback: String,
}

impl DaytonaPlace {
    pub(super) async fn start(&self, run: Run) -> ProviderResult<Running> {
        // The interpreter knows Python alone.
        if let Some(language) = run.language.clone().filter(|language| language != "python") {
            return self.start_stateless(run, &language);
        }
        let request = Execute {
            code: &run.code,
            context_id: run.context.as_deref(),
            envs: run.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            // Rounded up: the gate watches the time itself. Zero would mean no limit at all.
            timeout: run.timeout.as_secs() + 1,
        };
        let text = serde_json::to_string(&request).map_err(|error| HttpError::Ours(error.to_string()))?;
        let client = &self.control.client;
        let opened = client.websocket(&self.toolbox, EXECUTE, &self.control.headers, LONGEST_MESSAGE).await;
        let mut socket = self.understood(opened, ProviderError::from).await?;
        socket.send(text).await?;
        let chunks = Chunks { socket, interrupted: false };
        Ok(self.runs.start(run.context, chunks, Stopping::HangsUp, run.timeout, run.output_bytes))
    }

    pub(super) async fn new_context(&self, wish: &ContextWish) -> ProviderResult<String> {
        let body = NewContext { cwd: wish.cwd.as_deref(), language: wish.language.as_deref() };
        let call = self.call(Method::POST, CONTEXT, &[])?.json(&body)?;
        let made: Context = self.demand(call, ProviderError::from).await?.json(LARGEST).await?;
        Ok(made.id)
    }

    pub(super) async fn end_context(&self, id: &str) -> ProviderResult<()> {
        let call = self.call(Method::DELETE, &format!("{CONTEXT}/{}", path_segment(id)), &[])?;
        let refused = |error: HttpError| match error.status() {
            Some(http::StatusCode::NOT_FOUND) => ProviderError::NoSuchContext,
            _ => error.into(),
        };
        self.demand(call, refused).await?.done().await;
        Ok(())
    }
}

#[derive(Debug)]
struct Chunks {
    socket: Socket,
    interrupted: bool,
}

#[async_trait]
impl Source for Chunks {
    async fn next(&mut self) -> ProviderResult<Vec<Said>> {
        let text = match self.socket.next().await.map_err(of_output)? {
            Heard::Text(text) => text,
            Heard::Closed(code, reason) => {
                return self.closed(code, &reason).map(|end| vec![Said::Ended(end)]);
            }
        };
        let garbage = |_| ProviderError::Garbage("a message of the answer is not as it should be".to_owned());
        let chunk: Chunk = serde_json::from_str(&text).map_err(garbage)?;
        Ok(match chunk.kind.as_str() {
            "stdout" => vec![Said::Stdout(chunk.text)],
            "stderr" => vec![Said::Stderr(chunk.text)],
            "error" => {
                let traceback = chunk.traceback.lines().map(ToOwned::to_owned).collect();
                vec![Said::Raised(CodeError { name: chunk.name, value: chunk.value, traceback })]
            }
            "control" => {
                self.interrupted |= chunk.text == "interrupted";
                Vec::new()
            }
            _ => Vec::new(),
        })
    }
}

impl Chunks {
    fn closed(&self, code: Option<u16>, reason: &str) -> ProviderResult<RunEnd> {
        match code {
            Some(DONE) if self.interrupted => Ok(RunEnd::Interrupted),
            Some(DONE) => Ok(RunEnd::Finished),
            Some(TIMED_OUT) => Ok(RunEnd::TimedOut),
            // The context was not there, or its worker had ended before.
            Some(REFUSED) if reason.contains("context") => Err(ProviderError::NoSuchContext),
            Some(REFUSED) => {
                Err(ProviderError::Failed("it says that its output was read too slowly".to_owned()))
            }
            // The worker ended under the code.
            Some(GONE) => Ok(RunEnd::Died("its worker ended".to_owned())),
            Some(other) => Err(ProviderError::Failed(format!("it closed the websocket with code {other}"))),
            None => Err(HttpError::Broken("before the end of the execution".to_owned()).into()),
        }
    }
}
