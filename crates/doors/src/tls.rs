//! TLS for a listener: a certificate with its chain and its key, as PEM.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

#[derive(Clone)]
pub struct Tls(TlsAcceptor);

/// A request that came over TLS.
#[derive(Clone, Copy, Debug)]
pub struct OverTls;

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("there is no certificate in it, as PEM writes one")]
    NoCertificate,
    #[error("there is no private key in it, as PEM writes one")]
    NoKey,
    #[error("the certificate and the key cannot be used: {0}")]
    Unusable(#[from] tokio_rustls::rustls::Error),
}

impl Tls {
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<_, _>>()
            .map_err(|_| TlsError::NoCertificate)?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::NoKey)?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        // What is behind it speaks nothing else.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    pub(crate) async fn accept(&self, connection: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        self.0.accept(connection).await
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}
