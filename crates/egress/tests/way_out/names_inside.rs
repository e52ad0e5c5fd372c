//! Names that come late or in other forms: nothing of them reaches a server, and what is none passes.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Inside, OPENED, World, listening, read_all, within};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, SupportedProtocolVersion};
use sandgate_core::network::{NetworkLimits, NetworkPolicy};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const CHANGE: [u8; 6] = [20, 3, 3, 0, 1, 1];

/// May reach this server by one name.
fn sandbox(world: &World, server: SocketAddr) -> (Inside, String) {
    let target = format!("a.allowed.test:{}", server.port());
    let policy = NetworkPolicy::from_words([&*target]).unwrap();
    (world.sandbox_with(&policy, NetworkLimits::default()), target)
}

fn client(versions: &[&'static SupportedProtocolVersion], trusted: Option<&str>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    if let Some(pem) = trusted {
        roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    }
    ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

fn hello(name: &str) -> Vec<u8> {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let config = Arc::new(client(&[&rustls::version::TLS13], None));
    let mut out = Vec::new();
    ClientConnection::new(config, name).unwrap().write_tls(&mut out).unwrap();
    out
}

async fn until_heard(heard: &Mutex<Vec<u8>>, count: usize) {
    within(async {
        while heard.lock().unwrap().len() < count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_second_greeting_names_no_other_host() {
    let world = World::start().await;
    let (server, heard) = listening().await;
    let (inside, target) = sandbox(&world, server);
    let (first, other) = (hello("a.allowed.test"), hello("other.test"));
    let second = [&CHANGE[..], &other].concat();
    // At once, after a while, and in pieces.
    for (pause, size) in [(false, 1 << 20), (true, 1 << 20), (true, 100)] {
        heard.lock().unwrap().clear();
        let (mut stream, answer) = inside.connect(&target).await;
        assert!(answer.contains(" 200 "), "{answer}");
        if pause {
            stream.write_all(&first).await.unwrap();
            until_heard(&heard, first.len()).await;
            for piece in second.chunks(size) {
                let _ = stream.write_all(piece).await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        } else {
            stream.write_all(&[&first[..], &second].concat()).await.unwrap();
        }
        let mut rest = Vec::new();
        let _ = within(stream.read_to_end(&mut rest)).await;
        let heard = heard.lock().unwrap().clone();
        assert!(!heard.windows(other.len()).any(|part| part == other), "{pause} {size}");
    }
    let denials = inside.denials(3).await;
    assert!(denials.len() == 3 && denials.iter().all(|why| why.contains("'other.test'")), "{denials:?}");
}

/// Most servers never ask for a second greeting; one that does is not in the way. Nor is TLS 1.2 that goes on where it
/// was, which has no data between its greeting and its end.
#[tokio::test]
async fn a_server_that_asks_again_is_reached() {
    let world = World::start().await;
    let chosen = [
        (vec![rustls::crypto::ring::kx_group::SECP384R1], &rustls::version::TLS13),
        (rustls::crypto::ring::ALL_KX_GROUPS.to_vec(), &rustls::version::TLS12),
    ];
    for (kx_groups, version) in chosen {
        let given = world.authority.server(&["a.allowed.test"]).unwrap();
        let provider = rustls::crypto::CryptoProvider { kx_groups, ..(**given.crypto_provider()).clone() };
        let mut config = ServerConfig::builder_with_provider(provider.into())
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&given.cert_resolver));
        config.session_storage = rustls::server::ServerSessionMemoryCache::new(8);
        let listener = TcpListener::bind((OPENED, 0)).await.unwrap();
        let (inside, target) = sandbox(&world, listener.local_addr().unwrap());
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = acceptor.accept(stream).await.unwrap();
                let mut asked = [0; 4];
                stream.read_exact(&mut asked).await.unwrap();
                stream.write_all(&asked).await.unwrap();
                let _ = stream.shutdown().await;
            }
        });
        let both = [&rustls::version::TLS12, &rustls::version::TLS13];
        let connector =
            tokio_rustls::TlsConnector::from(Arc::new(client(&both, Some(world.authority.pem()))));
        for _ in 0..2 {
            let (stream, answer) = inside.connect(&target).await;
            assert!(answer.contains(" 200 "), "{answer}");
            let name = ServerName::try_from("a.allowed.test").unwrap();
            let mut stream = within(connector.connect(name, stream)).await.unwrap();
            stream.write_all(b"ping").await.unwrap();
            assert_eq!(read_all(&mut stream).await, "ping");
        }
    }
}

