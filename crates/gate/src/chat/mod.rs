//! Chat Completions with the code tool. The API has no shape of its own for it, so the answer stays a
//! plain completion, and what ran is told in an extra field of its message.

mod answer;
mod code_calls;
mod gather;
mod message_files;
mod replay;
mod request;
mod run;
mod shown;
mod turn;

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::answer::Answer as Completion;
pub use self::replay::forget_code;
pub use self::request::ChatRequest;
use self::run::ChatRun;
use self::shown::Shown;
use crate::emitter::StreamEvent;
use crate::error::Result;
use crate::gate::{Answer, Caller, EVENTS_AHEAD, Gate};
use crate::sessions::forget_session;
use crate::tool_choice::Form;
use crate::tools::{NAME, ToolRewrite};
use crate::usage::UsageSum;
use crate::workplace::Workplace;

impl Gate {
    /// Answers a Chat Completions request. Dropping the future, or the stream it gave, stops the run.
    pub async fn chat(self: &Arc<Self>, caller: Caller, request: ChatRequest) -> Result<Answer> {
        let (client, events) = if request.stream {
            let (sender, receiver) = mpsc::channel(EVENTS_AHEAD);
            (Some(sender), Some(receiver))
        } else {
            (None, None)
        };
        let cancel = self.stopping.child_token();
        let mut run = self.prepare_chat(caller, request, client, cancel.clone()).await?;
        // The upstream's own refusal of the request keeps its status, so it is asked before we answer.
        let first = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(self.why_cancelled()),
            first = run.first_turn() => first?,
        };
        let headers = first.headers.clone();
        self.deliver(run.go(first), events, cancel, headers).await
    }

    /// Reads everything the request names. Nothing is made and nobody is asked yet.
    async fn prepare_chat(
        self: &Arc<Self>,
        caller: Caller,
        mut request: ChatRequest,
        client: Option<mpsc::Sender<StreamEvent>>,
        cancel: CancellationToken,
    ) -> Result<ChatRun> {
        let config = self.config_for(&request.body);
        let Caller { mut asker, credentials } = caller;
        asker.model = request.body.get("model").and_then(Value::as_str).map(str::to_owned);
        asker.call.asks_for(asker.model.as_deref());
        asker.call.note("stream", request.stream);
        asker.call.begin();
        asker.watch.asks_for(asker.model.as_deref().unwrap_or_default());
        // An empty place stays, so that every turn has its fields in the client's order.
        let messages = request.body.insert("messages".to_owned(), Value::Null);
        let mut messages = if let Some(Value::Array(messages)) = messages { messages } else { Vec::new() };
        let seen = replay::containers(&messages);
        let taken =
            message_files::take(&mut messages, &asker.owner, &self.store, request.code_tool.is_some())
                .await?;
        let rules = self.workplace_rules(&asker.limits, &request.body);
        forget_session(&mut request.body);
        let tool = request.code_tool.as_ref();
        let workplace = Workplace::choose(&rules, &asker.owner, tool, &seen, taken.found).await?;
        let tools = match tool {
            Some(tool) => {
                let files = workplace.input_paths(&self.store).await?;
                let rewrite = ToolRewrite::new(Form::Nested, &request.body, tool, &files);
                Some(rewrite.with_files_elsewhere(taken.is_elsewhere))
            }
            None => None,
        };
        let mut taken: HashSet<String> = replay::call_ids(&messages);
        let name = tools.as_ref().map_or(NAME, |tools| tools.name.as_str());
        let messages = replay::expand(messages, name, &mut taken, &asker.owner, &self.store).await?;
        Ok(ChatRun {
            gate: Arc::clone(self),
            asker,
            credentials,
            answer: Completion::new(client, request.include_usage),
            request,
            messages,
            tools,
            workplace,
            shown: Shown::default(),
            usage: UsageSum::default(),
            rounds: 0,
            taken,
            deadline: Instant::now() + config.total,
            config,
            cancel,
        })
    }
}
