//! Code by execd: a stream of lines of JSON, whose order is not to be relied on and whose end is the end.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use http::{HeaderValue, Method, header};
use sandgate_core::{CodeError, MimeBundle};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lifecycle::LARGEST;
use super::place::OpenSandboxPlace;
use crate::http::{HttpError, Lines, of_output, path_segment};
use crate::stopped::ending;
use crate::under_way::{Source, Stopping, longest_line};
use crate::{ContextWish, ProviderError, ProviderResult, Run, RunEnd, Running, Said};

const LONGEST_LINE: u64 = 32 << 20;
/// A run that names no language would be taken for a shell command, whatever its context.
const PYTHON: &str = "python";

#[derive(Debug, Serialize)]
struct Code<'a> {
    code: &'a str,
    context: Where<'a>,
}

#[derive(Debug, Serialize)]
struct Where<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    language: &'a str,
}

#[derive(Debug, Serialize)]
struct NewContext<'a> {
    language: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
}

#[derive(Debug, Deserialize)]
struct Context {
    id: String,
}

/// An event, or a refusal that came after the answer had begun: that one has no type.
#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    execution_count: Option<u64>,
    #[serde(default)]
    results: Option<MimeBundle>,
    #[serde(default)]
    error: Option<Failure>,
    #[serde(default)]
    code: Option<Value>,
    #[serde(default)]
    message: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Failure {
    #[serde(default)]
    ename: String,
    #[serde(default)]
    evalue: String,
    #[serde(default)]
    traceback: Option<Vec<String>>,
}

impl OpenSandboxPlace {
    pub(super) async fn start(&self, run: Run) -> ProviderResult<Running> {
        if !run.env.is_empty() {
            return Err(ProviderError::Unsupported("giving variables to one run"));
        }
        let language = run.language.as_deref().unwrap_or(PYTHON);
        let context = Where { id: run.context.as_deref(), language };
        let call = self.call(Method::POST, "/code", &[])?.json(&Code { code: &run.code, context })?;
        let call = call.plain(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        // Starting an interpreter may take longer than any answer; old servers say nothing meanwhile.
        let call = call.silence(run.timeout.saturating_add(self.control.settings.deadlines.create));
        let answer = self.demand(call).await.map_err(|error| match error {
            ProviderError::Failed(text) if text.contains("context") && text.contains("not found") => {
                ProviderError::NoSuchContext
            }
            error => error,
        })?;
        let is_default = run.context.is_none() && run.language.as_deref().is_none_or(|name| name == PYTHON);
        let default_context = is_default.then(|| Arc::clone(&self.default_context));
        let events = Events {
            lines: answer.lines(longest_line(run.output_bytes, LONGEST_LINE)),
            default_context,
            counted: false,
            unclear: None,
            ended: None,
        };
        Ok(self.runs.start(run.context, events, Stopping::GoesOn, run.timeout, run.output_bytes))
    }

    pub(super) async fn stop(&self, context: Option<&str>) -> ProviderResult<()> {
        let known = self.default_context.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(id) = context.map(ToOwned::to_owned).or(known) else {
            return Err(ProviderError::NoSuchContext);
        };
        if !self.runs.stop(context) {
            return Ok(());
        }
        self.demand(self.call(Method::DELETE, "/code", &[("id", &id)])?).await?.done().await;
        Ok(())
    }

    pub(super) async fn new_context(&self, wish: &ContextWish) -> ProviderResult<String> {
        let language = wish.language.as_deref().unwrap_or(PYTHON);
        let body = NewContext { language, cwd: wish.cwd.as_deref() };
        let call = self.call(Method::POST, "/code/context", &[])?.json(&body)?;
        let call = call.silence(self.control.settings.deadlines.create);
        let made: Context = self.demand(call).await?.json(LARGEST).await?;
        Ok(made.id)
    }

    pub(super) async fn end_context(&self, id: &str) -> ProviderResult<()> {
        let path = format!("/code/contexts/{}", path_segment(id));
        self.demand(self.call(Method::DELETE, &path, &[])?).await?.done().await;
        Ok(())
    }
}

#[derive(Debug)]
struct Events {
    lines: Lines,
    default_context: Option<Arc<Mutex<Option<String>>>>,
    /// The number of the run comes before its value; what comes before that was displayed, unless nothing else is
    /// the value.
    counted: bool,
    /// What may be a value or a display.
    unclear: Option<MimeBundle>,
    ended: Option<RunEnd>,
}

#[async_trait]
impl Source for Events {
    async fn next(&mut self) -> ProviderResult<Vec<Said>> {
        let Some(line) = self.lines.next().await.map_err(of_output)? else {
            let end = self.ended.take();
            let end = end.ok_or_else(|| HttpError::Broken("before the end of the execution".to_owned()))?;
            // Its number came first, or too late, or not at all: then this is the value.
            let value = self.unclear.take().map(Said::Value);
            return Ok(value.into_iter().chain([Said::Ended(end)]).collect());
        };
        // With the `data:` of real server-sent events, or without.
        let text = line.strip_prefix(b"data:").unwrap_or(&line);
        if text.starts_with(b":") || text.starts_with(b"event:") {
            return Ok(Vec::new());
        }
        let garbage = |_| ProviderError::Garbage("a line of the answer is not as it should be".to_owned());
        let line: Line = serde_json::from_slice(text).map_err(garbage)?;
        self.said(line)
    }
}

impl Events {
    /// What more is said after was displayed: a value is the last.
    fn after_displays(&mut self, said: Said) -> Vec<Said> {
        self.unclear.take().map(Said::Shown).into_iter().chain([said]).collect()
    }

