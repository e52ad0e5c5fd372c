//! LiteLLM's sandboxes and its interceptor: code runs where the file says, in our own engine or at a provider; a
//! file that wants it not to run at all is refused.

use serde_json::Value;

use super::backends_file::{BackendFile, BackendType, NetworkFile};
use super::errors::Problem;
use super::key_path::KeyPath;
use super::litellm_variables::Variables;
use super::secrets::{SecretText, set_variable};
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
    variables: &Variables,
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
        .map(|(number, value)| {
            read_tool(KeyPath::of("sandbox_tools").index(number), value, variables, warnings)
        })
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

fn read_tool(
    path: KeyPath,
    value: Value,
    variables: &Variables,
    warnings: &mut Vec<Problem>,
) -> Result<Tool, Problem> {
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
    let backend = backend.map(|kind| read_backend(kind, &mut params, variables, warnings)).transpose()?;
    params.end(warnings);
    tool.end(warnings);
    Ok(Tool { name, provider, path, backend })
}

/// LiteLLM's two keys, and ours beside them, which it does not mind. What neither says, the variables do by which
/// the providers' own SDKs go.
fn read_backend(
    kind: BackendType,
    params: &mut Section,
    variables: &Variables,
    warnings: &mut Vec<Problem>,
) -> Result<BackendFile, Problem> {
    let (key_variable, url_variable) = match kind {
        BackendType::E2b => ("E2B_API_KEY", "E2B_API_URL"),
        BackendType::Opensandbox => ("OPEN_SANDBOX_API_KEY", "OPEN_SANDBOX_API_BASE"),
        BackendType::Daytona => ("DAYTONA_API_KEY", "DAYTONA_API_URL"),
    };
    let url = read_url(kind, params, warnings)?.or_else(|| variables.get(url_variable));
    let key = params.text("api_key")?.map(SecretText::new);
    // OpenSandbox may be without one, and then the variable is often empty.
    let key = key
        .filter(|key| kind != BackendType::Opensandbox || key.find().is_ok())
        .or_else(|| variables.secret(key_variable));
    let of_e2b = |name: &str| variables.get(name).filter(|_| kind == BackendType::E2b);
    // An address in the file is another server than the one the variables are for.
    let by_variables = url.is_none() || url == of_e2b(url_variable);
    let domain = params.text("domain")?.or_else(|| of_e2b("E2B_DOMAIN").filter(|_| by_variables));
    let sandbox_url =
        params.text("sandbox_url")?.or_else(|| of_e2b("E2B_SANDBOX_URL").filter(|_| by_variables));
    let network = match params.flag("allow_internet_access")? {
        Some(true) => NetworkFile::Open,
        Some(false) | None => NetworkFile::Disabled,
    };
    let mut backend = BackendFile::new(kind);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "for ever is long enough")]
    if let Some(seconds) = params.number("timeout")? {
        backend.life_seconds = seconds.ceil() as u64;
    }
    Ok(BackendFile {
        url,
        key,
        domain,
        sandbox_url,
        template: params.text("template")?,
        image: params.text("image")?,
        snapshot: params.text("snapshot")?,
        server_proxy: params.flag("use_server_proxy")?.unwrap_or_default(),
        network,
        origin: Some(params.path.clone()),
        ..backend
    })
}

/// None: the file does not say where it is. For E2B, whose cloud is known, LiteLLM's own example has a variable
/// there that need not be set.
fn read_url(
    kind: BackendType,
    params: &mut Section,
    warnings: &mut Vec<Problem>,
) -> Result<Option<String>, Problem> {
    let at = params.path.key("api_base");
    let Some(text) = params.text("api_base")? else { return Ok(None) };
    let name = text.strip_prefix("os.environ/").filter(|name| set_variable(name.trim()).is_none());
    match name {
        Some(name) if kind == BackendType::E2b => {
            let what = format!("the variable {name} is not set: E2B's own variables count, else its cloud");
            warnings.push(Problem::at(at, what));
            Ok(None)
        }
        _ => match SecretText::new(text).find() {
            Ok(url) => Ok(Some(url.expose().to_owned())),
            Err(message) => Err(Problem::at(at, message)),
        },
    }
}

fn warn_of_unused(tools: &[Tool], used: Option<&str>, warnings: &mut Vec<Problem>) {
    for tool in tools.iter().filter(|tool| tool.provider != OURS && used != Some(tool.name.as_str())) {
        let what = format!("'{}' is not used: 'sandbox_tool_name' does not name it", tool.provider);
        warnings.push(Problem::at(tool.path.clone(), what));
    }
}
