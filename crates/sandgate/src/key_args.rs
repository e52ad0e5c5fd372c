//! The command line of `sandgate key`.

use clap::{Args, Subcommand, ValueEnum};
use sandgate_core::KeyLimits;

use crate::network_words;
use crate::size;

const HELP: &str = "\
Examples:
  sandgate key create ci --requests-per-minute 60 --containers 10 --expires 30d
  sandgate key create ci-2 --owner key_0123…      # another key for what the first one made
  sandgate key create ci-3 --network '*.example.org,registries'
  sandgate key list --json
  sandgate key limit key_0123… --models 'gpt-5*' --memory 4g
  sandgate key limit key_0123… --unset containers,network   # no bound of its own any more
  sandgate key revoke key_0123…

They work on the store of SANDGATE_HOME, also while a server runs on it, which sees every change at once.
As soon as there has been one key, a server lets nobody in without one.";

/// For those who look for a word that takes a limit off.
const UNSET: &str = "; 'sandgate key limit ID --unset LIMIT' takes a limit off";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    pub(crate) command: KeyCommand,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key; it is shown this once
    Create {
        /// What it is called
        name: String,
        /// Whose things it works on, together with this owner's other keys [default: its own]
        #[arg(long, value_name = "NAME")]
        owner: Option<String>,
        /// When it ends, such as 3600, 12h or 30d [default: never]
        #[arg(long, value_name = "TIME", value_parser = seconds)]
        expires: Option<u64>,
        #[command(flatten)]
        limits: LimitArgs,
    },
    /// All keys, those that have ended too
    List,
    /// One key
    Show { id: String },
    /// Change limits of a key; those that are not named stay
    Limit {
        id: String,
        #[command(flatten)]
        limits: LimitArgs,
        // A word of its own, as 'none' for a limit could be read as nothing at all or as no limit.
        /// Limits to take off; may be repeated, and separated by commas
        #[arg(long, value_name = "LIMIT", value_delimiter = ',')]
        unset: Vec<LimitName>,
    },
    /// End a key, at once and for good
    Revoke { id: String },
}

/// A limit as its option is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LimitName {
    Models,
    RequestsPerMinute,
    Executions,
    Sandboxes,
    Containers,
    Memory,
    Network,
    Backend,
    LogCode,
}

impl LimitName {
    pub(crate) fn take_off(self, limits: &mut KeyLimits) {
        match self {
            Self::Models => limits.models = None,
            Self::RequestsPerMinute => limits.requests_per_minute = None,
            Self::Executions => limits.executions = None,
            Self::Sandboxes => limits.sandboxes = None,
            Self::Containers => limits.containers = None,
            Self::Memory => limits.memory_bytes = None,
            Self::Network => limits.network = None,
            Self::Backend => limits.backend = None,
            Self::LogCode => limits.log_code = None,
        }
    }
}

#[derive(Debug, Default, Args)]
pub(crate) struct LimitArgs {
    /// Models it may use, with * for any text; may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    models: Vec<String>,
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    requests_per_minute: Option<u32>,
    /// Executions at once
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    executions: Option<u32>,
    /// Sandboxes running at once
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    sandboxes: Option<u32>,
    /// Containers, asleep or not
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    containers: Option<u32>,
    /// Memory of one container, such as 512m or 4g
    #[arg(long, value_name = "SIZE", value_parser = size::memory)]
    memory: Option<u64>,
    /// The most that its containers reach: a host (example.org, *.example.org, example.org:8443), a range of addresses,
    /// registries for the package registries, open, or disabled for nothing; may be repeated, and separated by commas
    #[arg(long, value_name = "TARGET", value_delimiter = ',', value_parser = network_words::word)]
    network: Vec<String>,
    /// The backend that its code runs on, and no other
    #[arg(long, value_name = "NAME", value_parser = backend)]
    backend: Option<String>,
    /// Whether the ledger's records hold code and output, whatever the configuration says
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    log_code: Option<bool>,
    /// Whether it may sign in to the console
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    console: Option<bool>,
}

impl LimitArgs {
    /// What is named here goes over what is there.
    pub(crate) fn over(self, limits: KeyLimits) -> KeyLimits {
        KeyLimits {
            models: if self.models.is_empty() { limits.models } else { Some(self.models) },
            requests_per_minute: self.requests_per_minute.or(limits.requests_per_minute),
            executions: self.executions.or(limits.executions),
            sandboxes: self.sandboxes.or(limits.sandboxes),
            containers: self.containers.or(limits.containers),
            memory_bytes: self.memory.or(limits.memory_bytes),
            network: if self.network.is_empty() { limits.network } else { Some(self.network) },
            backend: self.backend.or(limits.backend),
            asked_backend: limits.asked_backend,
            log_code: self.log_code.or(limits.log_code),
            console: self.console.unwrap_or(limits.console),
        }
    }
}

fn number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("a whole number is wanted{UNSET}"))
}

fn backend(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err(format!("the name of a backend is wanted{UNSET}")),
        name => Ok(name.to_owned()),
    }
}

/// A time as people write it.
fn seconds(text: &str) -> Result<u64, String> {
    let units = [("d", 24 * 60 * 60), ("h", 60 * 60), ("m", 60), ("s", 1)];
    let (number, unit) = units
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))
        .unwrap_or((text, 1));
    match number.parse::<u64>() {
        Ok(number) if number > 0 => Ok(number.saturating_mul(unit)),
        _ => Err("a time of at least a second is wanted, such as 3600, 12h or 30d".to_owned()),
    }
}

#[cfg(test)]
#[path = "key_args_tests.rs"]
mod tests;
