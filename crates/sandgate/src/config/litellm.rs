//! LiteLLM's own `config.yaml`, understood as far as we have the same things. What we do not have is named
//! in a warning each; what would make code run elsewhere than the file says is refused.

use serde_json::{Map, Value};

use super::errors::Problem;
use super::file::ConfigFile;
use super::key_path::KeyPath;
use super::litellm_models::Deployments;
use super::litellm_tools::check_interceptor;
use super::litellm_variables::Variables;
use super::secrets::SecretText;
use super::section::Section;

#[derive(Debug)]
pub(crate) struct Understood {
    pub(crate) file: ConfigFile,
    pub(crate) warnings: Vec<Problem>,
}

/// Sections whose keys are all named when they hold anything.
const FOREIGN: [&str; 1] = ["router_settings"];

pub(crate) fn understand(mut fields: Map<String, Value>) -> Result<Understood, Problem> {
    let mut warnings = Vec::new();
    let variables = Variables::take(&mut fields)?;
    let mut top = Section::new(KeyPath::default(), Value::Object(fields))?;
    let models = top.list("model_list")?;
    let tools = top.list("sandbox_tools")?;
    let settings = top.section("litellm_settings")?;
    let general = top.section("general_settings")?;

    let mut seconds = None;
    let mut interceptor = None;
    let mut callbacks = Vec::new();
    if let Some(mut settings) = settings {
        seconds = settings.number("request_timeout")?;
        callbacks = settings.list("callbacks")?;
        interceptor = settings.section("code_interpreter_interception_params")?;
        if let Some(mut specific) = settings.section("callback_specific_params")? {
            let its = specific.section("code_interpreter_interception")?;
            interceptor = interceptor.or(its);
            specific.end(&mut warnings);
        }
        // Nothing of what is said is logged here in any case.
        settings.take("turn_off_message_logging");
        settings.end(&mut warnings);
    }
    let deployments = Deployments::read(models, seconds, &variables, &mut warnings)?;
    let providers = deployments.providers();
    let elsewhere = check_interceptor(tools, &callbacks, interceptor, providers, &variables, &mut warnings)?;

    let master_key = master_key(general, &variables, &mut warnings)?;
    let mut file = ConfigFile { master_key, ..ConfigFile::default() };
    deployments.put_into(&mut file);
    if let Some((name, backend)) = elsewhere {
        file.backend = Some(name.clone());
        file.backends.insert(name, backend);
    }
    for name in FOREIGN {
        if let Some(section) = top.section(name)? {
            section.end(&mut warnings);
        }
    }
    top.end(&mut warnings);
    variables.end(&mut warnings);
    Ok(Understood { file, warnings })
}

fn master_key(
    general: Option<Section>,
    variables: &Variables,
    warnings: &mut Vec<Problem>,
) -> Result<Option<SecretText>, Problem> {
    let from_environment = || variables.secret("LITELLM_MASTER_KEY");
    let Some(mut general) = general else { return Ok(from_environment()) };
    let path = general.path.key("master_key");
    let key = general.text("master_key")?.map(SecretText::new);
    general.end(warnings);
    match key {
        Some(key) => match key.find() {
            Ok(_) => Ok(Some(key)),
            Err(message) => Err(Problem::at(path, message)),
        },
        None => Ok(from_environment()),
    }
}

#[cfg(test)]
#[path = "litellm_tests.rs"]
mod tests;
