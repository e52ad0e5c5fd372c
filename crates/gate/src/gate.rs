//! The gate: takes a request, finds everything it speaks of, and starts its run.

use std::sync::Arc;

use http::HeaderMap;
use sandgate_core::{BackendError, Containers, KeyLimits, Owner, SandboxSpec};
use sandgate_store::{Store, if_there};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::backgrounds::Backgrounds;
use crate::config::GateConfig;
use crate::container_files::ContainerFiles;
use crate::emitter::{Emitter, Sink, StreamEvent};
use crate::error::{GateError, Result};
use crate::executions::{Asker, Executions};
use crate::history::History;
use crate::ids::ResponseIds;
use crate::input_files::parts_of;
use crate::live::Live;
use crate::request::CreateRequest;
use crate::response_object::ResponseObject;
use crate::run::Run;
use crate::sessions::{SessionLocks, forget_session, session_in};
use crate::tool_choice::Form;
use crate::tools::ToolRewrite;
use crate::upstream::{Credentials, Upstream};
use crate::usage::UsageSum;
use crate::workplace::{Workplace, WorkplaceRules};

/// Events that wait for a client that reads slowly; then the model waits too.
pub(crate) const EVENTS_AHEAD: usize = 256;

#[derive(Debug)]
pub struct Gate {
    pub(crate) upstream: Arc<dyn Upstream>,
    pub(crate) containers: Arc<Containers>,
    pub(crate) executions: Executions,
    pub(crate) store: Store,
    pub(crate) files: ContainerFiles,
    pub(crate) spec: SandboxSpec,
    config: Live<GateConfig>,
    /// Runs go on here when their client leaves, until they have cleaned up.
    pub(crate) tasks: TaskTracker,
    pub(crate) backgrounds: Backgrounds,
    session_locks: SessionLocks,
    /// Cancelled when the server waits no longer: every run ends.
    pub(crate) stopping: CancellationToken,
}

/// What a gate is made of.
#[derive(Debug)]
pub struct GateParts {
    pub upstream: Arc<dyn Upstream>,
    pub containers: Arc<Containers>,
    pub executions: Executions,
    pub store: Store,
    /// What a container made for a request may use.
    pub spec: SandboxSpec,
    pub config: GateConfig,
    pub tasks: TaskTracker,
}

/// Who asks, and with what the upstream is asked.
#[derive(Clone, Debug)]
pub struct Caller {
    pub asker: Asker,
    pub credentials: Credentials,
}

/// The answer to a create request.
#[derive(Debug)]
pub enum Answer {
    Whole { response: Value, headers: HeaderMap },
    Stream { events: EventStream, headers: HeaderMap },
}

/// Events for a client; dropping it stops the run.
#[derive(Debug)]
pub struct EventStream {
    pub events: mpsc::Receiver<StreamEvent>,
    pub(crate) _stop: Option<DropGuard>,
}

impl Gate {
    #[must_use]
    pub fn new(parts: GateParts) -> Self {
        let GateParts { upstream, containers, executions, store, spec, config, tasks } = parts;
        let config = Live::new(config);
        let files = ContainerFiles::new(store.clone());
        Self {
            upstream,
            containers,
            executions,
            store,
            files,
            spec,
            config,
            tasks,
            backgrounds: Backgrounds::default(),
            session_locks: SessionLocks::default(),
            stopping: CancellationToken::new(),
        }
    }

    /// Ends every run: the server waits no longer.
    pub fn end_all_runs(&self) {
        self.stopping.cancel();
    }

    /// Cancelled by that.
    #[must_use]
    pub fn cut(&self) -> CancellationToken {
        self.stopping.clone()
    }

    /// A run was told to end: by the server's own end, or by whoever asked for it.
    pub(crate) fn why_cancelled(&self) -> GateError {
        if self.stopping.is_cancelled() { GateError::Stopping } else { GateError::Cancelled }
    }

    #[must_use]
    pub fn upstream(&self) -> &Arc<dyn Upstream> {
        &self.upstream
    }

    /// The limits as they are now.
    pub(crate) fn config(&self) -> Arc<GateConfig> {
        self.config.get()
    }

    /// The limits of one request, which stay what they are while it runs.
    pub(crate) fn config_for(&self, body: &Map<String, Value>) -> Arc<GateConfig> {
        let usual = self.config.get();
        match self.upstream.rounds(body.get("model").and_then(Value::as_str)) {
            Some(rounds) => Arc::new(GateConfig { rounds, ..(*usual).clone() }),
            None => usual,
        }
    }

    /// Exchanges the limits; requests under way keep theirs.
    pub fn reconfigure(&self, config: GateConfig) {
        self.config.replace(config);
    }

