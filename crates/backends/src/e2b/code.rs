//! E2B's code interpreter: code in, lines of JSON out.

use async_trait::async_trait;
use http::Method;
use sandgate_core::{CodeError, MimeBundle};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::place::{CODE_PORT, E2bPlace};
use crate::http::{HttpError, Lines, of_output, path_segment};
use crate::stopped::ending;
use crate::under_way::{Source, Stopping, longest_line};
use crate::{ContextWish, ProviderError, ProviderResult, Run, RunEnd, Running, Said};

/// Of one line: a picture is one.
const LONGEST_LINE: u64 = 32 << 20;
const LARGEST: usize = 1 << 20;

/// E2B's names for forms of a value.
const FORMS: [(&str, &str); 12] = [
    ("text", "text/plain"),
    ("html", "text/html"),
    ("markdown", "text/markdown"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpeg", "image/jpeg"),
    ("pdf", "application/pdf"),
    ("latex", "text/latex"),
    ("json", "application/json"),
    ("javascript", "application/javascript"),
    ("data", "e2b/data"),
    ("chart", "e2b/chart"),
];

#[derive(Debug, Serialize)]
struct Execute<'a> {
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    env_vars: Option<serde_json::Map<String, Value>>,
}

#[derive(Debug, Serialize)]
struct NewContext<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<&'a str>,
}

#[derive(Debug, Deserialize)]
struct Context {
    id: String,
    #[serde(default)]
    language: String,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item {
    NumberOfExecutions {
        execution_count: u64,
    },
    Stdout {
        text: String,
    },
    Stderr {
        text: String,
    },
    Result {
        #[serde(default)]
        is_main_result: bool,
        #[serde(flatten)]
        forms: serde_json::Map<String, Value>,
    },
    Error {
        name: String,
        #[serde(default)]
        value: String,
        #[serde(default)]
        traceback: String,
    },
    EndOfExecution,
    /// Whatever else there will be.
    #[serde(other)]
    Other,
}

impl E2bPlace {
    pub(super) async fn start(&self, run: Run) -> ProviderResult<Running> {
        let variables = run.env.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
        let env_vars: Option<serde_json::Map<String, Value>> =
            Some(variables).filter(|map: &serde_json::Map<_, _>| !map.is_empty());
        let language = run.language.as_deref().filter(|_| run.context.is_none());
        let body = Execute { code: &run.code, context_id: run.context.as_deref(), language, env_vars };
        let call = self.call(CODE_PORT, Method::POST, "/execute", &[])?.json(&body)?;
        // Old servers say nothing while code computes.
        let call = call.silence(run.timeout.saturating_add(self.patience()));
        let answer = self.answer(call).await?;
        let items = Items { lines: answer.lines(longest_line(run.output_bytes, LONGEST_LINE)), end: None };
        Ok(self.runs.start(run.context, items, Stopping::HangsUp, run.timeout, run.output_bytes))
    }

    pub(super) async fn new_context(&self, wish: &ContextWish) -> ProviderResult<String> {
        let body = NewContext { language: wish.language.as_deref(), cwd: wish.cwd.as_deref() };
        let call = self.call(CODE_PORT, Method::POST, "/contexts", &[])?.json(&body)?;
        let made: Context = self.answer(call).await?.json(LARGEST).await?;
        Ok(made.id)
    }

    /// The first of those that are listed, before any was made here.
    pub(super) async fn python_context(&self) -> ProviderResult<Option<String>> {
        let call = self.call(CODE_PORT, Method::GET, "/contexts", &[])?;
        let listed: Vec<Context> = self.answer(call).await?.json(LARGEST).await?;
        Ok(listed.into_iter().find(|context| context.language == "python").map(|context| context.id))
    }

    pub(super) async fn end_context(&self, id: &str) -> ProviderResult<()> {
        let path = format!("/contexts/{}", path_segment(id));
        self.answer(self.call(CODE_PORT, Method::DELETE, &path, &[])?).await?.done().await;
        Ok(())
    }
}

#[derive(Debug)]
struct Items {
    lines: Lines,
    /// What ended the code, where an error said so.
    end: Option<RunEnd>,
}

#[async_trait]
impl Source for Items {
    async fn next(&mut self) -> ProviderResult<Vec<Said>> {
        let Some(line) = self.lines.next().await.map_err(of_output)? else {
            return Err(HttpError::Broken("before the end of the execution".to_owned()).into());
        };
        let item = serde_json::from_slice(&line);
        let item = item
            .map_err(|_| ProviderError::Garbage("a line of the answer is not as it should be".to_owned()))?;
        Ok(match item {
            Item::NumberOfExecutions { execution_count } => vec![Said::Count(execution_count)],
            Item::Stdout { text } => vec![Said::Stdout(text)],
            Item::Stderr { text } => vec![Said::Stderr(text)],
            Item::Result { is_main_result, forms } => {
                let data = bundle(forms);
                vec![if is_main_result { Said::Value(data) } else { Said::Shown(data) }]
            }
            Item::Error { name, value, traceback } => {
                let traceback = traceback.lines().map(ToOwned::to_owned).collect();
                let error = CodeError { name, value, traceback };
                match ending(&error) {
                    Some(end) => {
                        self.end = Some(end);
                        Vec::new()
                    }
                    None => vec![Said::Raised(error)],
                }
            }
            Item::EndOfExecution => vec![Said::Ended(self.end.take().unwrap_or(RunEnd::Finished))],
            Item::Other => Vec::new(),
        })
    }
}

fn bundle(mut forms: serde_json::Map<String, Value>) -> MimeBundle {
    let mut data = MimeBundle::new();
    for (name, mime) in FORMS {
        if let Some(value) = forms.remove(name).filter(|value| !value.is_null()) {
            data.insert(mime.to_owned(), value);
        }
    }
    if let Some(Value::Object(extra)) = forms.remove("extra") {
        data.extend(extra);
    }
    data
}
