//! The command line: what may be asked, and the help for it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Parser, Subcommand};

use crate::approvals_args::ApprovalsArgs;
use crate::key_args::KeyArgs;
use crate::ledger_args::LedgerArgs;
use crate::network_words;
use crate::size;

#[derive(Debug, Parser)]
#[command(name = "sandgate", version, about = "Runs code nobody trusts in a real sandbox, in milliseconds")]
#[command(propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Data lives under SANDGATE_HOME (default: $XDG_DATA_HOME/sandgate or ~/.local/share/sandgate)."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run code in a sandbox and show what it says
    Run(RunArgs),
    /// An interactive prompt in a sandbox
    Repl(ReplArgs),
    /// Try every isolation layer, limit and runtime on this machine
    Doctor(DoctorArgs),
    /// Serve sandboxes over HTTP
    Serve(ServeArgs),
    /// Make, list, limit and revoke keys
    Key(KeyArgs),
    /// See and decide what waits for a person
    Approvals(ApprovalsArgs),
    /// Read what was asked, and what was done for it
    Ledger(LedgerArgs),
    /// Print the variables that point a client at this server
    #[command(subcommand)]
    Env(EnvCommand),
    /// Add, list and remove the languages beside Python
    #[command(subcommand)]
    Runtime(RuntimeCommand),
    /// Check a configuration file, or print the schema of one
    #[command(subcommand)]
    Config(ConfigCommand),
}

const RUN_HELP: &str = "\
Examples:
  sandgate run -c 'print(6*7)'
  sandgate run analysis.py --file data.csv --out results
  sandgate run --language bash -c 'echo $PWD'
  echo 'import sys; sys.version' | sandgate run -
  sandgate run -c 'open(\"b.txt\").read()' --file a.txt=b.txt --timeout 5 --memory 512m --json

Exit codes: 0 the code ended well, 1 it raised, 2 wrong usage, 124 timeout, 125 sandgate itself failed,
130 interrupted, 137 memory limit; otherwise what the code exited with, or 128 plus its signal.
Ctrl-C interrupts the code; a second Ctrl-C kills it.";

