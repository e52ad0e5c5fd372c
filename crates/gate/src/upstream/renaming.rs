//! A turn under the name that the upstream has for the model, and its answer under the client's.

use std::sync::Arc;

use futures_util::StreamExt;
use serde_json::{Value, json};

use super::routes::Choice;
use super::{Turn, TurnRequest, Upstream, UpstreamError};

/// The form of a turn.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Responses,
    Chat,
}

pub(super) async fn ask(
    upstream: &Arc<dyn Upstream>,
    form: Form,
    request: TurnRequest,
) -> Result<Turn, UpstreamError> {
    request.asked.note(upstream.name(), request.body.get("model").and_then(Value::as_str));
    match form {
        Form::Responses => upstream.turn(request).await,
        Form::Chat => upstream.chat_turn(request).await,
    }
}

/// Asks under the upstream's own name for the model, and gives the answer under the client's.
pub(super) async fn ask_as(
    choice: &Choice<'_>,
    form: Form,
    mut request: TurnRequest,
    model: &str,
) -> Result<Turn, UpstreamError> {
    // Another try may go to another member, so it is ours to make.
    request.retries = 0;
    let Some(sent) = choice.model.clone() else { return ask(choice.upstream, form, request).await };
    request.body.insert("model".to_owned(), json!(sent));
    let turn = ask(choice.upstream, form, request).await?;
    let model = model.to_owned();
    let named_back = move |mut event: Value| {
        let place = match form {
            Form::Responses => event.get_mut("response").and_then(|response| response.get_mut("model")),
            Form::Chat => event.get_mut("model"),
        };
        if let Some(place) = place
            && *place == *sent
        {
            *place = json!(model);
        }
        event
    };
    let events = turn.events.map(move |event| event.map(&named_back)).boxed();
    Ok(Turn { events, headers: turn.headers })
}
