//! Daytona's run without a state: one program, one answer. What it prints and complains comes as one text.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use http::{Method, StatusCode};
use sandgate_core::{CodeError, MimeBundle, SandboxPath};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::place::DaytonaPlace;
use crate::http::{HttpError, of_output};
use crate::under_way::{Source, Stopping};
use crate::{ProviderResult, Run, RunEnd, Running, Said};

/// Pictures come with it.
const LARGEST: usize = 128 << 20;

#[derive(Debug, Serialize)]
struct CodeRun<'a> {
    code: &'a str,
    language: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    envs: BTreeMap<&'a str, &'a str>,
    /// Seconds.
    timeout: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ran {
    exit_code: i64,
    #[serde(default)]
    result: String,
    #[serde(default)]
    artifacts: Option<Artifacts>,
}

#[derive(Debug, Default, Deserialize)]
struct Artifacts {
    #[serde(default)]
    charts: Option<Vec<Chart>>,
}

#[derive(Debug, Deserialize)]
struct Chart {
    #[serde(default)]
    png: Option<String>,
}

impl DaytonaPlace {
    pub(super) fn start_stateless(&self, run: Run, language: &str) -> ProviderResult<Running> {
        let body = CodeRun {
            code: &in_working_folder(&run.code),
            language,
            envs: run.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            timeout: run.timeout.as_secs().max(1),
        };
        let silence = run.timeout.saturating_add(self.control.settings.deadlines.answer);
        let call = self.call(Method::POST, "/process/code-run", &[])?.json(&body)?.silence(silence);
        let (control, id) = (Arc::clone(&self.control), self.id.clone());
        let answer = async move {
            match control.client.demand(call).await {
                Ok(answer) => Ok(said(answer.json(LARGEST).await.map_err(of_output)?)),
                Err(HttpError::Refused { status: StatusCode::REQUEST_TIMEOUT, .. }) => {
                    Ok(vec![Said::Ended(RunEnd::TimedOut)])
                }
                Err(error) => Err(control.lost_or(&id, error, Into::into).await),
            }
        };
        let whole = Whole(Box::pin(answer));
        Ok(self.runs.start(run.context, whole, Stopping::HangsUp, run.timeout, run.output_bytes))
    }
}

/// The protocol has no folder for such a run. On the first line of the code, so that errors name the same lines; by an
/// evaluation of its own, as TypeScript may know no `process`, and the code may have a variable of that name.
fn in_working_folder(code: &str) -> String {
    // What names an interpreter may stand at the very beginning alone.
    let rest = if code.starts_with("#!") { "//" } else { "" };
    format!("globalThis.eval('process.chdir({:?})');{rest}{code}", SandboxPath::WORKING_DIR)
}

/// All of it at once.
struct Whole(std::pin::Pin<Box<dyn Future<Output = ProviderResult<Vec<Said>>> + Send>>);

#[async_trait]
impl Source for Whole {
    async fn next(&mut self) -> ProviderResult<Vec<Said>> {
        self.0.as_mut().await
    }
}

fn said(ran: Ran) -> Vec<Said> {
    let mut said = Vec::new();
    if !ran.result.is_empty() {
        said.push(Said::Stdout(ran.result));
    }
    let charts = ran.artifacts.and_then(|artifacts| artifacts.charts).unwrap_or_default();
    for png in charts.into_iter().filter_map(|chart| chart.png) {
        let png = ("image/png".to_owned(), Value::String(png));
        said.push(Said::Shown(MimeBundle::from_iter([png])));
    }
    if ran.exit_code != 0 {
        let value = format!("the program ended with exit code {}", ran.exit_code);
        said.push(Said::Raised(CodeError { name: "ExitCode".to_owned(), value, traceback: Vec::new() }));
    }
    said.push(Said::Ended(RunEnd::Finished));
    said
}
