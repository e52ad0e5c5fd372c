//! The settings of a server: its YAML file, read strictly, with the options of the command line above it.
//! A configuration file of LiteLLM is understood as well.

mod approvals;
mod approvals_file;
mod backends;
mod backends_file;
mod connect;
mod e2b;
mod errors;
mod file;
mod key_path;
mod ledger_file;
mod litellm;
mod litellm_models;
mod litellm_tools;
mod litellm_variables;
mod network;
mod opensandbox;
mod places;
mod read;
mod schema;
mod secrets;
mod section;
mod settings;
mod telemetry;
mod upstreams;

use std::path::Path;

use anyhow::Result;

use crate::bad_input::BadInput;
use crate::cli::ServeArgs;
use errors::ConfigError;
use file::ConfigFile;
use litellm::Understood;
use places::Places;
use settings::check;

pub(crate) use backends::BackendSettings;
pub(crate) use e2b::{Certificate, TlsSettings};
pub(crate) use network::{PACKAGES, RegistriesFile};
pub(crate) use schema::schema;
pub(crate) use secrets::{Secret, SecretText};
pub(crate) use settings::Settings;
pub(crate) use telemetry::{LogFormat, TelemetrySettings};

impl Settings {
    /// The file, if one is named, and the options above it.
    pub(crate) fn load(args: &ServeArgs) -> Result<Self> {
        settings(args.config.as_deref(), args.listen.as_deref())
            .map_err(|error| BadInput::error(error.to_string()))
    }

    /// The file alone.
    pub(crate) fn load_file(path: &Path) -> Result<Self> {
        settings(Some(path), None).map_err(|error| BadInput::error(error.to_string()))
    }
}

fn settings(path: Option<&Path>, listen: Option<&str>) -> Result<Settings, ConfigError> {
    let Some(path) = path else {
        return check(&ConfigFile::default(), listen).map_err(ConfigError::Nowhere);
    };
    let text = std::fs::read_to_string(path)
        .map_err(|cause| ConfigError::Unreadable { file: path.to_owned(), cause })?;
    let is_litellm = read::has_key(path, &text, "model_list")?;
    let places = Places::of(&text);
    let at = |problem| ConfigError::placed(path, &places, problem);
    let Understood { file, mut warnings } = match is_litellm {
        true => litellm::understand(read::read(path, &text)?).map_err(at)?,
        false => Understood { file: read::read(path, &text)?, warnings: Vec::new() },
    };
    let mut settings = check(&file, listen).map_err(at)?;
    warnings.append(&mut settings.backends.warnings);
    settings.warnings = warnings.into_iter().map(|warning| at(warning).to_string()).collect();
    Ok(settings)
}
