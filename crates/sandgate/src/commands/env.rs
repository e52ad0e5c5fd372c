//! `sandgate env`: the variables that point a client at this server, for a shell to take.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;

use anyhow::Result;
use sandgate_doors::e2b::PREFIX;

use crate::authority;
use crate::cli::EnvCommand;
use crate::config::{Certificate, Settings};
use crate::home;

/// What a server without keys takes: any text.
const ANY_KEY: &str = "any";

pub(crate) fn env(command: &EnvCommand) -> Result<ExitCode> {
    let (EnvCommand::E2b(server) | EnvCommand::OpenSandbox(server)) = command;
    let settings = Settings::load(&server.args())?;
    let (lines, is_e2b) = match command {
        EnvCommand::E2b(_) => (e2b(&settings), true),
        EnvCommand::OpenSandbox(_) => (opensandbox(&settings), false),
    };
    let mut out = std::io::stdout().lock();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    if is_e2b
        && let Some(tls) = &settings.e2b_tls
        && matches!(tls.from, Certificate::SelfMade { .. })
    {
        let home = home::open()?;
        let (bundle, authority) = (authority::bundle_path(&home), authority::certificate_path(&home));
        writeln!(out, "export SSL_CERT_FILE={}", quoted(&bundle.display()))?;
        writeln!(out, "export NODE_EXTRA_CA_CERTS={}", quoted(&authority.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn e2b(settings: &Settings) -> Vec<String> {
    let url = format!("http://{}{PREFIX}", reachable(settings.listen));
    let mut lines = Vec::new();
    match &settings.e2b.domain {
        // The names do it all; the addresses would only go before them.
        Some(domain) => lines.push(format!("export E2B_DOMAIN={}", quoted(domain))),
        None => lines.push(format!("export E2B_API_URL={url} E2B_SANDBOX_URL={url}")),
    }
    lines.extend(key(settings, "E2B_API_KEY"));
    lines
}

fn opensandbox(settings: &Settings) -> Vec<String> {
    let address = reachable(settings.listen);
    let mut lines =
        vec![format!("export OPEN_SANDBOX_DOMAIN={address} OPEN_SANDBOX_API_BASE=http://{address}")];
    lines.extend(key(settings, "OPEN_SANDBOX_API_KEY"));
    lines
}

/// A key in the variable of this name, where it is known that any will do.
fn key(settings: &Settings, name: &str) -> Vec<String> {
    if settings.master_key.is_none() {
        return vec![format!("export {name}=\"${{{name}:-{ANY_KEY}}}\"")];
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
