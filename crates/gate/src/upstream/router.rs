//! Several upstreams behind one: each request goes where its model's name says, under the name that
//! upstream knows. The whole table can be exchanged while requests are under way.

use std::sync::Arc;

use ::http::{Request, Response, StatusCode, header};
use async_trait::async_trait;
use http_body_util::BodyExt;
use serde_json::{Map, Value, json};

use super::answer::AnswerBody;
use super::http::{RequestBody, body_of};
use super::model_name::{Peeked, model_in, peek, replaced};
use super::refusal::{no_keeper, no_model, no_such_model, refused};
use super::renamed_answer::{Renamer, can_be_renamed};
use super::renaming::{Form, ask, ask_as};
use super::retry::with_retries;
use super::routes::{Keeper, RouteShown, Routes};
use super::{CameFrom, Credentials, KeptBy, Turn, TurnRequest, Upstream, UpstreamError};
use crate::live::Live;

#[derive(Debug)]
pub struct Router {
    routes: Live<Routes>,
}

impl Router {
    #[must_use]
    pub fn new(routes: impl Into<Arc<Routes>>) -> Self {
        Self { routes: Live::new(routes) }
    }

    /// From the next request, or the next turn of one under way.
    pub fn replace(&self, routes: impl Into<Arc<Routes>>) {
        self.routes.replace(routes);
    }

    /// The names by which models can be asked for, but for patterns.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.routes.get().names().map(str::to_owned).collect()
    }

    /// Every name, and who is behind it.
    #[must_use]
    pub fn overview(&self) -> Vec<RouteShown> {
        self.routes.get().overview()
    }

    async fn take_turn(&self, form: Form, request: TurnRequest) -> Result<Turn, UpstreamError> {
        let routes = self.routes.get();
        let model = model_of(&request.body);
        let Some(model) = model.map(ToOwned::to_owned) else {
            let upstream = routes.default().ok_or_else(no_model)?;
            return ask(upstream, form, request).await;
        };
        with_retries(request.retries, || async {
            let choices = routes.choices(&model).ok_or_else(|| no_such_model(&model))?;
            let last = choices.len().saturating_sub(1);
            for (number, choice) in choices.iter().enumerate() {
                let outcome = ask_as(choice, form, request.clone(), &model).await;
                match outcome {
                    Err(error) if rests_after(&error) => {
                        routes.let_rest(choice);
                        // Nothing was asked yet, so the next one may be.
                        if !(matches!(error, UpstreamError::Unreachable(_)) && number < last) {
                            return Err(error);
                        }
                    }
                    outcome => return outcome,
                }
            }
            Err(no_such_model(&model))
        })
        .await
    }
}

#[async_trait]
impl Upstream for Router {
    async fn turn(&self, request: TurnRequest) -> Result<Turn, UpstreamError> {
        self.take_turn(Form::Responses, request).await
    }

    async fn chat_turn(&self, request: TurnRequest) -> Result<Turn, UpstreamError> {
        self.take_turn(Form::Chat, request).await
    }

    fn forwards(&self, path: &str) -> bool {
        self.routes.get().any(|upstream| upstream.forwards(path))
    }

    fn forwards_for(&self, path: &str, model: Option<&str>) -> bool {
        let routes = self.routes.get();
        match model {
            // An unknown name is refused with the same words either way; here it costs less.
            Some(model) => !routes.knows(model) || routes.all(model, |up| up.forwards(path)),
            None => routes.default().map_or_else(|| self.forwards(path), |up| up.forwards(path)),
        }
    }

    fn forwards_body(&self, path: &str, body: &[u8]) -> bool {
        let routes = self.routes.get();
        match routes.default().filter(|_| routes.is_lone()) {
            Some(lone) => lone.forwards(path),
            None => self.forwards_for(path, model_in(body).as_deref()),
        }
    }

    fn is_several(&self) -> bool {
        !self.routes.get().is_lone()
    }

    fn rounds(&self, model: Option<&str>) -> Option<u32> {
        self.routes.get().rounds(model?)
    }

    fn backend(&self, model: Option<&str>) -> Option<String> {
        self.routes.get().backend(model?)
    }