    fn said(&mut self, line: Line) -> ProviderResult<Vec<Said>> {
        let text = line.text.unwrap_or_default();
        Ok(match line.kind.as_deref() {
            None => {
                if line.code.is_none() {
                    return Err(ProviderError::Garbage("a line of the answer has no type".to_owned()));
                }
                let message = line.message.unwrap_or_default();
                return Err(ProviderError::Failed(self.lines.presentable(&message)));
            }
            Some("init") => {
                if let Some(known) = self.default_context.take().filter(|_| !text.is_empty()) {
                    *known.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
                }
                Vec::new()
            }
            Some("stdout") => self.after_displays(Said::Stdout(text)),
            Some("stderr") => self.after_displays(Said::Stderr(text)),
            Some("execution_count") => {
                self.counted = true;
                line.execution_count.map(Said::Count).into_iter().collect()
            }
            Some("result") => {
                let data = renamed(line.results.unwrap_or_default());
                let before = match self.counted {
                    true => self.unclear.take(),
                    false => self.unclear.replace(data.clone()),
                };
                let value = self.counted.then_some(Said::Value(data));
                before.map(Said::Shown).into_iter().chain(value).collect()
            }
            Some("error") => {
                let failure =
                    line.error.ok_or_else(|| ProviderError::Garbage("an error without one".to_owned()))?;
                let (name, value) = (failure.ename, failure.evalue);
                let error = CodeError { name, value, traceback: failure.traceback.unwrap_or_default() };
                match ending(&error) {
                    Some(end) => {
                        self.ended = Some(end);
                        Vec::new()
                    }
                    None => {
                        self.ended.get_or_insert(RunEnd::Finished);
                        vec![Said::Raised(error)]
                    }
                }
            }
            Some("execution_complete") => {
                self.ended.get_or_insert(RunEnd::Finished);
                Vec::new()
            }
            Some(_) => Vec::new(),
        })
    }
}

/// Plain text goes by a name of its own there.
fn renamed(mut data: MimeBundle) -> MimeBundle {
    if let Some(text) = data.shift_remove("text") {
        data.entry("text/plain").or_insert(text);
    }
    data
}
