//! TLS passes untouched and must name the host it was opened to; only domains with secrets are opened, and their
//! secrets never come inside.

use std::sync::Arc;

use crate::support::{Inside, World, read_all};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sandgate_core::Secret;
use sandgate_core::network::{DomainSecret, NetworkLimits, NetworkPolicy};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub(crate) const VALUE: &str = "the-real-value-9f3a";

/// TLS over a connection that was opened to `target`, naming `name`, trusting one authority.
pub(crate) async fn tls(
    inside: &Inside,
    target: &str,
    name: &str,
    trusted: &str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let (stream, answer) = inside.connect(target).await;
    assert!(answer.contains(" 200 "), "{answer}");
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(trusted.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    crate::support::within(TlsConnector::from(Arc::new(config)).connect(name, stream)).await
}

pub(crate) async fn get(mut stream: TlsStream<TcpStream>, path: &str, host: &str, more: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    read_all(&mut stream).await
}

pub(crate) fn with_secret(world: &World, domain: &str) -> (NetworkPolicy, String) {
    let secret = DomainSecret::new(domain, "KEY".to_owned(), Secret::new(VALUE.to_owned())).unwrap();
    let placeholder = secret.placeholder.clone();
    (NetworkPolicy { secrets: vec![secret], ..world.usual() }, placeholder)
}

#[tokio::test]
async fn tls_passes_untouched() {
    let world = World::start().await;
    let target = format!("a.allowed.test:{}", world.https_port());
    let inside = world.sandbox();
    let stream = tls(&inside, &target, "a.allowed.test", world.authority.pem()).await.unwrap();
    assert!(get(stream, "/x", &target, "").await.contains("GET /x"));
}

#[tokio::test]
async fn a_name_inside_that_disagrees_is_cut() {
    let world = World::start().await;
    let inside = world.sandbox();
    let target = format!("a.allowed.test:{}", world.https_port());
    for name in ["other.test", "b.allowed.test"] {
        let error = tls(&inside, &target, name, world.authority.pem()).await.unwrap_err();
        assert!(error.to_string().contains("AccessDenied"), "{error}");
    }
    assert!(inside.denials(2).await.iter().all(|why| why.contains("must be the same host")));
    assert!(world.tls.asked().is_empty());
}

/// A server may pass over a warning, or forgive a version, and then read a name that nobody has looked at.
#[tokio::test]
async fn a_hello_behind_a_warning_or_of_another_version_is_cut() {
    let world = World::start().await;
    let (server, heard) = crate::support::listening().await;
    let port = server.port();
    let inside = world.sandbox_with(
        &NetworkPolicy::from_words([&*format!("a.allowed.test:{port}")]).unwrap(),
        NetworkLimits::default(),
    );
    for first in
        [&[21, 3, 1, 0, 2, 1, 90][..], &[22, 2, 1, 0, 90, 1, 0, 0, 86], &[22, 0, 0, 0, 90, 1, 0, 0, 86]]
    {
        let (mut stream, answer) = inside.connect(&format!("a.allowed.test:{port}")).await;
        assert!(answer.contains(" 200 "), "{answer}");
        stream.write_all(first).await.unwrap();
        assert_eq!(read_all(&mut stream).await, "");
    }
    assert!(heard.lock().unwrap().is_empty(), "nothing of it is sent on");
}

#[tokio::test]
async fn a_secret_is_put_in_for_its_domain_and_taken_out_of_answers() {
    let world = World::start().await;
    let (policy, placeholder) = with_secret(&world, "a.allowed.test");
    let inside = world.sandbox_with(&policy, NetworkLimits::default());
    let own = inside.attached.authority().unwrap().to_owned();
    let target = format!("a.allowed.test:{}", world.https_port());
    let stream = tls(&inside, &target, "a.allowed.test", &own).await.unwrap();
    let header = format!("Authorization: Bearer {placeholder}\r\n");
    let answer = get(stream, &format!("/?key={placeholder}"), &target, &header).await;
    let asked = world.tls.asked();
    assert_eq!(asked[0].headers["authorization"], format!("Bearer {VALUE}").as_str());
    assert_eq!(asked[0].target, format!("/?key={VALUE}"));
    assert!(answer.contains(&format!("authorization: Bearer {placeholder}")), "{answer}");
    assert!(!answer.contains(VALUE), "the server repeats it, the sandbox does not hear it");
    // Nor in the form of a password.
    let stream = tls(&inside, &target, "a.allowed.test", &own).await.unwrap();
    let password = |value: &str| STANDARD.encode(format!("me:{value}"));
    let header = format!("Authorization: Basic {}\r\n", password(&placeholder));
    let answer = get(stream, "/", &target, &header).await;
    assert!(answer.contains("authorization: Basic") && !answer.contains(&password(VALUE)[8..]), "{answer}");
    let sent = world.tls.asked().last().unwrap().headers["authorization"].clone();
    assert_eq!(sent, format!("Basic {}", password(VALUE)).as_str());
    assert!(!format!("{:?}", inside.seen(2).await).contains(VALUE));
    assert!(world.egress.trust_bundle(&own).contains(&own));
}

/// A variable holds one placeholder, and it must be of use for every domain that has a secret of its name.
#[tokio::test]
async fn one_name_stands_for_the_value_of_each_domain() {
    let world = World::start().await;
    let (mut policy, _) = with_secret(&world, "a.allowed.test");
    let other = Secret::new("another-value-77".to_owned());
    let second = DomainSecret::new("b.allowed.test", "KEY".to_owned(), other).unwrap();
    let held = second.placeholder.clone();
    policy.secrets.push(second);
    let inside = world.sandbox_with(&policy, NetworkLimits::default());
    let own = inside.attached.authority().unwrap().to_owned();
    for (name, value) in [("a.allowed.test", VALUE), ("b.allowed.test", "another-value-77")] {
        let target = format!("{name}:{}", world.https_port());
        let stream = tls(&inside, &target, name, &own).await.unwrap();
        let answer = get(stream, "/", &target, &format!("Authorization: Bearer {held}\r\n")).await;
        let sent = world.tls.asked().last().unwrap().headers["authorization"].clone();
        assert_eq!(sent, format!("Bearer {value}").as_str());
        assert!(!answer.contains(value), "{answer}");
    }
}

/// Of a value in two parts, neither is one.
#[tokio::test]
async fn a_domain_with_secrets_is_not_asked_for_parts() {
    let world = World::start().await;
    let (policy, _) = with_secret(&world, "a.allowed.test");
    let inside = world.sandbox_with(&policy, NetworkLimits::default());
    let own = inside.attached.authority().unwrap().to_owned();
    let target = format!("a.allowed.test:{}", world.https_port());
    let stream = tls(&inside, &target, "a.allowed.test", &own).await.unwrap();
    let answer = get(stream, "/", &target, "Range: bytes=0-3\r\nIf-Range: \"x\"\r\nX-Mine: 1\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let asked = world.tls.asked().pop().unwrap();
    assert!(asked.headers.contains_key("x-mine"), "{:?}", asked.headers);
    assert!(
        !asked.headers.contains_key("range") && !asked.headers.contains_key("if-range"),
        "{:?}",
        asked.headers
    );
}

#[tokio::test]
async fn other_domains_are_not_opened_and_get_the_placeholder() {
    let world = World::start().await;
    let (policy, placeholder) = with_secret(&world, "a.allowed.test");
    let inside = world.sandbox_with(&policy, NetworkLimits::default());
    let own = inside.attached.authority().unwrap().to_owned();
    let target = format!("b.allowed.test:{}", world.https_port());
    assert!(
        tls(&inside, &target, "b.allowed.test", &own).await.is_err(),
        "the certificate is the server's own"
    );
    let stream = tls(&inside, &target, "b.allowed.test", world.authority.pem()).await.unwrap();
    let header = format!("Authorization: Bearer {placeholder}\r\n");
    get(stream, "/", &target, &header).await;
    let asked = world.tls.asked();
    assert_eq!(asked.last().unwrap().headers["authorization"], format!("Bearer {placeholder}").as_str());
}

#[tokio::test]
async fn a_secret_never_leaves_in_the_clear_or_without_its_value() {
    let world = World::start().await;
    let (mut policy, placeholder) = with_secret(&world, "a.allowed.test");
    let inside = world.sandbox_with(&policy, NetworkLimits::default());
    let header = format!("Authorization: Bearer {placeholder}\r\n");
    let url = format!("http://a.allowed.test:{}/", world.http_port());
    let answer = inside.get(&url, &header).await;
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("Use https"), "{answer}");
    assert!(inside.get(&url, "").await.starts_with("HTTP/1.1 200"), "without it, why not");
    policy.secrets[0].value = None;
    let inside = world.sandbox_with(&policy, NetworkLimits::default());
    let own = inside.attached.authority().unwrap().to_owned();
    let target = format!("a.allowed.test:{}", world.https_port());
    let stream = tls(&inside, &target, "a.allowed.test", &own).await.unwrap();
    let answer = get(stream, "/", &target, &header).await;
    assert!(answer.contains("not known any more"), "{answer}");
}

/// A server of several names would give it to another of them.
#[tokio::test]
async fn a_secret_never_goes_out_under_another_host() {
    let world = World::start().await;
    let (policy, placeholder) = with_secret(&world, "a.allowed.test");
    let inside = world.sandbox_with(&policy, NetworkLimits::default());
    let own = inside.attached.authority().unwrap().to_owned();
    let port = world.https_port();
    let target = format!("a.allowed.test:{port}");
    let header = format!("Authorization: Bearer {placeholder}\r\n");
    for host in ["b.allowed.test".to_owned(), format!("b.allowed.test:{port}"), "other.test".to_owned()] {
        let stream = tls(&inside, &target, "a.allowed.test", &own).await.unwrap();
        let answer = get(stream, "/", &host, &header).await;
        assert!(
            answer.starts_with("HTTP/1.1 403") && answer.contains("must be the same host"),
            "{host}: {answer}"
        );
        // Nor where the line of the request names it.
        let stream = tls(&inside, &target, "a.allowed.test", &own).await.unwrap();
        let answer = get(stream, &format!("https://{host}/"), "a.allowed.test", &header).await;
        assert!(!answer.starts_with("HTTP/1.1 200"), "{host}: {answer}");
    }
    assert!(world.tls.asked().is_empty(), "{:?}", world.tls.asked());
}

#[tokio::test]
async fn a_server_that_cannot_prove_its_name_gets_no_secret() {
    let world = World::start().await;
    world.dns.answer("fake.allowed.test", &[crate::support::OPENED]);
    let (policy, placeholder) = with_secret(&world, "fake.allowed.test");
    let inside = world.sandbox_with(&policy, NetworkLimits::default());
    let own = inside.attached.authority().unwrap().to_owned();
    let target = format!("fake.allowed.test:{}", world.https_port());
    let stream = tls(&inside, &target, "fake.allowed.test", &own).await.unwrap();
    let answer = get(stream, "/", &target, &format!("X-Key: {placeholder}\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    assert!(world.tls.asked().is_empty());
}
