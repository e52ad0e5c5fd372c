//! Sandboxes of an owner: by state and metadata, page by page.

use axum::extract::State;
use axum::http::Uri;
use axum::response::Json;
use sandgate_core::Lease;
use serde_json::{Value, json};

use super::super::error::{Answered, Refusal};
use super::super::{DOOR, Door};
use super::{metadata, shown};
use crate::lent::form;
use crate::owner::Caller;

const USUAL_SIZE: u64 = 20;
const MOST: u64 = 200;

#[derive(Debug)]
struct Asked {
    states: Vec<String>,
    metadata: Vec<(String, String)>,
    page: Page,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    number: u64,
    size: u64,
}

impl Default for Page {
    fn default() -> Self {
        Self { number: 1, size: USUAL_SIZE }
    }
}

pub(super) async fn list(State(door): State<Door>, Caller(owner): Caller, uri: Uri) -> Answered<Json<Value>> {
    let asked = Asked::read(&uri)?;
    // The youngest first.
    let found: Vec<_> =
        door.leases.list(DOOR, &owner).into_iter().rev().filter(|lease| asked.takes(lease)).collect();
    Ok(Json(asked.page.of(&found, |lease| shown::detailed(lease))))
}

impl Asked {
    fn read(uri: &Uri) -> Answered<Self> {
        let mut asked = Self { states: Vec::new(), metadata: Vec::new(), page: Page::default() };
        for (name, value) in form(uri.query().unwrap_or_default()) {
            match name.as_str() {
                "state" => asked.states.push(value),
                "metadata" => asked.metadata = metadata::wanted(&value)?,
                _ => asked.page.read(&name, &value)?,
            }
        }
        Ok(asked)
    }

    fn takes(&self, lease: &Lease) -> bool {
        let state = shown::state(lease);
        let is_state =
            self.states.is_empty() || self.states.iter().any(|asked| asked.eq_ignore_ascii_case(state));
        is_state && self.metadata.iter().all(|(key, value)| lease.metadata.get(key) == Some(value))
    }
}

impl Page {
    /// Other names say nothing here.
    pub(super) fn read(&mut self, name: &str, value: &str) -> Answered<()> {
        let (field, most) = match name {
            "page" => (&mut self.number, u64::MAX),
            "pageSize" => (&mut self.size, MOST),
            _ => return Ok(()),
        };
        match value.parse().ok().filter(|number| (1..=most).contains(number)) {
            Some(number) => {
                *field = number;
                Ok(())
            }
            None => {
                let message = format!("Input should be a whole number between 1 and {most}");
                let problem =
                    json!({"type": "int_parsing", "loc": ["query", name], "msg": message, "input": value});
                Err(Refusal::fields(vec![problem]))
            }
        }
    }

    pub(super) fn of<T>(self, all: &[T], show: impl Fn(&T) -> Value) -> Value {
        let total = all.len() as u64;
        let pages = total.div_ceil(self.size);
        let before = usize::try_from((self.number - 1).saturating_mul(self.size)).unwrap_or(usize::MAX);
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        let items: Vec<_> = all.iter().skip(before).take(size).map(show).collect();
        json!({
            "items": items,
            "pagination": {
                "page": self.number,
                "pageSize": self.size,
                "totalItems": total,
                "totalPages": pages,
                "hasNextPage": self.number < pages,
            },
        })
    }
}
