//! Certificates for E2B's domain: from files, or from an authority of this home's own, which is made once and
//! which clients are told to trust.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, NameConstraints,
};
use sandgate_doors::Tls;
use time::{Duration, OffsetDateTime};

use crate::bad_input::BadInput;
use crate::config::Certificate;

const FOLDER: &str = "authority";
const CERTIFICATE: &str = "ca.pem";
const KEY: &str = "ca.key";
/// The domain that the authority may speak for.
const DOMAIN: &str = "ca.domain";
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
    let (certificate, key) = authority(&folder, domain)?;
    let system = SYSTEM.iter().find_map(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    write_private(&folder.join(BUNDLE), &format!("{system}\n{certificate}"))?;
    let issuer = Issuer::new(authority_params(domain), KeyPair::from_pem(&key)?);

    let mut params = CertificateParams::new(vec![domain.to_owned(), format!("*.{domain}")])?;
    params.distinguished_name.push(DnType::CommonName, domain);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let now = OffsetDateTime::now_utc();
    (params.not_before, params.not_after) = (now - BEFORE, now + A_YEAR);
    let own = KeyPair::generate()?;
    let signed = params.signed_by(&own, &issuer)?;
    Ok(Tls::from_pem(format!("{}{certificate}", signed.pem()).as_bytes(), own.serialize_pem().as_bytes())?)
}

/// The one of this folder, made if there is none for the domain.
fn authority(folder: &Path, domain: &str) -> Result<(String, String)> {
    let (certificate, key) = (folder.join(CERTIFICATE), folder.join(KEY));
    let is_for = fs::read_to_string(folder.join(DOMAIN)).is_ok_and(|made_for| made_for == domain);
    if is_for && certificate.exists() && key.exists() {
        return Ok((fs::read_to_string(certificate)?, fs::read_to_string(key)?));
    }
    let mut params = authority_params(domain);
    let now = OffsetDateTime::now_utc();
    (params.not_before, params.not_after) = (now - BEFORE, now + YEARS);
    let pair = KeyPair::generate()?;
    let made = params.self_signed(&pair)?;
    // The key first: a certificate without one would be trusted and of no use.
    write_private(&key, &pair.serialize_pem())?;
    write_private(&certificate, &made.pem())?;
    write_private(&folder.join(DOMAIN), domain)?;
    Ok((made.pem(), pair.serialize_pem()))
}

/// Who it is; the same for as long as its certificate lives.
fn authority_params(domain: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "Sandgate development authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    // Whoever gets hold of the key speaks for nobody else to those who trust it.
    params.name_constraints = Some(NameConstraints {
        permitted_subtrees: vec![GeneralSubtree::DnsName(domain.to_owned())],
        excluded_subtrees: Vec::new(),
    });
    params
}

/// In one step: nobody ever reads half of it.
fn write_private(path: &Path, text: &str) -> Result<()> {
    let beside = path.with_extension(format!("{}.tmp", sandgate_core::random_hex(8)));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    Ok(written?)
}

#[cfg(test)]
#[path = "authority_tests.rs"]
mod tests;
