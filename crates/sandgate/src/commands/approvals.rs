//! `sandgate approvals`: what waits for a person at a running server, shown and decided.

use std::fmt::Write as _;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use sandgate_core::now_seconds;
use sandgate_gate::upstream::{Connection, ConnectionConfig, UpstreamError, body_of};
use serde_json::{Value, json};

use crate::approvals_args::{ApprovalsArgs, ApprovalsCommand};
use crate::bad_input::BadInput;
use crate::config::SecretText;
use crate::session::runtime;
use crate::visible::visible;

const PATH: &str = "/v1/admin/approvals";
/// What one request waits for something to decide, in seconds.
const WAIT: u64 = 30;
/// Room for as much code as a server holds.
const LONGEST_ANSWER: usize = 1 << 30;

pub(crate) fn approvals(args: &ApprovalsArgs) -> Result<ExitCode> {
    let text = runtime()?.block_on(Box::pin(done(args)))?;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

async fn done(args: &ApprovalsArgs) -> Result<String> {
    let server = Server::new(args)?;
    match &args.command {
        ApprovalsCommand::List { wait } => {
            let listed = server.list(*wait).await?;
            let data = listed["data"].as_array().map(Vec::as_slice).unwrap_or_default();
            Ok(if args.json { format!("{:#}\n", json!(data)) } else { shown(data) })
        }
        ApprovalsCommand::Approve { id, reason } => {
            server.decide(args, id, "approve", reason.as_deref()).await
        }
        ApprovalsCommand::Deny { id, reason } => server.decide(args, id, "deny", reason.as_deref()).await,
    }
}

struct Server {
    connection: Connection,
    url: String,
}

impl Server {
    /// The connection is one to upstreams, and speaks of them.
    fn silent(&self, error: UpstreamError) -> anyhow::Error {
        let url = &self.url;
        match error {
            UpstreamError::Unreachable(why) => anyhow!("the server at {url} cannot be reached: {why}"),
            UpstreamError::TimedOut { seconds } => {
                anyhow!("the server at {url} sent nothing for {seconds} s")
            }
            UpstreamError::Broken(why) => anyhow!("the answer of the server at {url} is broken: {why}"),
            UpstreamError::Status { status, .. } => anyhow!("the server at {url} answered {status}"),
            UpstreamError::Unsupported(why) => anyhow!("the server at {url} cannot be asked that: {why}"),
        }
    }

    fn new(args: &ApprovalsArgs) -> Result<Self> {
        let key = SecretText::new(args.key.as_str()).find();
        let key = key.map_err(|problem| BadInput::error(format!("the master key: {problem}")))?;
        let url = args.server.trim_end_matches('/').to_owned();
        let mut config = ConnectionConfig::new(format!("{}/v1", url.trim_end_matches("/v1")));
        config.key = Some(key.expose().to_owned());
        config.read_timeout = Duration::from_secs(2 * WAIT);
        let connection =
            Connection::new(config).map_err(|error| BadInput::error(format!("'{url}': {error}")))?;
        Ok(Self { connection, url })
    }

    async fn list(&self, wait: bool) -> Result<Value> {
        loop {
            let path = if wait { format!("{PATH}?wait={WAIT}") } else { PATH.to_owned() };
            let listed = self.send(Method::GET, &path, None).await?;
            if !wait || listed["data"].as_array().is_some_and(|data| !data.is_empty()) {
                return Ok(listed);
            }
        }
    }

    async fn decide(
        &self,
        args: &ApprovalsArgs,
        id: &str,
        decision: &str,
        reason: Option<&str>,
    ) -> Result<String> {
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(BadInput::error(format!("'{id}' is no id of an approval")));
        }
        let body = json!({"decision": decision, "reason": reason});
        let said = self.send(Method::POST, &format!("{PATH}/{id}"), Some(&body)).await?;
        let word = if decision == "approve" { "approved" } else { "denied" };
        Ok(if args.json { format!("{said:#}\n") } else { format!("{id} is {word}\n") })
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let request =
            Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, "application/json");
        let request = request.body(body_of(body.map(Value::to_string).unwrap_or_default()))?;
        let answer = self.connection.forward(request).await;
        let answer = answer.map_err(|error| self.silent(error))?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), LONGEST_ANSWER).collect().await;
        let body = body.map_err(|error| anyhow!("the answer of {} broke off: {error}", self.url))?;
        let body: Value = serde_json::from_slice(&body.to_bytes())
            .with_context(|| format!("{} is no server of ours: status {status}", self.url))?;
        match (status, body["error"]["message"].as_str()) {
            (status, _) if status.is_success() => Ok(body),
            (StatusCode::NOT_FOUND | StatusCode::CONFLICT, Some(message)) => Err(BadInput::error(message)),
            (_, Some(message)) => bail!("{message}"),
            _ => bail!("{} answered {status}", self.url),
        }
    }
}

fn shown(data: &[Value]) -> String {
    if data.is_empty() {
        return "nothing waits for a decision\n".to_owned();
    }
    let mut text = String::new();
    for held in data {
        let field = |value: &Value| visible(value.as_str().unwrap_or("-"));
        let age = now_seconds().saturating_sub(held["created_at"].as_u64().unwrap_or_default());
        let left = held["expires_at"].as_u64().unwrap_or_default().saturating_sub(now_seconds());
        let _ = writeln!(text, "{}  asked {age} s ago, {left} s left", field(&held["id"]));
        let _ = writeln!(
            text,
            "  key {} of {}, model {}, container {}, by {}",
            field(&held["key"]["name"]),
            field(&held["key"]["owner"]),
            field(&held["model"]),
            field(&held["container"]["id"]),
            field(&held["door"])
        );
        let why = held["asked_by"]["rule"]
            .as_str()
            .map_or_else(|| field(&held["asked_by"]["by"]), |rule| format!("rule '{}'", visible(rule)));
        let reason = held["asked_reason"].as_str().map(|reason| format!(": {}", visible(reason)));
        let _ = writeln!(text, "  {why}{}", reason.unwrap_or_default());
        let imports = held["imports"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let imports: Vec<String> = imports.map(visible).collect();
        let _ = writeln!(text, "  {} imports: {}", field(&held["language"]), imports.join(", "));
        for line in held["code"].as_str().unwrap_or_default().split('\n') {
            let _ = writeln!(text, "  | {}", visible(line));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
#[path = "approvals_tests.rs"]
mod tests;