    async fn forward(&self, request: Request<RequestBody>) -> Result<Response<AnswerBody>, UpstreamError> {
        let routes = self.routes.get();
        if let Some(lone) = routes.default().filter(|_| routes.is_lone()) {
            return lone.forward(request).await.map(|answer| from(answer, lone.name()));
        }
        let kept_by = request.extensions().get::<KeptBy>().cloned();
        let (head, body) = request.into_parts();
        let collected = body.collect().await;
        let body = collected
            .map_err(|error| UpstreamError::Broken(format!("the request's body ended early ({error})")))?
            .to_bytes();
        let found = match peek(&head.headers, &body) {
            Peeked::Found(found) => found,
            Peeked::Absent => {
                let request = || Request::from_parts(head.clone(), body_of(body.clone()));
                if let Some(kept_by) = kept_by {
                    return ask_keeper(&routes, &kept_by, request).await;
                }
                let upstream = routes.default().ok_or_else(no_model)?;
                return upstream.forward(request()).await.map(|answer| from(answer, upstream.name()));
            }
            Peeked::Unclear => {
                let message = "The name of the model cannot be read from the body.";
                return Err(refused(StatusCode::BAD_REQUEST, message, Some("model"), None));
            }
        };
        let mut choices = routes.choices(&found.name).ok_or_else(|| no_such_model(&found.name))?;
        if let Some(keeper) = kept_by.and_then(|kept_by| kept_by.upstream) {
            choices.sort_by_key(|choice| choice.upstream.name() != keeper);
        }
        let mut outcome = Err(no_such_model(&found.name));
        for choice in &choices {
            let body = choice.model.as_deref().map_or_else(|| body.clone(), |to| replaced(&body, &found, to));
            outcome = choice.upstream.forward(Request::from_parts(head.clone(), body_of(body))).await;
            match &outcome {
                Err(error) if rests_after(error) => routes.let_rest(choice),
                Ok(answer) if is_down(answer.status()) => routes.let_rest(choice),
                _ => {}
            }
            if !matches!(outcome, Err(UpstreamError::Unreachable(_))) {
                return outcome.map(|answer| {
                    let answer = from(answer, choice.upstream.name());
                    named_back(answer, choice.model.as_deref(), &found.name)
                });
            }
        }
        outcome
    }

    async fn models(&self, credentials: &Credentials) -> Result<Value, UpstreamError> {
        let routes = self.routes.get();
        if let Some(lone) = routes.default().filter(|_| routes.is_lone()) {
            return lone.models(credentials).await;
        }
        let own = |name| json!({"id": name, "object": "model", "created": 0, "owned_by": "sandgate"});
        let mut list: Vec<Value> = routes.names().map(own).collect();
        for upstream in routes.open_ended() {
            match upstream.models(credentials).await {
                Ok(theirs) => {
                    let theirs = theirs["data"].as_array().into_iter().flatten();
                    let new: Vec<Value> = theirs
                        .filter(|model| !list.iter().any(|m| m["id"] == model["id"]))
                        .cloned()
                        .collect();
                    list.extend(new);
                }
                // Those that are configured by name can be used all the same.
                Err(error) => tracing::warn!(%error, "the models of an upstream could not be listed"),
            }
        }
        Ok(json!({"object": "list", "data": list}))
    }
}

/// Asks who has what a request is about. Accounts at the same address have the same name, so who has not heard of
/// it is no reason to give up.
async fn ask_keeper(
    routes: &Routes,
    kept_by: &KeptBy,
    request: impl Fn() -> Request<RequestBody>,
) -> Result<Response<AnswerBody>, UpstreamError> {
    let mut outcome = Err(no_keeper());
    for Keeper { upstream, model } in routes.keepers(kept_by) {
        outcome = upstream.forward(request()).await.map(|answer| {
            let answer = from(answer, upstream.name());
            named_back(answer, model.as_deref(), kept_by.model.as_deref().unwrap_or_default())
        });
        match &outcome {
            Ok(answer) if answer.status() == StatusCode::NOT_FOUND => {}
            Err(UpstreamError::Unreachable(_)) => {}
            _ => break,
        }
    }
    outcome
}

fn from(mut answer: Response<AnswerBody>, upstream: &str) -> Response<AnswerBody> {
    answer.extensions_mut().insert(CameFrom(upstream.to_owned()));
    answer
}

/// The answer under the client's name for the model, where the upstream has another.
fn named_back(mut answer: Response<AnswerBody>, sent: Option<&str>, model: &str) -> Response<AnswerBody> {
    if let Some(sent) = sent.filter(|_| can_be_renamed(answer.headers())) {
        answer.headers_mut().remove(header::CONTENT_LENGTH);
        answer.body_mut().rename(Renamer::new(sent, model));
    }
    answer
}

fn model_of(body: &Map<String, Value>) -> Option<&str> {
    body.get("model").and_then(Value::as_str)
}

/// Whether the upstream, not the request, is to blame.
fn rests_after(error: &UpstreamError) -> bool {
    match error {
        UpstreamError::Unreachable(_) | UpstreamError::TimedOut { .. } | UpstreamError::Broken(_) => true,
        UpstreamError::Status { status, .. } => is_down(*status),
        UpstreamError::Unsupported(_) => false,
    }
}

fn is_down(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status.as_u16(), 401 | 403 | 408 | 429)
}

#[cfg(test)]
#[path = "router_tests.rs"]
mod tests;
