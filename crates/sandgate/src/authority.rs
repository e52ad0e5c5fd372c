//! Certificates for E2B's domain: from files, or from an authority of this home's own, which is made once and
//! which clients are told to trust.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use sandgate_doors::Tls;
use time::{Duration, OffsetDateTime};

use crate::bad_input::BadInput;
use crate::config::Certificate;

const FOLDER: &str = "authority";
const CERTIFICATE: &str = "ca.pem";
const KEY: &str = "ca.key";
/// The authority, and before it those that this machine trusts anyway: some clients trust what they are named alone.
const BUNDLE: &str = "with-ca.pem";
/// Where distributions keep those.
const SYSTEM: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];
const YEARS: Duration = Duration::days(10 * 365);
/// What clients take of a server's own certificate at most.
const A_YEAR: Duration = Duration::days(365);
/// Clocks differ.
const BEFORE: Duration = Duration::days(1);

/// What clients must trust.
pub(crate) fn certificate_path(home: &Path) -> PathBuf {
    home.join(FOLDER).join(CERTIFICATE)
}

/// The same, for clients that trust nothing else then.
pub(crate) fn bundle_path(home: &Path) -> PathBuf {
    home.join(FOLDER).join(BUNDLE)
}

pub(crate) fn tls(from: &Certificate, home: &Path) -> Result<Tls> {
    match from {
        Certificate::Files { cert, key } => {
            let read = |path: &Path| {
                fs::read(path)
                    .map_err(|error| BadInput::error(format!("cannot read {}: {error}", path.display())))
            };
            Tls::from_pem(&read(cert)?, &read(key)?).map_err(|error| {
                BadInput::error(format!("{} and {}: {error}", cert.display(), key.display()))
            })
        }
        Certificate::SelfMade { domain } => {
            let tls = self_made(home, domain).context("a certificate for E2B's domain could not be made")?;
            tracing::info!(
                "the certificate of {domain} is this server's own making: clients must trust {}",
                certificate_path(home).display()
            );
            Ok(tls)
        }
    }
}

fn self_made(home: &Path, domain: &str) -> Result<Tls> {
    let folder = home.join(FOLDER);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let (certificate, key) = authority(&folder)?;
    let system = SYSTEM.iter().find_map(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    write_private(&folder.join(BUNDLE), &format!("{system}\n{certificate}"))?;
    let issuer = Issuer::new(authority_params(), KeyPair::from_pem(&key)?);

    let mut params = CertificateParams::new(vec![domain.to_owned(), format!("*.{domain}")])?;
    params.distinguished_name.push(DnType::CommonName, domain);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let now = OffsetDateTime::now_utc();
    (params.not_before, params.not_after) = (now - BEFORE, now + A_YEAR);
    let own = KeyPair::generate()?;
    let signed = params.signed_by(&own, &issuer)?;
    Ok(Tls::from_pem(format!("{}{certificate}", signed.pem()).as_bytes(), own.serialize_pem().as_bytes())?)
}

/// The one of this folder, made if there is none.
fn authority(folder: &Path) -> Result<(String, String)> {
    let (certificate, key) = (folder.join(CERTIFICATE), folder.join(KEY));
    if certificate.exists() && key.exists() {
        return Ok((fs::read_to_string(certificate)?, fs::read_to_string(key)?));
    }
    let mut params = authority_params();
    let now = OffsetDateTime::now_utc();
    (params.not_before, params.not_after) = (now - BEFORE, now + YEARS);
    let pair = KeyPair::generate()?;
    let made = params.self_signed(&pair)?;
    // The key first: a certificate without one would be trusted and of no use.
    write_private(&key, &pair.serialize_pem())?;
    write_private(&certificate, &made.pem())?;
    Ok((made.pem(), pair.serialize_pem()))
}

/// Who it is; the same for as long as its certificate lives.
fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "Sandgate development authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn write_private(path: &Path, text: &str) -> Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(())
}

#[cfg(test)]
#[path = "authority_tests.rs"]
mod tests;
