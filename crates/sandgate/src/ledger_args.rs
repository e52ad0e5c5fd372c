//! The command line of `sandgate ledger`.

use clap::{Args, Subcommand};
use sandgate_core::Owner;
use sandgate_doors::admin::{STATUSES, when};
use sandgate_store::LedgerFilter;

const HELP: &str = "\
Examples:
  sandgate ledger list --since 24h --status failed
  sandgate ledger show req_0123…              # a request and all that was done for it
  sandgate ledger export --since 7d > ledger.jsonl

They read the store of SANDGATE_HOME, also while a server runs on it, which writes within a tenth of a second.
Times are seconds since 1970, 2026-01-31, 2026-01-31T12:00:00Z or, for so long ago, 90m, 24h or 7d.";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct LedgerArgs {
    #[command(subcommand)]
    pub(crate) command: LedgerCommand,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// The newest records
    List {
        #[command(flatten)]
        filter: FilterArgs,
        /// How many
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        limit: usize,
    },
    /// What a client knows under this x-request-id, with all that was done for it
    Show { request: String },
    /// Every record as a line of JSON, the oldest first
    Export {
        #[command(flatten)]
        filter: FilterArgs,
    },
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FilterArgs {
    /// The x-request-id
    #[arg(long, value_name = "ID")]
    request: Option<String>,
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    #[arg(long, value_name = "ID")]
    key: Option<String>,
    #[arg(long, value_parser = sandgate_store::KINDS)]
    kind: Option<String>,
    #[arg(long, value_parser = STATUSES)]
    status: Option<String>,
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    #[arg(long, value_name = "ID")]
    container: Option<String>,
    /// What began at this time or later
    #[arg(long, value_name = "TIME", value_parser = when)]
    since: Option<u64>,
    /// What began before
    #[arg(long, value_name = "TIME", value_parser = when)]
    until: Option<u64>,
}

impl From<FilterArgs> for LedgerFilter {
    fn from(args: FilterArgs) -> Self {
        Self {
            request: args.request,
            owner: args.owner.map(Owner::from_stored),
            key: args.key,
            kind: args.kind,
            status: args.status,
            model: args.model,
            container: args.container,
            since_ms: args.since,
            until_ms: args.until,
            request_part: None,
        }
    }
}
