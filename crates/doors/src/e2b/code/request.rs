//! What clients ask of the code interpreter, read as E2B's own does: fields it does not know are no mistake.

use std::collections::BTreeMap;

use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use bytes::Bytes;
use sandgate_core::{ContextId, ContextSpec, ExecuteRequest};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::super::{Door, HOME};
use super::Refusal;

/// One byte takes six in JSON at most (`\u0000`), so no code within its limit is refused for the way it is written.
const WORST_ESCAPE: u64 = 6;
/// Room for variables and the other fields.
const BESIDE_THE_CODE: u64 = 8 << 20;

#[derive(Debug, Deserialize)]
pub(super) struct ExecuteBody {
    code: String,
    #[serde(default)]
    context_id: Option<String>,
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    env_vars: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ContextBody {
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    cwd: Option<String>,
}

impl ExecuteBody {
    pub(super) fn into_request(self) -> Result<ExecuteRequest, Refusal> {
        let (context, language) = (given(self.context_id), given(self.language));
        if context.is_some() && language.is_some() {
            return Err(Refusal::ContextAndLanguage);
        }
        let context = context.map(|id| parse_context(&id)).transpose()?;
        Ok(ExecuteRequest {
            code: self.code,
            context,
            language: language.map(|name| language_name(&name)),
            env: self.env_vars.unwrap_or_default().into_iter().collect(),
            with_chart_data: true,
            ..ExecuteRequest::default()
        })
    }
}

impl ContextBody {
    pub(super) fn into_spec(self) -> ContextSpec {
        let language = given(self.language).map(|name| language_name(&name));
        ContextSpec { id: None, language, cwd: given(self.cwd).map(|cwd| from_home(&cwd)) }
    }
}

/// No text is no wish.
fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// As the engine knows it. E2B takes a language in any case, and two of them by a short name.
fn language_name(name: &str) -> String {
    let name = name.trim().to_lowercase();
    match name.as_str() {
        "js" => "javascript".to_owned(),
        "ts" => "typescript".to_owned(),
        _ => name,
    }
}

/// Folders of a context start at home.
fn from_home(cwd: &str) -> String {
    match cwd.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{HOME}{rest}"),
        _ if cwd.starts_with('/') => cwd.to_owned(),
        _ => format!("{HOME}/{cwd}"),
    }
}

/// What cannot be the name of a context is the name of none.
pub(super) fn parse_context(id: &str) -> Result<ContextId, Refusal> {
    ContextId::parse(id).map_err(|_| Refusal::no_such_context(id))
}

/// The body as JSON.
pub(super) async fn read<T: DeserializeOwned>(door: &Door, mut request: Request) -> Result<T, Refusal> {
    // A page in a browser may send any other type without asking first. Nothing of that is read.
    if !request.headers().get(CONTENT_TYPE).is_some_and(|kind| is_json(kind.as_bytes())) {
        return Err(Refusal::NotDeclaredJson);
    }
    let code = door.spec.limits.code_bytes;
    let most = code.saturating_mul(WORST_ESCAPE).saturating_add(BESIDE_THE_CODE);
    DefaultBodyLimit::max(usize::try_from(most).unwrap_or(usize::MAX)).apply(&mut request);
    let body = Bytes::from_request(request, &()).await?;
    serde_json::from_slice(&body).map_err(|error| Refusal::BadBody(error.to_string()))
}

fn is_json(kind: &[u8]) -> bool {
    let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default();
    kind.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
