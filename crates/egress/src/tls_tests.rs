//! Programs inside trust what the server trusts; a search is made once for the secrets that it is for.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use sandgate_core::Secret;
use sandgate_core::network::DomainSecret;

use super::{Tls, as_text, client_config, trusted};

/// Else the sandbox's own authority would be all that they trust.
#[test]
fn a_host_without_certificates_hands_on_the_well_known_ones() {
    let none = as_text(trusted(vec![CertificateDer::from(vec![1, 2, 3])]));
    let read = CertificateDer::pem_slice_iter(none.as_bytes()).collect::<Result<Vec<_>, _>>().unwrap();
    assert!(read.len() > 50, "{}", read.len());
    assert_eq!(trusted(read[..1].to_vec()).len(), 1, "a host's own stay its own");
}

#[test]
fn hosts_with_the_same_secrets_share_one_search() {
    let tls = Tls::new(client_config(None).unwrap());
    let secret = |value: &str| {
        DomainSecret::new("*.example.org", "KEY".to_owned(), Secret::new(value.to_owned())).unwrap()
    };
    let (one, other) = (secret("12345678"), secret("12345678"));
    let first = tls.unsaid(&[&one]);
    assert!(Arc::ptr_eq(&first, &tls.unsaid(&[&one])));
    assert!(!Arc::ptr_eq(&first, &tls.unsaid(&[&other])));
    let lost = DomainSecret { value: None, ..one };
    assert!(!Arc::ptr_eq(&first, &tls.unsaid(&[&lost])), "it is not known any more");
}
