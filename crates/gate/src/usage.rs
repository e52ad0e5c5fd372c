//! Tokens of all turns as one `usage` object, in the words of whichever API the turns were counted in.

use serde_json::{Map, Value, json};

#[derive(Clone, Debug, Default)]
pub(crate) struct UsageSum {
    /// None until a turn has said what it used.
    sum: Option<Map<String, Value>>,
}

impl UsageSum {
    /// Adds a turn's `usage`, whatever numbers it holds.
    pub(crate) fn add(&mut self, usage: Option<&Value>) {
        let Some(Value::Object(usage)) = usage else { return };
        match &mut self.sum {
            None => self.sum = Some(usage.clone()),
            Some(sum) => add_all(sum, usage),
        }
    }

    pub(crate) fn output_tokens(&self) -> u64 {
        self.sum.as_ref().map_or(0, |sum| count(sum, "output_tokens"))
    }

    /// The same in the words of Chat Completions.
    pub(crate) fn completion_tokens(&self) -> u64 {
        self.sum.as_ref().map_or(0, |sum| count(sum, "completion_tokens"))
    }

    /// The sums as they were counted; None when no turn said anything.
    pub(crate) fn plain(&self) -> Option<Value> {
        self.sum.clone().map(Value::Object)
    }

    /// With every field that clients demand; null when no turn said anything.
    pub(crate) fn to_value(&self) -> Value {
        let Some(sum) = &self.sum else { return Value::Null };
        let mut usage = sum.clone();
        let input = count(&usage, "input_tokens");
        let output = count(&usage, "output_tokens");
        usage.entry("input_tokens").or_insert_with(|| json!(input));
        usage.entry("output_tokens").or_insert_with(|| json!(output));
        details(&mut usage, "input_tokens_details", &["cached_tokens", "cache_write_tokens"]);
        details(&mut usage, "output_tokens_details", &["reasoning_tokens"]);
        usage.entry("total_tokens").or_insert_with(|| json!(input + output));
        Value::Object(usage)
    }
}

fn count(usage: &Map<String, Value>, name: &str) -> u64 {
    usage.get(name).and_then(Value::as_u64).unwrap_or(0)
}

fn details(usage: &mut Map<String, Value>, name: &str, fields: &[&str]) {
    let entry = usage.entry(name).or_insert_with(|| json!({}));
    if !entry.is_object() {
        *entry = json!({});
    }
    if let Value::Object(map) = entry {
        for field in fields {
            map.entry(*field).or_insert_with(|| json!(0));
        }
    }
}

fn add_all(sum: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (name, value) in more {
        match (sum.get_mut(name), value) {
            (Some(Value::Object(before)), Value::Object(more)) => add_all(before, more),
            (Some(before), Value::Number(more)) => {
                *before = match (before.as_u64(), more.as_u64()) {
                    (Some(before), Some(more)) => json!(before.saturating_add(more)),
                    // Servers add times of their own.
                    _ => json!(before.as_f64().unwrap_or(0.0) + more.as_f64().unwrap_or(0.0)),
                };
            }
            (None, value) => {
                sum.insert(name.clone(), value.clone());
            }
            (Some(_), _) => {}
        }
    }
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