#[derive(Debug, Args)]
#[command(after_help = RUN_HELP, group = ArgGroup::new("what").required(false))]
pub(crate) struct RunArgs {
    /// The code itself
    #[arg(short = 'c', value_name = "CODE", group = "what", allow_hyphen_values = true)]
    pub(crate) code: Option<OsString>,
    /// A file with the code; '-' or nothing reads standard input
    #[arg(value_name = "FILE", group = "what")]
    pub(crate) source: Option<PathBuf>,
    /// Print one JSON object with the whole result instead of the output
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

const REPL_HELP: &str = "\
Enter runs the input once it is complete; a block of Python ends with an empty line, and its magics work
(%timeit, %%bash, !ls). --language java has JShell's manners. Ctrl-C clears the input or interrupts the code (twice kills it), Ctrl-D leaves.";

#[derive(Debug, Args)]
#[command(after_help = REPL_HELP)]
pub(crate) struct ReplArgs {
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SandboxArgs {
    /// Put a file into the working directory, under NAME if given; may be repeated
    #[arg(long = "file", value_name = "PATH[=NAME]")]
    pub(crate) files: Vec<OsString>,
    /// Bring new and changed files and images out into this folder; what is there stays, a name that is taken
    /// gets a number
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Seconds one execution may take [default: 60; repl: 3600]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Memory the sandbox may use, such as 512m, 1g or 1.5GiB [default: 1g]
    #[arg(long, value_name = "SIZE", value_parser = size::memory)]
    pub(crate) memory: Option<u64>,
    /// The language of the code: python, bash, javascript, typescript, java, go or r [default: as the name of the file
    /// ends, else python]
    #[arg(long, value_name = "NAME")]
    pub(crate) language: Option<String>,
    /// What the code may reach: a host (example.org, *.example.org, example.org:8443), a range of addresses, registries
    /// for the package registries, open, or disabled for nothing; may be repeated, and separated by commas [default: nothing]
    #[arg(long, value_name = "TARGET", value_delimiter = ',', value_parser = network_words::word)]
    pub(crate) network: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "The exit code is 0 when everything that is required is on, 1 otherwise.")]
pub(crate) struct DoctorArgs {
    /// Print the checks as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Also run a line of code on each backend of this configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

const SERVE_HELP: &str = "\
Example:
  sandgate serve &
  curl localhost:4000/v1/execute --json '{\"code\": \"print(6*7)\"}'
  OPENAI_BASE_URL=http://127.0.0.1:4000/v1 OPENAI_API_KEY=any python my_client.py

Without an upstream below, OPENAI_API_KEY in the environment makes OpenAI the upstream; without that too,
a built-in stand-in runs the fenced code of the last message.

The configuration file is YAML; every key is optional:
  listen: 127.0.0.1:4000
  idle_seconds: 1200      # then a container's processes are given back; its files stay
  max_live: 1000          # sandboxes running at once
  pool: 4                 # sandboxes kept ready
  keep_days: 30           # how long the files of an unused container are kept
  log: info               # error, warn, info, debug; RUST_LOG goes before it
  log_format: text        # or json: an object per line
  stop_grace_seconds: 6   # for requests under way, after SIGTERM
  telemetry: {otlp_endpoint: http://localhost:4318, otlp_headers: {x-key: env:NAME}, metrics_open: false}
  master_key: env:NAME    # else SANDGATE_MASTER_KEY; with it, or after 'sandgate key create', every request
                          # needs a key; beyond this machine a server listens only with it
  limits: {memory_bytes: 1073741824, processes: 128, cpu_millis: 1000, wall: 60}
  upstream: {url: http://localhost:8000/v1, api: responses, key: env:MODEL_KEY, timeout_seconds: 600}
  backend: embedded       # where code runs for which nobody names a backend: this program, or one of 'backends'
  backends:               # sandboxes that others run; docs/backends.md has all of it
    cloud: {type: e2b, key: env:E2B_API_KEY, network: disabled, fallback: [embedded]}  # or opensandbox, daytona
  embedded: true          # false: no engine in this program, and all code runs elsewhere
  gate: {rounds: 20, execution_seconds: 60, total_seconds: 3600, model_output_bytes: 32768,
         executions_per_owner: 64, max_memory_bytes: 4294967296, max_upload_bytes: 536870912,
         max_body_bytes: 67108864, strict_containers: false}
  approvals:              # asked before code runs: rules, then a webhook, then a person
    default: allow        # or deny, ask: for code that no rule decides
    rules: [{name: short, when: size(code) > 20000, then: deny, reason: write shorter programs}]
    webhook: {url: https://example.org/approve, secret: env:HOOK_SECRET, timeout_seconds: 10, when: always}
    person_timeout_seconds: 300
  ledger:                 # a record of each request and what was done for it: 'sandgate ledger --help'
    {enabled: true, passed: true, code: false, connections: false, keep_days: 30}  # 'code': with code and output
  network:                # what sandboxes may reach; without it nothing. docs/network.md has all of it
    {default: [], ceiling: [registries, '*.example.org'], deny: [], allow_private: [], dns: [],
     registries: {}, limits: {connections: 128}}
  e2b: {domain: 'sbx.example:8443', tls: {cert: FILE, key: FILE}, templates: [], max_timeout_seconds: 86400,
        open_ports: false}  # in place of 'tls', for development: self_signed: true
  opensandbox: {images: [team/app], max_timeout_seconds: 86400, max_cpu_millis: 4000}
'api' is 'responses', 'chat' or 'loopback'; 'key' is env:NAME, file:PATH, os.environ/NAME or the key itself,
and without it each client's own key is passed on. More of an upstream: connect_timeout_seconds, headers,
max_tokens_field.

Several upstreams, in place of 'upstream':
  upstreams: {main: {url: https://api.openai.com/v1, key: env:OPENAI_API_KEY},
              local: {url: http://localhost:8000/v1, api: chat}}
  models:
    - {name: gpt-5, upstream: main, model: gpt-5-2026}  # 'model' is its name there
    - {name: small, upstream: local}                    # listed twice, the load is spread
    - {name: '*', upstream: main}                       # all other names

A configuration file of LiteLLM (with 'model_list') is taken as it is. SIGHUP reads the file again:
upstreams, models, approvals, ledger, log and the gate's limits change at once, and no request is dropped.
'sandgate config check FILE' tries a file; 'sandgate config schema' prints its JSON Schema.";

#[derive(Clone, Debug, Args)]
#[command(after_help = SERVE_HELP)]
pub(crate) struct ServeArgs {
    /// Address to listen on; beyond this machine only with a master_key [default: 127.0.0.1:4000]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<String>,
    /// Configuration file, ours or LiteLLM's
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EnvCommand {
    /// For E2B's SDKs: eval "$(sandgate env e2b)"
    E2b(WhichServer),
    /// For OpenSandbox's SDKs: eval "$(sandgate env opensandbox)"
    #[command(name = "opensandbox")]
    OpenSandbox(WhichServer),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct WhichServer {
    /// The configuration that the server was started with
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The address that the server listens on, when the configuration does not say
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
}

impl WhichServer {
    pub(crate) fn args(&self) -> ServeArgs {
        ServeArgs { listen: self.listen.clone(), config: self.config.clone() }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum RuntimeCommand {
    /// Make runtimes from the registries of packages: node (JavaScript, TypeScript), java, go, r. A running server
    /// has them at once. Several versions can stand side by side: node@20, go@1.24, java@17
    Add {
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
    /// What there is, and how to add what is missing
    List,
    /// Remove runtimes from the disk
    Remove {
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Read a file as 'serve' would and say what it means; the exit code is 2 when it cannot be used
    Check {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print the JSON Schema of the file, for editors
    Schema,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 =
        text.parse().map_err(|_| "a number of seconds is wanted, such as 10 or 0.5".to_owned())?;
    match Duration::try_from_secs_f64(number) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("it must be more than 0 seconds".to_owned()),
    }
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod tests;
