//! The keys of the E2B door, checked.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use sandgate_doors::e2b::E2bSettings;

use super::errors::Problem;
use super::file::E2bFile;
use super::key_path::KeyPath;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TlsSettings {
    pub(crate) listen: SocketAddr,
    pub(crate) from: Certificate,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Certificate {
    Files {
        cert: PathBuf,
        key: PathBuf,
    },
    /// Made for the domain by an authority of this home's own.
    SelfMade {
        domain: String,
    },
}

/// Where HTTPS is when a domain names no port.
const HTTPS: u16 = 443;

/// `listens`: where the server listens without TLS; `address`: reads one, and refuses it where it must not be.
pub(super) fn check(
    file: &E2bFile,
    listens: SocketAddr,
    address: impl Fn(&str) -> Result<SocketAddr, String>,
) -> Result<(E2bSettings, Option<TlsSettings>), Problem> {
    let path = KeyPath::of("e2b");
    if file.max_timeout_seconds == 0 {
        return Err(Problem::at(path.key("max_timeout_seconds"), "must be at least 1"));
    }
    let settings = E2bSettings {
        domain: file.domain.clone(),
        templates: file.templates.iter().cloned().collect(),
        max_timeout: Duration::from_secs(file.max_timeout_seconds),
        open_ports: file.open_ports,
    };
    let Some(domain) = &file.domain else {
        return match (&file.tls, file.self_signed, &file.listen) {
            (None, false, None) => Ok((settings, None)),
            _ => Err(Problem::at(path, "'tls', 'self_signed' and 'listen' need a 'domain'")),
        };
    };
    let port = port_of(domain).map_err(|message| Problem::at(path.key("domain"), message))?;
    let from = match (&file.tls, file.self_signed) {
        (Some(_), true) => {
            return Err(Problem::at(path.key("self_signed"), "there is 'tls' too; one of them is enough"));
        }
        (Some(tls), false) => Certificate::Files { cert: tls.cert.clone(), key: tls.key.clone() },
        (None, true) => Certificate::SelfMade { domain: name_of(domain).to_owned() },
        // Somebody else speaks TLS before this server.
        (None, false) if file.listen.is_none() => return Ok((settings, None)),
        (None, false) => {
            let message = "this is where TLS is spoken: 'tls' or 'self_signed' is missing";
            return Err(Problem::at(path.key("listen"), message));
        }
    };
    let listen = match &file.listen {
        Some(text) => address(text).map_err(|message| Problem::at(path.key("listen"), message))?,
        None => SocketAddr::new(listens.ip(), port.unwrap_or(HTTPS)),
    };
    Ok((settings, Some(TlsSettings { listen, from })))
}

fn name_of(domain: &str) -> &str {
    domain.split_once(':').map_or(domain, |(name, _)| name)
}

/// The port a domain names, if it is a domain.
fn port_of(domain: &str) -> Result<Option<u16>, String> {
    let (name, port) = match domain.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (domain, None),
    };
    let plain = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') && label.len() <= 63
    };
    if !name.split('.').all(plain) || name.parse::<IpAddr>().is_ok() {
        return Err(format!("'{domain}' is no domain; such as sbx.example or sbx.example:8443"));
    }
    match port.map(str::parse::<u16>) {
        None => Ok(None),
        Some(Ok(port)) if port != 0 => Ok(Some(port)),
        Some(_) => Err(format!("'{domain}' names no port behind the colon")),
    }
}

#[cfg(test)]
#[path = "e2b_tests.rs"]
mod tests;
