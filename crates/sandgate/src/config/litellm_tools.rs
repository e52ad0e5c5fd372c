//! LiteLLM's sandboxes and its interceptor: code runs in our own engine, and a file that wants it to run
//! elsewhere, or not at all, is refused.

use serde_json::Value;

use super::errors::Problem;
use super::key_path::KeyPath;
use super::section::Section;

const INTERCEPTOR: &str = "code_interpreter_interception";
const OURS: &str = "embedded";

/// A sandbox as LiteLLM registers it.
struct Tool {
    name: String,
    provider: String,
    /// Of the provider.
    path: KeyPath,
}

pub(crate) fn check_interceptor(
    tools: Vec<Value>,
    callbacks: &[Value],
    interceptor: Option<Section>,
    providers: &[String],
    warnings: &mut Vec<Problem>,
) -> Result<(), Problem> {
    let path = KeyPath::of("litellm_settings").key("callbacks");
    for (number, callback) in callbacks.iter().enumerate() {
        if callback != INTERCEPTOR {
            let what = format!("{callback} is not known and has no effect here");
            warnings.push(Problem::at(path.index(number), what));
        }
    }
    if !callbacks.iter().any(|callback| callback == INTERCEPTOR) {
        let what =
            format!("'{INTERCEPTOR}' is not among them; code runs in the sandbox of this program anyway");
        warnings.push(Problem::at(path, what));
    }
    let tools = tools
        .into_iter()
        .enumerate()
        .map(|(number, value)| read_tool(KeyPath::of("sandbox_tools").index(number), value, warnings))
        .collect::<Result<Vec<Tool>, Problem>>()?;
    let Some(mut params) = interceptor else {
        warn_of_unused(&tools, None, warnings);
        return Ok(());
    };
    if params.flag("enabled")? == Some(false) {
        let message = "the code tool cannot be switched off here: it would be passed on, and code would run \
                       in somebody else's container; remove this line";
        return Err(Problem::at(params.path.key("enabled"), message));
    }
    let wanted = params.list("enabled_providers")?;
    if !wanted.is_empty() && !providers.iter().all(|provider| wanted.iter().any(|name| name == provider)) {
        let what = "code runs for the models of every provider";
        warnings.push(Problem::at(params.path.key("enabled_providers"), what));
    }
    let name = params.text("sandbox_tool_name")?;
    let path = params.path.key("sandbox_tool_name");
    params.end(warnings);
    if let Some(name) = &name {
        let Some(tool) = tools.iter().find(|tool| tool.name == *name) else {
            return Err(Problem::at(path, format!("there is no '{name}' in sandbox_tools")));
        };
        if tool.provider != OURS {
            let message = format!(
                "'{name}' runs at '{}', and code cannot be sent to remote backends yet; write \
                 'sandbox_provider: {OURS}' to run it in the sandbox of this program",
                tool.provider
            );
            return Err(Problem::at(tool.path.clone(), message));
        }
    }
    warn_of_unused(&tools, name.as_deref(), warnings);
    Ok(())
}

fn read_tool(path: KeyPath, value: Value, warnings: &mut Vec<Problem>) -> Result<Tool, Problem> {
    let mut tool = Section::new(path, value)?;
    let name = tool.needed_text("sandbox_tool_name")?;
    let at = tool.path.key("litellm_params");
    let mut params = tool.section("litellm_params")?.ok_or_else(|| Problem::at(at, "this key is missing"))?;
    let provider = params.needed_text("sandbox_provider")?;
    let path = params.path.key("sandbox_provider");
    // Only remote backends have an address and a key.
    params.take("api_key");
    params.take("api_base");
    params.end(warnings);
    tool.end(warnings);
    Ok(Tool { name, provider, path })
}

fn warn_of_unused(tools: &[Tool], used: Option<&str>, warnings: &mut Vec<Problem>) {
    for tool in tools.iter().filter(|tool| tool.provider != OURS && used != Some(tool.name.as_str())) {
        let what = format!("'{}' is not used: code runs in the sandbox of this program", tool.provider);
        warnings.push(Problem::at(tool.path.clone(), what));
    }
}
