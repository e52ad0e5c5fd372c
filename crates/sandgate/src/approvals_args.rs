//! The command line of `sandgate approvals`.

use clap::{Args, Subcommand};

const HELP: &str = "\
Examples:
  sandgate approvals list --wait
  sandgate approvals approve appr_0123…
  sandgate approvals deny appr_0123… --reason 'not on a Friday'

They ask a running server, with its master key.";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    pub(crate) command: ApprovalsCommand,
    /// Where the server is
    #[arg(
        long,
        value_name = "URL",
        global = true,
        env = "SANDGATE_URL",
        default_value = "http://127.0.0.1:4000"
    )]
    pub(crate) server: String,
    /// The master key: env:NAME or file:PATH
    #[arg(long, value_name = "SECRET", global = true, default_value = "env:SANDGATE_MASTER_KEY")]
    pub(crate) key: String,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Code that waits for a person, oldest first
    List {
        /// Wait until there is some
        #[arg(long)]
        wait: bool,
    },
    /// Let it run
    Approve {
        id: String,
        /// For the records
        #[arg(long)]
        reason: Option<String>,
    },
    /// Do not let it run
    Deny {
        id: String,
        /// Told to the model
        #[arg(long)]
        reason: Option<String>,
    },
}
