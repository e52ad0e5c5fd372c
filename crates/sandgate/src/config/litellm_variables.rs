//! LiteLLM's `environment_variables`: its program takes them as its environment, over what was there. Ours leaves
//! the environment alone and looks here first.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::errors::Problem;
use super::key_path::KeyPath;
use super::secrets::{SecretText, set_variable};

const SECTION: &str = "environment_variables";
const REFERENCE: &str = "os.environ/";

#[derive(Default)]
pub(crate) struct Variables {
    values: BTreeMap<String, String>,
    /// Those that somebody asked for.
    used: RefCell<BTreeSet<String>>,
}

impl Variables {
    /// Takes them out of the file, and puts their values where the rest of it refers to them.
    pub(crate) fn take(file: &mut Map<String, Value>) -> Result<Self, Problem> {
        let path = KeyPath::of(SECTION);
        let fields = match file.shift_remove(SECTION) {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(Value::Object(fields)) => fields,
            Some(_) => return Err(Problem::at(path, "a mapping is wanted")),
        };
        let mut values = BTreeMap::new();
        for (name, value) in fields {
            let value = match value {
                Value::Null => continue,
                Value::String(text) => text,
                other @ (Value::Bool(_) | Value::Number(_)) => other.to_string(),
                Value::Array(_) | Value::Object(_) => {
                    return Err(Problem::at(path.key(&name), "a text is wanted"));
                }
            };
            values.insert(name, value);
        }
        let variables = Self { values, used: RefCell::default() };
        file.values_mut().for_each(|value| variables.put_into(value));
        Ok(variables)
    }

    fn put_into(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(found) = text.strip_prefix(REFERENCE).and_then(|name| self.own(name.trim())) {
                    found.clone_into(text);
                }
            }
            Value::Array(list) => list.iter_mut().for_each(|value| self.put_into(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.put_into(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn own(&self, name: &str) -> Option<&str> {
        let found = self.values.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())?;
        self.used.borrow_mut().insert(name.to_owned());
        Some(found)
    }

    /// What a variable holds, here or in the environment, if it is more than blanks.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        match self.own(name) {
            Some(value) => SecretText::new(value).find().ok().map(|found| found.expose().to_owned()),
            None => set_variable(name),
        }
    }

    /// The same for a secret, which stays where it is until it is needed.
    pub(crate) fn secret(&self, name: &str) -> Option<SecretText> {
        match self.own(name) {
            Some(value) => Some(SecretText::new(value)),
            None => set_variable(name).map(|_| SecretText::new(format!("env:{name}"))),
        }
    }

    /// Those that nothing here goes by are named.
    pub(crate) fn end(self, warnings: &mut Vec<Problem>) {
        let used = self.used.into_inner();
        for name in self.values.keys().filter(|name| !used.contains(*name)) {
            warnings.push(Problem::at(KeyPath::of(SECTION).key(name), "this has no effect here"));
        }
    }
}
