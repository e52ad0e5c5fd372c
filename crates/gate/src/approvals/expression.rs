//! Expressions of rules, checked when they are read: names, fields, functions and patterns that are not
//! there are a mistake of the file, not of the code that comes along a week later.

use cel::common::ast::{EntryExpr, Expr, IdedExpr, LiteralValue, MapExpr, StructExpr};
use cel::{Context, Env, ExecutionError, Program, Value};
use sandgate_core::{ContainerId, Owner};

use super::Question;
use super::facts::Facts;
use super::rule::BadExpression;

/// What an expression may speak of.
const VARIABLES: [&str; 7] = ["code", "imports", "language", "model", "key", "container", "door"];
/// Names of types, for `type(x) == string`.
const TYPES: [&str; 10] =
    ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];
/// Operators and macros have names that nobody can write, such as `_==_` and `@in`.
const FUNCTIONS: [&str; 13] = [
    "bool",
    "bytes",
    "contains",
    "double",
    "dyn",
    "endsWith",
    "int",
    "matches",
    "size",
    "startsWith",
    "string",
    "type",
    "uint",
];
/// An expression is a line or a few.
const LONGEST: usize = 4 << 10;
/// Operations within operations, and brackets within brackets: both are evaluated and parsed by functions
/// that call themselves, and a stack has an end.
pub(super) const DEEPEST: usize = 64;
/// For the parser, which goes as deep as the text does before anybody can look.
const PARSER_STACK: usize = 64 << 20;

pub(super) fn compile(env: &Env, text: &str) -> Result<Program, BadExpression> {
    if text.len() > LONGEST {
        return Err(BadExpression(format!("an expression is at most {LONGEST} bytes long")));
    }
    if depth(text) > DEEPEST {
        return Err(BadExpression(format!("brackets can be nested {DEEPEST} deep at most")));
    }
    let parsed = std::thread::scope(|scope| {
        let parser = std::thread::Builder::new().stack_size(PARSER_STACK);
        let parser = parser.spawn_scoped(scope, || parse(env, text));
        parser.map(std::thread::ScopedJoinHandle::join)
    });
    let Ok(Ok(parsed)) = parsed else { return Err(BadExpression("the parser failed".to_owned())) };
    let program = parsed?;
    check(program.expression(), &mut Vec::new())?;
    Ok(program)
}

fn parse(env: &Env, text: &str) -> Result<Program, BadExpression> {
    let program = env.compile(text).map_err(|errors| {
        let Some(first) = errors.errors.first() else {
            return BadExpression("it is no expression".to_owned());
        };
        let (line, column) = first.pos;
        // The rest of the sentence lists every token of the language.
        let what = first.msg.split(" expecting ").next().unwrap_or_default();
        let what = what.trim_start_matches("Syntax error: ");
        BadExpression(format!("it is no expression: {what} (at its line {line}, column {column})"))
    })?;
    if is_deeper(program.expression(), DEEPEST) {
        return Err(BadExpression(format!("operations can be nested {DEEPEST} deep at most")));
    }
    Ok(program)
}

fn is_deeper(expression: &IdedExpr, most: usize) -> bool {
    let Some(most) = most.checked_sub(1) else { return true };
    parts(expression).into_iter().any(|part| is_deeper(part, most))
}

fn parts(expression: &IdedExpr) -> Vec<&IdedExpr> {
    match &expression.expr {
        Expr::Unspecified | Expr::Literal(_) | Expr::Ident(_) => Vec::new(),
        Expr::Select(select) => vec![&select.operand],
        Expr::Call(call) => call.target.iter().map(AsRef::as_ref).chain(&call.args).collect(),
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(MapExpr { entries }) | Expr::Struct(StructExpr { entries, .. }) => entries
            .iter()
            .flat_map(|entry| match &entry.expr {
                EntryExpr::StructField(field) => vec![&field.value],
                EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
            })
            .collect(),
        Expr::Comprehension(all) => {
            vec![&all.iter_range, &all.accu_init, &all.loop_cond, &all.loop_step, &all.result]
        }
    }
}

/// Brackets in texts count too, which does no harm.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// A run on a made-up question: what can never fit is found, what depends on the code is let pass.
pub(super) fn judge(outcome: Result<Value, ExecutionError>) -> Result<(), BadExpression> {
    match outcome {
        Ok(Value::Bool(_)) => Ok(()),
        Ok(other) => Err(BadExpression(not_bool(&other))),
        Err(
            error @ (ExecutionError::NoSuchOverload(_)
            | ExecutionError::UndeclaredReference(_)
            | ExecutionError::UnexpectedType { .. }
            | ExecutionError::NotSupportedAsMethod { .. }
            | ExecutionError::UnsupportedTargetType { .. }
            | ExecutionError::UnsupportedBinaryOperator(..)
            | ExecutionError::UnsupportedIndex(..)
            | ExecutionError::ValuesNotComparable(..)
            | ExecutionError::InvalidArgumentCount { .. }
            | ExecutionError::MissingArgumentOrTarget),
        ) => Err(BadExpression(said(&error))),
        Err(_) => Ok(()),
    }
}

