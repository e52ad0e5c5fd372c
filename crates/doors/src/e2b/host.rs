//! Which sandbox a host name means: `{port}-{id}.{domain}`, with `api.{domain}` for the control plane and
//! `sandbox.{domain}` for requests whose headers say which sandbox.

use axum::http::uri::Authority;

/// Browsers take every name below it for this machine.
const LOCAL: &str = "localhost";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Control,
    Sandbox {
        id: String,
        port: u16,
    },
    /// The headers say which.
    Shared,
    /// No name of this door's.
    Elsewhere,
}

/// `host`: as in the header. `domain`: as configured, perhaps with a port.
pub(super) fn place(domain: Option<&str>, host: &str) -> Place {
    let Ok(authority) = host.parse::<Authority>() else { return Place::Elsewhere };
    let host = authority.host().trim_end_matches('.').to_ascii_lowercase();
    let domain = domain.map(|domain| name_of(domain).to_ascii_lowercase());
    let below = |domain: &str| Some(host.strip_suffix(domain)?.strip_suffix('.')?.to_owned());
    if let Some(label) = domain.as_deref().and_then(below) {
        return match label.as_str() {
            "api" => Place::Control,
            "sandbox" => Place::Shared,
            label => sandbox(label).unwrap_or(Place::Elsewhere),
        };
    }
    below(LOCAL).and_then(|label| sandbox(&label)).unwrap_or(Place::Elsewhere)
}

/// Without its port.
pub(super) fn name_of(domain: &str) -> &str {
    domain.split_once(':').map_or(domain, |(name, _)| name)
}

fn sandbox(label: &str) -> Option<Place> {
    let (port, id) = label.split_once('-')?;
    Some(Place::Sandbox { id: sandbox_id(id)?.to_owned(), port: port_number(port)? })
}

/// Without what older clients put behind it. None: no id can look like this.
pub(super) fn sandbox_id(text: &str) -> Option<&str> {
    let id = text.split('-').next()?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (!id.is_empty() && id.len() <= 64 && id.chars().all(plain)).then_some(id)
}

pub(super) fn port_number(text: &str) -> Option<u16> {
    let digits = text.chars().all(|c| c.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0)
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
