//! Whose certificates are believed.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// Certificates that are trusted on top of the system's own.
#[derive(Clone, Debug, Default)]
pub struct Trust(Vec<CertificateDer<'static>>);

#[derive(Debug, thiserror::Error)]
#[error("there is no certificate in it, as PEM writes one")]
pub struct InvalidCertificates;

impl Trust {
    /// One or more certificates as PEM.
    pub fn from_pem(pem: &[u8]) -> Result<Self, InvalidCertificates> {
        let certificates: Vec<_> =
            CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().map_err(|_| InvalidCertificates)?;
        if certificates.is_empty() { Err(InvalidCertificates) } else { Ok(Self(certificates)) }
    }

    /// The certificates this host trusts, or the well-known ones where it has none (a bare image). Reading
    /// them takes a while, so it is left out for plain http.
    pub(crate) fn tls(&self, needed: bool) -> Result<ClientConfig, rustls::Error> {
        let mut roots = RootCertStore::empty();
        if needed {
            let (added, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if added == 0 {
                roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            }
            for certificate in &self.0 {
                roots.add(certificate.clone())?;
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        Ok(ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth())
    }
}
