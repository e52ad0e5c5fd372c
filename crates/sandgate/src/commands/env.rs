//! `sandgate env`: the variables that point a client at this server, for a shell to take.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;

use anyhow::{Context, Result};
use sandgate_doors::e2b::PREFIX;
use sandgate_store::Store;

use crate::authority;
use crate::cli::EnvCommand;
use crate::config::{Certificate, Settings};
use crate::home;
use crate::session::runtime;

/// What a server without keys takes: any text.
const ANY_KEY: &str = "any";
/// The same in the form that older SDKs of E2B ask for.
const ANY_E2B_KEY: &str = "e2b_0000000000000000000000000000000000000000";

pub(crate) fn env(command: &EnvCommand) -> Result<ExitCode> {
    let (EnvCommand::E2b(server) | EnvCommand::OpenSandbox(server)) = command;
    let settings = Settings::load(&server.args())?;
    let takes_any = settings.master_key.is_none() && !runtime()?.block_on(has_keys())?;
    let (lines, is_e2b) = match command {
        EnvCommand::E2b(_) => (e2b(&settings, takes_any), true),
        EnvCommand::OpenSandbox(_) => (opensandbox(&settings, takes_any), false),
    };
    let mut out = std::io::stdout().lock();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    if is_e2b
        && let Some(tls) = &settings.e2b_tls
        && matches!(tls.from, Certificate::SelfMade { .. })
    {
        let home = home::place()?;
        let (bundle, authority) = (authority::bundle_path(&home), authority::certificate_path(&home));
        writeln!(out, "export SSL_CERT_FILE={}", quoted(&bundle.display()))?;
        writeln!(out, "export NODE_EXTRA_CA_CERTS={}", quoted(&authority.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether somebody made a key for this server.
async fn has_keys() -> Result<bool> {
    let home = home::place()?;
    // Nothing is made by looking: who asks before the first start leaves no data behind.
    if !Store::is_in(&home) {
        return Ok(false);
    }
    let store = Store::open_beside(&home).await;
    let store = store.with_context(|| format!("cannot use the store in {}", home.display()))?;
    Ok(store.has_keys().await?)
}

fn e2b(settings: &Settings, takes_any: bool) -> Vec<String> {
    let url = format!("http://{}{PREFIX}", reachable(settings.listen));
    let mut lines = Vec::new();
    match &settings.e2b.domain {
        // The names do it all; the addresses would only go before them.
        Some(domain) => lines.push(format!("export E2B_DOMAIN={}", quoted(domain))),
        None => lines.push(format!("export E2B_API_URL={url} E2B_SANDBOX_URL={url}")),
    }
    lines.extend(key(takes_any, "E2B_API_KEY", ANY_E2B_KEY));
    lines
}

fn opensandbox(settings: &Settings, takes_any: bool) -> Vec<String> {
    let address = reachable(settings.listen);
    let mut lines =
        vec![format!("export OPEN_SANDBOX_DOMAIN={address} OPEN_SANDBOX_API_BASE=http://{address}")];
    lines.extend(key(takes_any, "OPEN_SANDBOX_API_KEY", ANY_KEY));
    lines
}

/// A key in the variable of this name, where it is known that any will do.
fn key(takes_any: bool, name: &str, any: &str) -> Vec<String> {
    if takes_any {
        return vec![format!("export {name}=\"${{{name}:-{any}}}\"")];
    }
    vec![
        "# and a key of this server, from 'sandgate key create':".to_owned(),
        format!("# export {name}=sg-..."),
    ]
}

/// An address that stands for all of them is this machine for whoever is on it.
fn reachable(listens: SocketAddr) -> SocketAddr {
    let ip = match listens.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listens.port())
}

fn quoted(text: &dyn std::fmt::Display) -> String {
    format!("'{}'", text.to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
#[path = "env_tests.rs"]
mod tests;
