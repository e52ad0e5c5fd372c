//! The program: reads the command line, does the one thing asked, and says in one sentence what went
//! wrong if something did.

#![forbid(unsafe_code)]

mod approvals_args;
mod authority;
mod bad_input;
mod cli;
mod code;
mod commands;
mod config;
mod connections;
mod home;
mod inputs;
mod interrupt;
mod keep;
mod key_args;
mod leaving;
mod ledger_args;
mod logging;
mod network_words;
mod out_folder;
mod printer;
mod progress;
mod reload;
mod session;
mod show;
mod size;
mod source_file;
mod start_check;
mod stop_signals;
mod telemetry;
mod terminal;
mod visible;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use bad_input::BadInput;
use cli::{Cli, Command};

/// As `timeout` and `docker run` have it: the tool itself failed, not the code it ran.
const ITSELF_FAILED: u8 = 125;
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    // First of all: a helper process started by the engine is this same program under another name,
    // and must become what it is before any thread or runtime exists.
    sandgate_engine::run_role_if_asked();

    let cli = Cli::parse();
    logging::start(matches!(cli.command, Command::Serve(_)));
    let (result, failed) = match cli.command {
        Command::Run(args) => (commands::run::run(args), ITSELF_FAILED),
        Command::Repl(args) => (commands::repl::repl(args), ITSELF_FAILED),
        Command::Doctor(args) => (commands::doctor::doctor(&args), 1),
        Command::Serve(args) => (commands::serve::serve(&args), 1),
        Command::Approvals(args) => (commands::approvals::approvals(&args), 1),
        Command::Key(args) => (commands::key::key(args), 1),
        Command::Ledger(args) => (commands::ledger::ledger(args), 1),
        Command::Env(command) => (commands::env::env(&command), 1),
        Command::Runtime(command) => (commands::runtime::runtime(&command), 1),
        Command::Config(command) => (commands::config::config(&command), 1),
    };
    result.unwrap_or_else(|error| {
        // `{:#}`: the error and its causes on one line.
        let _ = writeln!(std::io::stderr(), "sandgate: {error:#}");
        ExitCode::from(if error.is::<BadInput>() { BAD_INPUT } else { failed })
    })
}
