//! A domain, where its TLS comes from, and what does not go together.

use super::super::file::TlsFile;
use super::*;

fn checked(file: &E2bFile) -> Result<(E2bSettings, Option<TlsSettings>), String> {
    let listens = "127.0.0.1:4000".parse().unwrap();
    check(file, listens, |text| text.parse().map_err(|_| "no address".to_owned()))
        .map_err(|problem| problem.message)
}

fn domain(domain: &str) -> E2bFile {
    E2bFile { domain: Some(domain.to_owned()), ..E2bFile::default() }
}

#[test]
fn without_anything_there_is_the_path_on_the_one_port() {
    let (settings, tls) = checked(&E2bFile::default()).unwrap();
    assert_eq!((settings.domain, tls), (None, None));
    assert_eq!(settings.max_timeout, Duration::from_secs(24 * 60 * 60));
    assert!(!settings.open_ports);
}

#[test]
fn tls_listens_where_the_domain_says() {
    let made = checked(&E2bFile { self_signed: true, ..domain("sbx.example:8443") }).unwrap().1.unwrap();
    assert_eq!(made.listen, "127.0.0.1:8443".parse().unwrap());
    assert_eq!(made.from, Certificate::SelfMade { domain: "sbx.example".to_owned() });
    let tls = Some(TlsFile { cert: "c.pem".into(), key: "k.pem".into() });
    let given = E2bFile { tls, listen: Some("127.0.0.2:9".to_owned()), ..domain("sbx.example") };
    assert_eq!(checked(&given).unwrap().1.unwrap().listen, "127.0.0.2:9".parse().unwrap());
    let usual = checked(&E2bFile { self_signed: true, ..domain("sbx.example") }).unwrap().1.unwrap();
    assert_eq!(usual.listen.port(), 443);
    // Behind somebody else's TLS.
    assert_eq!(checked(&domain("sbx.example")).unwrap().1, None);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let tls = Some(TlsFile { cert: "c.pem".into(), key: "k.pem".into() });
    for file in [
        E2bFile { self_signed: true, ..E2bFile::default() },
        E2bFile { listen: Some("127.0.0.1:1".to_owned()), ..E2bFile::default() },
        E2bFile { self_signed: true, tls, ..domain("sbx.example") },
        E2bFile { listen: Some("127.0.0.1:1".to_owned()), ..domain("sbx.example") },
        E2bFile { listen: Some("nowhere".to_owned()), self_signed: true, ..domain("sbx.example") },
        E2bFile { max_timeout_seconds: 0, ..E2bFile::default() },
        domain("https://sbx.example"),
        domain("sbx..example"),
        domain("127.0.0.1"),
        domain("sbx.example:x"),
        domain(""),
    ] {
        assert!(checked(&file).is_err(), "{file:?}");
    }
}
