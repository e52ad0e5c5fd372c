//! The tools as the upstream sees them: `code_interpreter` becomes a function that the model knows by
//! the name `python`, and `tool_choice` follows. The same for both forms of request.

use serde_json::{Map, Value, json};

use crate::container_param::CodeTool;
use crate::tool_choice::{Form, TYPE, name_of, relaxed, rewritten, without};

/// What models have learned to call it.
pub(crate) const NAME: &str = "python";

const DESCRIPTION: &str = "Runs Python code in a stateful Jupyter-like notebook environment and returns what it \
    prints, the value of its last expression, tracebacks, and the names of new files. Variables, imports and files \
    are kept between calls. The working directory is /mnt/data; the user's files are there, and files written there \
    can be given to the user by linking them in the answer as [name](sandbox:/mnt/data/name). Figures shown with \
    plt.show() reach the user by themselves. There is no internet access. numpy, pandas, matplotlib, scipy, sympy, \
    scikit-learn, seaborn, pillow and openpyxl are installed.";

/// How one request's tools are rewritten, turn by turn.
#[derive(Clone, Debug)]
pub(crate) struct ToolRewrite {
    /// The function's name: `python`, unless the client has a tool of that name.
    pub(crate) name: String,
    tools: Vec<Value>,
    index: usize,
    choice: Option<Value>,
}

impl ToolRewrite {
    /// `files`: paths in the container that the model should know of.
    pub(crate) fn new(form: Form, body: &Map<String, Value>, tool: &CodeTool, files: &[String]) -> Self {
        let mut tools = body.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
        let name = free_name(&tools);
        if let Some(place) = tools.get_mut(tool.index) {
            *place = function(form, &name, tool, files);
        }
        let is_clients = tools.iter().any(|tool| name_of(tool) == Some(TYPE));
        let choice = body.get("tool_choice").map(|choice| rewritten(choice, form, &name, is_clients));
        Self { name, tools, index: tool.index, choice }
    }

    /// Tells the model of files that the user gave and that code will not find, where there are any.
    pub(crate) fn with_files_elsewhere(mut self, are_any: bool) -> Self {
        let function = self.tools.get_mut(self.index).filter(|_| are_any);
        let function =
            function.map(|tool| if tool["function"].is_object() { &mut tool["function"] } else { tool });
        if let Some(Value::String(description)) =
            function.and_then(|function| function.get_mut("description"))
        {
            description
                .push_str("\nFiles and images that the user gave by a URL are not in the environment.");
        }
        self
    }

    /// Whether there are tools that the upstream itself runs.
    pub(crate) fn has_hosted(&self) -> bool {
        let kind = |tool: &Value| tool.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.tools.iter().any(|tool| !matches!(kind(tool).as_str(), "function" | "custom"))
    }

    /// Sets `tools` and `tool_choice` for a turn. Once code has run, a choice that forces a call is
    /// relaxed: it asked for at least one, and the model must be free to answer.
    pub(crate) fn apply(&self, body: &mut Map<String, Value>, turn: TurnTools) {
        let mut tools = self.tools.clone();
        let choice = match turn {
            TurnTools::First => self.choice.clone(),
            TurnTools::Later => self.choice.as_ref().map(relaxed),
            // Some servers refuse calls in the conversation where there are no tools at all.
            TurnTools::NoMoreCode if tools.len() == 1 => Some(json!("none")),
            // The client's own must stay to be called, which the word above would forbid.
            TurnTools::NoMoreCode => {
                tools.remove(self.index);
                self.choice.as_ref().map(|choice| without(relaxed(choice), &self.name))
            }
        };
        body.insert("tools".to_owned(), Value::Array(tools));
        match choice {
            Some(choice) => body.insert("tool_choice".to_owned(), choice),
            None => body.shift_remove("tool_choice"),
        };
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnTools {
    First,
    /// Code has run.
    Later,
    /// A limit on calls is reached: the model can only answer, or use its other tools.
    NoMoreCode,
}

impl TurnTools {
    /// `rounds`: those taken before; `may_call`: whether another call would be run.
    pub(crate) fn of(rounds: u32, may_call: bool) -> Self {
        match rounds {
            _ if !may_call => Self::NoMoreCode,
            0 => Self::First,
            _ => Self::Later,
        }
    }
}

fn free_name(tools: &[Value]) -> String {
    let taken = |name: &str| tools.iter().any(|tool| name_of(tool) == Some(name));
    let mut name = NAME.to_owned();
    let mut number = 1;
    while taken(&name) {
        number += 1;
        name = format!("{NAME}_{number}");
    }
    name
}

fn function(form: Form, name: &str, tool: &CodeTool, files: &[String]) -> Value {
    let mut description = DESCRIPTION.to_owned();
    if !files.is_empty() {
        description.push_str("\nFiles of the user in the environment:");
        for file in files {
            description.push_str("\n- ");
            description.push_str(file);
        }
    }
    let mut function = json!({
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "The Python code to run."}},
            "required": ["code"],
            "additionalProperties": false
        },
        "strict": true
    });
    let Value::Object(function) = &mut function else { return function };
    if form == Form::Nested {
        return json!({"type": "function", "function": function});
    }
    let mut flat = Map::from_iter([("type".to_owned(), json!("function"))]);
    flat.append(function);
    if let Some(callers) = &tool.allowed_callers {
        flat.insert("allowed_callers".to_owned(), callers.clone());
    }
    Value::Object(flat)
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