pub(super) fn not_bool(value: &Value) -> String {
    format!("it must come out as true or false, not as {}", value.type_of())
}

/// The library's sentence; some of them repeat the values, and so the code, which belongs in no log.
pub(super) fn said(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchOverload(error) => error.to_string(),
        ExecutionError::UndeclaredReference(name) => format!("there is no '{name}'"),
        ExecutionError::NoSuchKey(name) => format!("there is no field '{name}'"),
        ExecutionError::IndexOutOfBounds(_) => "an index is out of bounds".to_owned(),
        ExecutionError::InvalidArgumentCount { expected, actual } => {
            format!("{actual} arguments were given where {expected} are wanted")
        }
        ExecutionError::UnexpectedType { got, want } => format!("{want} is wanted, not {got}"),
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "a division by zero".to_owned()
        }
        ExecutionError::FunctionError { function, .. } => format!("the function '{function}' failed"),
        _ => "its values do not fit together".to_owned(),
    }
}

/// A question that nobody asked.
pub(super) fn sample() -> Facts {
    let (owner, container) = (Owner::from_stored("team".to_owned()), ContainerId::random());
    let question = Question {
        code: "import os\nprint(os.name)\n",
        language: "python",
        model: Some("gpt-5"),
        key: Some("key_0123"),
        owner: &owner,
        container: &container,
        container_name: Some("session"),
        door: "responses",
        request_id: "req_0123",
    };
    let mut facts = Facts::new(&question, Some("ci".to_owned()));
    facts.imports = vec!["os".to_owned()];
    facts
}

/// `bound`: names of the macros around, such as `m` in `imports.exists(m, …)`.
fn check<'a>(expression: &'a IdedExpr, bound: &mut Vec<&'a str>) -> Result<(), BadExpression> {
    match &expression.expr {
        Expr::Unspecified | Expr::Literal(_) => Ok(()),
        Expr::Ident(name) => {
            let is_there = name.starts_with('@')
                || bound.contains(&name.as_str())
                || VARIABLES.contains(&name.as_str())
                || TYPES.contains(&name.as_str());
            if is_there { Ok(()) } else { Err(none("name", name, &VARIABLES)) }
        }
        Expr::Select(select) => {
            check(&select.operand, bound)?;
            let fields: &[&str] = match &select.operand.expr {
                Expr::Ident(name) if bound.contains(&name.as_str()) => return Ok(()),
                Expr::Ident(name) if name == "key" => &["id", "name", "owner"],
                Expr::Ident(name) if name == "container" => &["id", "name"],
                Expr::Ident(name) => {
                    return Err(BadExpression(format!("'{name}' has no field '{}'", select.field)));
                }
                _ => return Ok(()),
            };
            if fields.contains(&select.field.as_str()) {
                Ok(())
            } else {
                Err(none("field", &select.field, fields))
            }
        }
        Expr::Call(call) => {
            let name = call.func_name.as_str();
            if name.starts_with(|first: char| first.is_ascii_alphabetic()) && !FUNCTIONS.contains(&name) {
                return Err(none("function", name, &FUNCTIONS));
            }
            if name == "matches"
                && let Some(Expr::Literal(LiteralValue::String(pattern))) =
                    call.args.last().map(|last| &last.expr)
            {
                check_pattern(pattern.inner())?;
            }
            parts(expression).into_iter().try_for_each(|part| check(part, bound))
        }
        Expr::List(_) | Expr::Map(_) => parts(expression).into_iter().try_for_each(|part| check(part, bound)),
        Expr::Struct(structure) => Err(none("type", &structure.type_name, &TYPES)),
        Expr::Comprehension(all) => {
            check(&all.iter_range, bound)?;
            check(&all.accu_init, bound)?;
            let before = bound.len();
            bound.extend([all.iter_var.as_str(), all.accu_var.as_str()]);
            bound.extend(all.iter_var2.as_deref());
            let inside = [&all.loop_cond, &all.loop_step, &all.result];
            inside.into_iter().try_for_each(|part| check(part, bound))?;
            bound.truncate(before);
            Ok(())
        }
    }
}

/// By the library's own reading of patterns.
fn check_pattern(pattern: &str) -> Result<(), BadExpression> {
    let mut context = Context::default();
    context.add_variable_from_value("pattern", pattern);
    let tried = Program::compile("''.matches(pattern)").map(|program| program.execute(&context));
    match tried {
        Ok(Ok(_)) => Ok(()),
        _ => Err(BadExpression(format!("'{pattern}' is no regular expression"))),
    }
}

fn none(what: &str, name: &str, possible: &[&str]) -> BadExpression {
    BadExpression(format!("there is no {what} '{name}'; possible here: {}", possible.join(", ")))
}
