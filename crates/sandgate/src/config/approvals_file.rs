//! The part of the configuration file on approvals, as written. The comments are those of its JSON Schema.

use sandgate_gate::Policy;
use schemars::JsonSchema;
use serde::Deserialize;

use super::secrets::SecretText;

/// Asked before code runs: rules, then a webhook, then a person.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ApprovalsFile {
    /// For code that no rule decides, where no webhook is asked.
    pub(crate) default: StanceFile,
    /// The first whose `when` holds decides.
    pub(crate) rules: Vec<RuleFile>,
    /// A program of yours that is asked over HTTP.
    pub(crate) webhook: Option<WebhookFile>,
    /// How long a person may take; then the code is denied.
    #[schemars(range(min = 1))]
    pub(crate) person_timeout_seconds: u64,
    /// How many executions may wait for a person at once, half of them of one owner; more are denied.
    #[schemars(range(min = 1))]
    pub(crate) max_held: usize,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StanceFile {
    #[default]
    Allow,
    Deny,
    /// The webhook if there is one, then a person.
    Ask,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleFile {
    /// For the log, and for the reason when there is none.
    pub(crate) name: String,
    /// An expression in CEL over code, imports, language, model, key.id, key.name, key.owner, container.id,
    /// container.name and door.
    pub(crate) when: String,
    pub(crate) then: StanceFile,
    /// What the model and the client are told.
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookFile {
    /// Where the question is posted; redirects are not followed.
    pub(crate) url: String,
    /// env:NAME, file:PATH, os.environ/NAME or the secret itself. Questions are signed with it as Standard
    /// Webhooks say; after whsec_ it is base64.
    pub(crate) secret: SecretText,
    /// From the first byte to the last; then the code is denied.
    #[serde(default = "timeout")]
    #[schemars(range(min = 1))]
    pub(crate) timeout_seconds: u64,
    /// Of what it is asked.
    #[serde(default)]
    pub(crate) when: WhenFile,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WhenFile {
    /// Of all code that no rule decides.
    #[default]
    Always,
    /// Only where a rule or the default says ask.
    Asked,
}

fn timeout() -> u64 {
    10
}

impl Default for ApprovalsFile {
    fn default() -> Self {
        let usual = Policy::default();
        Self {
            default: StanceFile::Allow,
            rules: Vec::new(),
            webhook: None,
            person_timeout_seconds: usual.person.as_secs(),
            max_held: usual.most_held,
        }
    }
}
