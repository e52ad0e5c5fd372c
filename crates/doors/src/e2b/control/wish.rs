//! The body of a request for a sandbox.

use std::collections::BTreeMap;

use sandgate_core::OnEnd;
use serde_json::Value;

use super::super::E2bSettings;
use super::super::error::{E2bError, E2bResult};
use super::body::Fields;
use super::network::Asked;
use crate::lent::{LARGEST_TEXTS, are_too_large};

#[derive(Debug)]
pub(super) struct Wish {
    pub(super) template: String,
    /// Seconds.
    pub(super) timeout: u64,
    pub(super) on_end: OnEnd,
    pub(super) auto_resume: bool,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) network: Option<Value>,
    pub(super) allow_internet: Option<bool>,
    /// The two of them together.
    pub(super) reach: Asked,
}

impl Wish {
    /// `usual`: seconds it lasts when nothing is said.
    pub(super) fn read(fields: &Fields, usual: u64, settings: &E2bSettings) -> E2bResult<Self> {
        let template = fields.text("templateID")?.filter(|template| !template.is_empty());
        let template = template.ok_or_else(|| E2bError::bad_request("'templateID' is missing"))?;
        let timeout =
            timeout(fields, "timeout", settings)?.unwrap_or(usual).min(settings.max_timeout.as_secs());
        fields.refuse("volumeMounts", "this server has no volumes")?;
        fields.refuse("iam", "this server gives sandboxes no identity")?;
        fields.refuse("mcp", "this server has no MCP gateway for sandboxes")?;
        let allow_internet = fields.flag("allow_internet_access")?;
        let reach = Asked::read(fields.object("network")?, allow_internet)?;
        let resume = fields.object("autoResume")?.and_then(|resume| resume.get("enabled"));
        let env: BTreeMap<_, _> = fields.texts("envVars")?.into_iter().collect();
        for name in env.keys() {
            check_variable(name)?;
        }
        if env.values().any(|value| value.contains('\0')) {
            return Err(E2bError::bad_request("a value in 'envVars' holds a NUL byte"));
        }
        let metadata: BTreeMap<_, _> = fields.texts("metadata")?.into_iter().collect();
        for (name, texts) in [("envVars", &env), ("metadata", &metadata)] {
            if are_too_large(texts) {
                return Err(E2bError::bad_request(format!("'{name}' may have {LARGEST_TEXTS} bytes in all")));
            }
        }
        let auto_resume = resume == Some(&Value::Bool(true));
        let on_end = match (fields.flag("autoPause")?, fields.flag("autoPauseMemory")?) {
            (Some(true), Some(false)) => OnEnd::PauseFiles,
            (Some(true), _) => OnEnd::Pause,
            (Some(false) | None, _) => OnEnd::Delete,
        };
        if auto_resume && on_end == OnEnd::PauseFiles {
            return Err(E2bError::bad_request(
                "'autoPauseMemory': a sandbox that is paused without its memory cannot be resumed by traffic ('autoResume')",
            ));
        }
        Ok(Self {
            template: template.to_owned(),
            timeout,
            on_end,
            auto_resume,
            metadata,
            env,
            network: fields.object("network")?.map(|network| Value::Object(network.clone())),
            allow_internet,
            reach,
        })
    }
}

fn check_variable(name: &str) -> E2bResult<()> {
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(E2bError::bad_request(format!("'envVars': '{name}' is no name of a variable")));
    }
    Ok(())
}

/// Seconds, within what a sandbox may last.
pub(super) fn timeout(fields: &Fields, name: &str, settings: &E2bSettings) -> E2bResult<Option<u64>> {
    let most = settings.max_timeout.as_secs();
    match fields.number(name)? {
        Some(seconds) if seconds > most => Err(E2bError::bad_request(format!(
            "'{name}' cannot be greater than {most} seconds on this server"
        ))),
        other => Ok(other),
    }
}
