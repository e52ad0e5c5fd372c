//! One rule: an expression in CEL over what is known of the code, and what follows when it holds.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use cel::{Context, Env, ExecutionError, Program, Value};

use super::expression;
use super::facts::Facts;

/// What a rule, or a policy without a fitting rule, says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stance {
    #[default]
    Allow,
    Deny,
    /// The webhook if there is one, then a person.
    Ask,
}

/// A rule, compiled: it never fails for being written wrongly.
pub struct Rule {
    pub(super) name: String,
    pub(super) then: Stance,
    pub(super) reason: Option<String>,
    when: Program,
    env: Arc<Env>,
}

/// Why an expression cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadExpression(pub(super) String);

impl Rule {
    pub fn new(
        name: String,
        when: &str,
        then: Stance,
        reason: Option<String>,
    ) -> Result<Self, BadExpression> {
        let env = Arc::new(Env::stdlib());
        let program = expression::compile(&env, when)?;
        let rule = Self { name, then, reason, when: program, env };
        expression::judge(rule.value(&expression::sample()))?;
        Ok(rule)
    }

    /// Whether it speaks of this code. An error says what in the expression did not fit the code.
    pub(super) fn holds(&self, facts: &Facts) -> Result<bool, String> {
        match self.value(facts) {
            Ok(Value::Bool(holds)) => Ok(holds),
            Ok(other) => Err(expression::not_bool(&other)),
            Err(error) => Err(expression::said(&error)),
        }
    }

    fn value(&self, facts: &Facts) -> Result<Value, ExecutionError> {
        let mut context = Context::with_env(Arc::clone(&self.env));
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let map = |fields: &[(&str, String)]| {
            fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<HashMap<_, _>>()
        };
        let key = [
            ("id", text(&facts.key.id)),
            ("name", text(&facts.key.name)),
            ("owner", facts.key.owner.clone()),
        ];
        let container = [("id", facts.container.id.clone()), ("name", text(&facts.container.name))];
        context.add_variable_from_value("code", facts.code.as_str());
        context.add_variable_from_value("imports", facts.imports.clone());
        context.add_variable_from_value("language", facts.language.as_str());
        context.add_variable_from_value("model", text(&facts.model));
        context.add_variable_from_value("door", facts.door.as_str());
        context.add_variable_from_value("key", map(&key));
        context.add_variable_from_value("container", map(&container));
        self.when.execute(&context)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").field("name", &self.name).field("then", &self.then).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "rule_tests.rs"]
mod tests;
