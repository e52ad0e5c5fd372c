//! A part of a foreign configuration, taken apart key by key; what nobody took is named at the end.

use serde_json::{Map, Value};

use super::errors::Problem;
use super::key_path::KeyPath;

#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) path: KeyPath,
    fields: Map<String, Value>,
}

impl Section {
    pub(crate) fn new(path: KeyPath, value: Value) -> Result<Self, Problem> {
        match value {
            Value::Object(fields) => Ok(Self { path, fields }),
            _ => Err(Problem::at(path, "a mapping is wanted")),
        }
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        self.fields.shift_remove(key).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&mut self, key: &str) -> Result<Option<String>, Problem> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Problem::at(self.path.key(key), "a text is wanted")),
        }
    }

    pub(crate) fn needed_text(&mut self, key: &str) -> Result<String, Problem> {
        let text = self.text(key)?.filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| Problem::at(self.path.key(key), "this key is missing"))
    }

    pub(crate) fn flag(&mut self, key: &str) -> Result<Option<bool>, Problem> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(Problem::at(self.path.key(key), "true or false is wanted")),
        }
    }

    /// A number of at least 1, which may be written as a text.
    pub(crate) fn number(&mut self, key: &str) -> Result<Option<f64>, Problem> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let number = match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        match number.filter(|number| *number > 0.0 && number.is_finite()) {
            Some(number) => Ok(Some(number)),
            None => Err(Problem::at(self.path.key(key), "a number of at least 1 is wanted")),
        }
    }

    pub(crate) fn section(&mut self, key: &str) -> Result<Option<Self>, Problem> {
        let path = self.path.key(key);
        self.take(key).map(|value| Self::new(path, value)).transpose()
    }

    /// A list; a single text counts as a list of one.
    pub(crate) fn list(&mut self, key: &str) -> Result<Vec<Value>, Problem> {
        match self.take(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items),
            Some(text @ Value::String(_)) => Ok(vec![text]),
            Some(_) => Err(Problem::at(self.path.key(key), "a list is wanted")),
        }
    }

    /// Each key that is left is named.
    pub(crate) fn end(self, warnings: &mut Vec<Problem>) {
        for key in self.fields.keys() {
            warnings.push(Problem::at(self.path.key(key), "this has no effect here"));
        }
    }
}
