//! Lists come in pages: `limit`, `order` and `after` are read here, and the answer gets its shape.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Query as AxumQuery};
use axum::http::request::Parts;
use sandgate_gate::GateError;
use sandgate_store::{Listed, Page};
use serde_json::{Value, json};

use super::error::{ApiError, ApiResult};

/// What stands behind the question mark, in its order. What cannot be read counts as nothing.
#[derive(Debug)]
pub(crate) struct Query(Vec<(String, String)>);

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let pairs = AxumQuery::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        Ok(Self(pairs.map(|AxumQuery(pairs)| pairs).unwrap_or_default()))
    }
}

impl Query {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    /// `include=a`, `include[]=a` or `include[0]=a`, as the client's library writes lists.
    pub(crate) fn include(&self) -> Vec<String> {
        let is_include = |key: &str| {
            key == "include" || key.strip_prefix("include[").is_some_and(|rest| rest.ends_with(']'))
        };
        self.0.iter().filter(|(key, _)| is_include(key)).map(|(_, value)| value.clone()).collect()
    }

    /// Newest first unless asked otherwise.
    pub(crate) fn page(&self, usual: usize, most: usize) -> ApiResult<Page> {
        let limit = match self.get("limit") {
            None => usual,
            Some(text) => limit(text, most)?,
        };
        let descending = match self.get("order") {
            None | Some("desc") => true,
            Some("asc") => false,
            Some(other) => {
                let message = format!("Invalid value: '{other}'. Supported values are: 'asc' and 'desc'.");
                return Err(GateError::bad_value("order", message).into());
            }
        };
        let id = |name: &str| self.get(name).filter(|id| !id.is_empty()).map(str::to_owned);
        Ok(Page { limit, descending, after: id("after"), before: id("before") })
    }
}

fn limit(text: &str, most: usize) -> ApiResult<usize> {
    let refused = |what: &str, bound: String, code: &'static str| {
        let message = format!(
            "Invalid 'limit': integer {what} value. Expected a value {bound}, but got {text} instead."
        );
        Err(ApiError::bad_request(message).about("limit").coded(code))
    };
    match text.parse::<i64>() {
        Ok(number) if number < 1 => refused("below minimum", ">= 1".to_owned(), "integer_below_min_value"),
        Ok(number) => match usize::try_from(number) {
            Ok(number) if number <= most => Ok(number),
            _ => refused("above maximum", format!("<= {most}"), "integer_above_max_value"),
        },
        Err(_) => Err(GateError::wrong_type("limit", "an integer", &json!(text)).into()),
    }
}

/// One page of what is in memory already, the oldest first.
pub(crate) fn cut<T>(mut all: Vec<T>, page: &Page, id: impl Fn(&T) -> &str) -> ApiResult<Listed<T>> {
    if page.descending {
        all.reverse();
    }
    let find = |name: &str, wanted: &str| {
        let place = all.iter().position(|entry| id(entry) == wanted);
        place.ok_or_else(|| no_such_place(name, wanted))
    };
    let start = match &page.after {
        Some(after) => find("after", after)? + 1,
        None => 0,
    };
    let end = match &page.before {
        Some(before) => find("before", before)?,
        None => all.len(),
    };
    all.truncate(end);
    let mut data = all.split_off(start.min(end));
    let has_more = data.len() > page.limit;
    data.truncate(page.limit);
    Ok(Listed { data, has_more })
}

/// For a list in the store: only the place to go on from can be missing.
pub(crate) fn no_such_page(page: &Page) -> ApiError {
    match (&page.after, &page.before) {
        (Some(after), _) => no_such_place("after", after),
        (None, before) => no_such_place("before", before.as_deref().unwrap_or_default()),
    }
}

fn no_such_place(name: &str, id: &str) -> ApiError {
    GateError::bad_value(name, format!("Invalid '{name}': there is no '{id}' in this list.")).into()
}

/// `{"object": "list", …}`; each entry has an `id`.
pub(crate) fn list(entries: Listed<Value>) -> Value {
    let id = |entry: Option<&Value>| entry.and_then(|entry| entry.get("id").cloned());
    let first = id(entries.data.first()).unwrap_or_else(|| json!(""));
    let last = id(entries.data.last()).unwrap_or_else(|| json!(""));
    json!({
        "object": "list",
        "data": entries.data,
        "first_id": first,
        "last_id": last,
        "has_more": entries.has_more,
    })
}

/// The same page with each entry in another form.
pub(crate) fn mapped<T>(listed: Listed<T>, form: impl FnMut(T) -> Value) -> Listed<Value> {
    Listed { data: listed.data.into_iter().map(form).collect(), has_more: listed.has_more }
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;
