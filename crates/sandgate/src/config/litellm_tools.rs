//! LiteLLM's sandboxes and its interceptor: code runs where the file says, in our own engine or at a provider; a
//! file that wants it not to run at all is refused.

use serde_json::Value;

use super::backends_file::{BackendFile, BackendType, NetworkFile, NetworkWord};
use super::errors::Problem;
use super::key_path::KeyPath;
use super::secrets::SecretText;
use super::section::Section;

const INTERCEPTOR: &str = "code_interpreter_interception";
const OURS: &str = "embedded";

/// A sandbox as LiteLLM registers it.
struct Tool {
    name: String,
    provider: String,
    /// Of the provider.
    path: KeyPath,
    /// None: our own engine.
    backend: Option<BackendFile>,
}

/// Where code runs, if that is elsewhere: its name and what it is.
pub(crate) type Elsewhere = Option<(String, BackendFile)>;

pub(crate) fn check_interceptor(
    tools: Vec<Value>,
    callbacks: &[Value],
    interceptor: Option<Section>,
    providers: &[String],
    warnings: &mut Vec<Problem>,
) -> Result<Elsewhere, Problem> {
    let path = KeyPath::of("litellm_settings").key("callbacks");
    for (number, callback) in callbacks.iter().enumerate() {
        if callback != INTERCEPTOR {
            let what = format!("{callback} is not known and has no effect here");
            warnings.push(Problem::at(path.index(number), what));
        }
    }
    if !callbacks.iter().any(|callback| callback == INTERCEPTOR) {
        let what = format!("'{INTERCEPTOR}' is not among them; code runs here anyway, as if it were");
        warnings.push(Problem::at(path, what));
    }
    let tools = tools
        .into_iter()
        .enumerate()
        .map(|(number, value)| read_tool(KeyPath::of("sandbox_tools").index(number), value, warnings))
        .collect::<Result<Vec<Tool>, Problem>>()?;
    let Some(mut params) = interceptor else {
        warn_of_unused(&tools, None, warnings);
        return Ok(None);
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
    warn_of_unused(&tools, name.as_deref(), warnings);
    let Some(name) = name else { return Ok(None) };
    let Some(tool) = tools.into_iter().find(|tool| tool.name == name) else {
        return Err(Problem::at(path, format!("there is no '{name}' in sandbox_tools")));
    };
    Ok(tool.backend.map(|backend| (name, backend)))
}

fn read_tool(path: KeyPath, value: Value, warnings: &mut Vec<Problem>) -> Result<Tool, Problem> {
    let mut tool = Section::new(path, value)?;
    let name = tool.needed_text("sandbox_tool_name")?;
    let at = tool.path.key("litellm_params");
    let mut params = tool.section("litellm_params")?.ok_or_else(|| Problem::at(at, "this key is missing"))?;
    let provider = params.needed_text("sandbox_provider")?;
    let path = params.path.key("sandbox_provider");
    let backend = match provider.as_str() {
        OURS => {
            // Only remote backends have an address and a key.
            params.take("api_key");
            params.take("api_base");
            None
        }
        "e2b" => Some(BackendType::E2b),
        "opensandbox" => Some(BackendType::Opensandbox),
        "daytona" => Some(BackendType::Daytona),
        other => {
            let message = format!("'{other}' is not known; there is: {OURS}, e2b, opensandbox, daytona");
            return Err(Problem::at(path, message));
        }
    };
    let backend = backend.map(|kind| read_backend(kind, &mut params)).transpose()?;
    params.end(warnings);
    tool.end(warnings);
    Ok(Tool { name, provider, path, backend })
}

/// LiteLLM's two keys, and ours beside them, which it does not mind.
fn read_backend(kind: BackendType, params: &mut Section) -> Result<BackendFile, Problem> {
    let (key_variable, url_variable) = match kind {
        BackendType::E2b => ("E2B_API_KEY", None),
        BackendType::Opensandbox => ("OPEN_SANDBOX_API_KEY", Some("OPEN_SANDBOX_API_BASE")),
        BackendType::Daytona => ("DAYTONA_API_KEY", Some("DAYTONA_API_URL")),
    };
    let from = |variable: &str| {
        let is_set = std::env::var(variable).is_ok_and(|value| !value.trim().is_empty());
        is_set.then(|| SecretText::new(format!("env:{variable}")))
    };
    let at = params.path.key("api_base");
    let url = params.text("api_base")?.map(SecretText::new).or_else(|| url_variable.and_then(from));
    let url = url.map(|url| url.find()).transpose().map_err(|message| Problem::at(at, message))?;
    let key = params.text("api_key")?.map(SecretText::new);
    // OpenSandbox may be without one, and then the variable is often empty.
    let key = key
        .filter(|key| kind != BackendType::Opensandbox || key.find().is_ok())
        .or_else(|| from(key_variable));
    let network = match params.flag("allow_internet_access")? {
        Some(true) => NetworkWord::All,
        Some(false) | None => NetworkWord::None,
    };
    let mut backend = BackendFile::new(kind);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "for ever is long enough")]
    if let Some(seconds) = params.number("timeout")? {
        backend.life_seconds = seconds.ceil() as u64;
    }
    Ok(BackendFile {
        url: url.map(|url| url.expose().to_owned()),
        key,
        domain: params.text("domain")?,
        sandbox_url: params.text("sandbox_url")?,
        template: params.text("template")?,
        image: params.text("image")?,
        snapshot: params.text("snapshot")?,
        server_proxy: params.flag("use_server_proxy")?.unwrap_or_default(),
        network: NetworkFile::Word(network),
        origin: Some(params.path.clone()),
        ..backend
    })
}

fn warn_of_unused(tools: &[Tool], used: Option<&str>, warnings: &mut Vec<Problem>) {
    for tool in tools.iter().filter(|tool| tool.provider != OURS && used != Some(tool.name.as_str())) {
        let what = format!("'{}' is not used: 'sandbox_tool_name' does not name it", tool.provider);
        warnings.push(Problem::at(tool.path.clone(), what));
    }
}