    /// Answers a create request. Dropping the future, or the stream it gave, stops the run.
    pub async fn create(self: &Arc<Self>, caller: Caller, request: CreateRequest) -> Result<Answer> {
        if request.background {
            return self.create_in_background(caller, request).await;
        }
        let (sink, events) = if request.stream {
            let (sender, receiver) = mpsc::channel(EVENTS_AHEAD);
            (Sink::Client(sender), Some(receiver))
        } else {
            (Sink::Nowhere, None)
        };
        let cancel = self.stopping.child_token();
        let mut run = self.prepare(caller, request, ResponseIds::new(), sink, cancel.clone()).await?;
        // The upstream's own refusal of the request keeps its status, so it is asked before we answer.
        let first = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(self.why_cancelled()),
            first = run.first_turn() => first?,
        };
        let headers = first.headers.clone();
        self.deliver(run.go(Some(first)), events, cancel, headers).await
    }

    /// Starts a run whose client is there: as a task of its own, which ends early when the client leaves.
    pub(crate) async fn deliver(
        &self,
        run: impl Future<Output = Result<Value>> + Send + 'static,
        events: Option<mpsc::Receiver<StreamEvent>>,
        cancel: CancellationToken,
        headers: HeaderMap,
    ) -> Result<Answer> {
        let stop = cancel.drop_guard();
        match events {
            Some(events) => {
                self.tasks.spawn(run);
                Ok(Answer::Stream { events: EventStream { events, _stop: Some(stop) }, headers })
            }
            None => {
                let (sender, receiver) = oneshot::channel();
                self.tasks.spawn(async move {
                    let _ = sender.send(run.await);
                });
                let lost = |_| BackendError::Engine("a run ended without an answer".to_owned());
                let response = receiver.await.map_err(lost)??;
                // It is over: nothing is left to stop.
                drop(stop);
                Ok(Answer::Whole { response, headers })
            }
        }
    }

    /// Reads everything the request names. Nothing is made and nobody is asked yet.
    pub(crate) async fn prepare(
        self: &Arc<Self>,
        caller: Caller,
        mut request: CreateRequest,
        ids: ResponseIds,
        sink: Sink,
        cancel: CancellationToken,
    ) -> Result<Run> {
        let Caller { mut asker, credentials } = caller;
        let model = request.body.get("model").and_then(Value::as_str);
        asker.model = model.map(str::to_owned);
        asker.call.asks_for(model);
        asker.call.note("stream", request.stream);
        asker.call.note("background", request.background);
        asker.call.note("response_id", ids.response());
        asker.call.begin();
        asker.watch.asks_for(model.unwrap_or_default());
        let remembers = self.upstream.forwards_for("/v1/responses", model);
        let config = self.config_for(&request.body);
        let history = History::gather(&self.store, &asker.owner, &request, remembers).await?;
        request.body.shift_remove("input");
        let rules = self.workplace_rules(&asker.limits, &request.body);
        forget_session(&mut request.body);
        let tool = request.code_tool.as_ref();
        let workplace =
            Workplace::choose(&rules, &asker.owner, tool, &history.containers, history.files).await?;
        let tools = match &request.code_tool {
            Some(tool) => {
                let files = workplace.input_paths(&self.store).await?;
                let rewrite = ToolRewrite::new(Form::Flat, &request.body, tool, &files);
                Some(rewrite.with_files_elsewhere(history.files_elsewhere))
            }
            None => None,
        };
        Ok(Run {
            gate: Arc::clone(self),
            asker,
            credentials,
            emitter: Emitter::new(sink, request.obfuscation),
            object: ResponseObject::new(ids.response(), &request),
            request,
            ids,
            inputs: history.inputs,
            model_input: history.model,
            upstream_previous: history.upstream_previous,
            tools,
            code_names: history.code_names,
            workplace,
            output: Vec::new(),
            usage: UsageSum::default(),
            calls: 0,
            rounds: 0,
            figures: Vec::new(),
            seen_ids: history.ids,
            is_started: false,
            is_settled: false,
            deadline: Instant::now() + config.total,
            config,
            cancel,
        })
    }

    pub(crate) fn workplace_rules(
        &self,
        limits: &Arc<KeyLimits>,
        body: &Map<String, Value>,
    ) -> WorkplaceRules {
        let mut spec = self.spec.clone();
        // What the key says, or the request, goes before what the model has.
        if limits.backend.is_none() {
            spec.backend = self.upstream.backend(body.get("model").and_then(Value::as_str));
        }
        WorkplaceRules {
            containers: Arc::clone(&self.containers),
            store: self.store.clone(),
            files: self.files.clone(),
            spec,
            max_memory: self.config().max_memory,
            allowance: Arc::clone(limits),
            strict: self.config().strict,
            session: session_in(body),
            session_locks: self.session_locks.clone(),
            tasks: self.tasks.clone(),
        }
    }

    /// Whether a response of this id is in our store.
    pub async fn has_response(&self, owner: &Owner, id: &str) -> Result<bool> {
        Ok(if_there(self.store.response(owner, id).await)?.is_some())
    }

    /// Whether an item of the request holds a file of our files API.
    pub async fn has_files_in(&self, owner: &Owner, body: &Map<String, Value>) -> Result<bool> {
        for id in file_ids(body) {
            if if_there(self.store.file(owner, id).await)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The files that items of a request name.
fn file_ids(body: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let items = body.get("input").and_then(Value::as_array).into_iter().flatten();
    items.flat_map(parts_of).filter_map(|part| part.get("file_id").and_then(Value::as_str))
}
