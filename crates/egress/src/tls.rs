//! TLS at both ends, for the few domains that have secrets: towards the server verified as everywhere, towards the
//! sandbox with a certificate of an authority that this sandbox alone trusts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use sandgate_core::network::DomainSecret;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::EgressError;
use crate::denied::Wanted;
use crate::secrets::Unsaid;
use crate::tunnel::Stream;

const PATIENCE: Duration = Duration::from_secs(10);
/// Certificates kept for names; a wildcard has no end of them.
const MOST_NAMES: usize = 64;
/// Sets of secrets; a policy whose domains overlap has several.
const MOST_SEARCHES: usize = 16;

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// The certificates this host trusts, or the well-known ones where it has none.
fn trusted(own: Vec<CertificateDer<'static>>) -> Vec<CertificateDer<'static>> {
    let (usable, _) = RootCertStore::empty().add_parsable_certificates(own.iter().cloned());
    if usable == 0 { webpki_root_certs::TLS_SERVER_ROOT_CERTS.to_vec() } else { own }
}

/// Those, and `more` (PEM).
pub(crate) fn client_config(more: Option<&str>) -> Result<Arc<ClientConfig>, EgressError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(trusted(rustls_native_certs::load_native_certs().certs));
    for certificate in CertificateDer::pem_slice_iter(more.unwrap_or_default().as_bytes()) {
        let certificate = certificate.map_err(|error| EgressError::Tls(error.to_string()))?;
        roots.add(certificate).map_err(|error| EgressError::Tls(error.to_string()))?;
    }
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| EgressError::Tls(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Secrets by what stands for them, which no other value ever has, and whether there still is one.
type Secrets = Vec<(String, bool)>;

/// One sandbox's two ends.
pub(crate) struct Tls {
    connector: TlsConnector,
    /// From the first policy with secrets on.
    authority: OnceLock<Authority>,
    searches: Mutex<HashMap<Secrets, Arc<Unsaid>>>,
}

impl Tls {
    pub(crate) fn new(config: Arc<ClientConfig>) -> Self {
        Self { connector: TlsConnector::from(config), authority: OnceLock::new(), searches: Mutex::default() }
    }

    pub(crate) async fn connect<S: Stream>(
        &self,
        wanted: &Wanted,
        stream: S,
    ) -> Result<TlsStream<S>, String> {
        let name = wanted.name().map(ToString::to_string).unwrap_or_default();
        let name = ServerName::try_from(name).map_err(|error| error.to_string())?;
        match tokio::time::timeout(PATIENCE, self.connector.connect(name, stream)).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => Err(format!("TLS with it failed: {error}")),
            Err(_) => Err("it does not answer to TLS".to_owned()),
        }
    }

    /// What answers are searched for that may hold these, made once for all hosts that have the same.
    pub(crate) fn unsaid(&self, secrets: &[&DomainSecret]) -> Arc<Unsaid> {
        let key: Secrets =
            secrets.iter().map(|secret| (secret.placeholder.clone(), secret.value.is_some())).collect();
        let searches = || self.searches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = searches().get(&key) {
            return Arc::clone(made);
        }
        // Not under the lock: others need not wait, and who makes the same loses little.
        let made = Arc::new(Unsaid::new(secrets.iter().copied()));
        let mut searches = searches();
        if searches.len() >= MOST_SEARCHES {
            searches.clear();
        }
        searches.insert(key, Arc::clone(&made));
        made
    }

    /// Made when it is first asked for: few sandboxes have secrets.
    pub(crate) fn authority(&self) -> Result<&Authority, EgressError> {
        if let Some(authority) = self.authority.get() {
            return Ok(authority);
        }
        let made = Authority::make()?;
        Ok(self.authority.get_or_init(|| made))
    }
}

/// Signs certificates for one sandbox. Its key never leaves this process.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    /// One key for all names: they all end here.
    key: KeyPair,
    made: Mutex<HashMap<String, Arc<ServerConfig>>>,
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

impl Authority {
    pub(crate) fn make() -> Result<Self, EgressError> {
        let wrong = |error: rcgen::Error| EgressError::Authority(error.to_string());
        let key = KeyPair::generate().map_err(wrong)?;
        let mut params = CertificateParams::default();
        params.distinguished_name = named("Sandgate, for the secrets of one sandbox");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(wrong)?;
        Ok(Self {
            pem: certificate.pem(),
            issuer: Issuer::new(params, key),
            key: KeyPair::generate().map_err(wrong)?,
            made: Mutex::default(),
        })
    }

    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    pub(crate) fn acceptor(&self, name: &str) -> Result<TlsAcceptor, EgressError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = made.get(name) {
            return Ok(TlsAcceptor::from(Arc::clone(config)));
        }
        let config = Arc::new(self.config(name)?);
        if made.len() >= MOST_NAMES {
            made.clear();
        }
        made.insert(name.to_owned(), Arc::clone(&config));
        Ok(TlsAcceptor::from(config))
    }

    fn config(&self, name: &str) -> Result<ServerConfig, EgressError> {
        let wrong = |error: rcgen::Error| EgressError::Authority(error.to_string());
        let mut params = CertificateParams::new(vec![name.to_owned()]).map_err(wrong)?;
        params.distinguished_name = named("Sandgate");
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&self.key, &self.issuer).map_err(wrong)?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(self.key.serialize_der()));
        let tls = |error: rustls::Error| EgressError::Tls(error.to_string());
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(tls)?
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(certificate)], key)
            .map_err(tls)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// The same certificates as text, for programs inside.
pub(crate) fn host_certificates() -> String {
    as_text(trusted(rustls_native_certs::load_native_certs().certs))
}

fn as_text(certificates: Vec<CertificateDer<'static>>) -> String {
    use base64::Engine;
    let mut out = String::new();
    for certificate in certificates {
        let text = base64::engine::general_purpose::STANDARD.encode(&certificate);
        out.push_str("-----BEGIN CERTIFICATE-----\n");
        for line in text.as_bytes().chunks(64) {
            out.push_str(&String::from_utf8_lossy(line));
            out.push('\n');
        }
        out.push_str("-----END CERTIFICATE-----\n");
    }
    out
}

#[cfg(test)]
#[path = "tls_tests.rs"]
mod tests;