/// What some server answers as a request, though it is none by the standard, for a host that nobody has looked at.
#[tokio::test]
async fn what_only_some_servers_take_for_a_request_is_not_sent() {
    let world = World::start().await;
    let (server, heard) = listening().await;
    let (inside, target) = sandbox(&world, server);
    let long = format!("{} / HTTP/1.1\r\nHost: other.test\r\n\r\n", "A".repeat(100));
    for said in [
        "SOURCE / ICE/1.1\r\nHost: other.test\r\n\r\n",
        "DESCRIBE / RTSP/1.0\r\nHost: other.test\r\n\r\n",
        "(x / HTTP/1.1\r\nHost: other.test\r\n\r\n",
        "\0\u{1} / HTTP/1.1\r\nHost: other.test\r\n\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.1 1 2\r\nGET / HTTP/1.1\r\nHost: other.test\r\n\r\n",
        "\r\n\r\n\0\r\nQUIT\n\u{20}\0\0\0GET / HTTP/1.1\r\nHost: other.test\r\n\r\n",
        "GET http://other.test/ HTTP/1.1",
        &long,
    ] {
        let (mut stream, answer) = inside.connect(&target).await;
        assert!(answer.contains(" 200 "), "{answer}");
        stream.write_all(said.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let answer = read_all(&mut stream).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{said}: {answer}");
    }
    assert_eq!(String::from_utf8_lossy(&heard.lock().unwrap()), "");
}

/// Whoever looks for a request that was begun is not deceived by an end in place of the rest.
#[tokio::test]
async fn a_request_that_ends_late_without_a_line_is_broken_off() {
    let world = World::start().await;
    let listener = TcpListener::bind((OPENED, 0)).await.unwrap();
    let (inside, target) = sandbox(&world, listener.local_addr().unwrap());
    let (mut stream, answer) = inside.connect(&target).await;
    assert!(answer.contains(" 200 "), "{answer}");
    let (mut server, _) = listener.accept().await.unwrap();
    let request = b"GET http://other.test/ HTTP/1.1";
    stream.write_all(request).await.unwrap();
    // After a pause it passes, as long as it is no whole request.
    let mut heard = vec![0; request.len()];
    within(server.read_exact(&mut heard)).await.unwrap();
    stream.shutdown().await.unwrap();
    let ended = within(server.read(&mut [0; 1])).await;
    assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn protocols_that_begin_like_requests_pass() {
    let world = World::start().await;
    let (server, heard) = listening().await;
    let (inside, target) = sandbox(&world, server);
    let mut streams = Vec::new();
    for said in
        ["CONNECT {\"verbose\":false}\r\nPING\r\n", "OPTIONS sip:a@allowed.test SIP/2.0\r\n", "\0\0\0\u{8}x"]
    {
        heard.lock().unwrap().clear();
        let (mut stream, answer) = inside.connect(&target).await;
        assert!(answer.contains(" 200 "), "{answer}");
        stream.write_all(said.as_bytes()).await.unwrap();
        until_heard(&heard, said.len()).await;
        assert_eq!(heard.lock().unwrap()[..], *said.as_bytes());
        streams.push(stream);
    }
}

#[tokio::test]
async fn protocols_of_cameras_are_refused_in_words() {
    let world = World::start().await;
    let (server, _) = listening().await;
    let (inside, target) = sandbox(&world, server);
    let (mut stream, _) = inside.connect(&target).await;
    let request = format!("OPTIONS rtsp://{target}/ RTSP/1.0\r\nCSeq: 1\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = read_all(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("speaks RTSP"), "{answer}");
    assert!(inside.denials(1).await[0].contains("speaks RTSP"));
}
