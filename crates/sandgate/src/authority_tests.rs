//! One authority per home, whose key is its owner's alone.

use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn the_authority_of_a_home_stays_the_same() {
    let home = tempfile::tempdir().unwrap();
    let from = Certificate::SelfMade { domain: "sbx.test".to_owned() };
    tls(&from, home.path()).unwrap();
    let first = fs::read_to_string(certificate_path(home.path())).unwrap();
    assert!(first.starts_with("-----BEGIN CERTIFICATE-----"));
    tls(&from, home.path()).unwrap();
    assert_eq!(fs::read_to_string(certificate_path(home.path())).unwrap(), first);
    assert!(fs::read_to_string(bundle_path(home.path())).unwrap().ends_with(&first));
    let other = Certificate::SelfMade { domain: "other.test".to_owned() };
    tls(&other, home.path()).unwrap();
    let second = fs::read_to_string(certificate_path(home.path())).unwrap();
    assert_ne!(second, first, "the first may not speak for another domain");
    let left = fs::read_dir(home.path().join(FOLDER)).unwrap();
    assert!(left.flatten().all(|file| file.path().extension().is_some_and(|kind| kind != "tmp")));
    let key = fs::metadata(home.path().join(FOLDER).join(KEY)).unwrap();
    assert_eq!(key.permissions().mode() & 0o077, 0);
}

#[test]
fn files_that_are_no_certificate_are_named() {
    let home = tempfile::tempdir().unwrap();
    let (cert, key) = (home.path().join("c.pem"), home.path().join("k.pem"));
    let from = Certificate::Files { cert: cert.clone(), key: key.clone() };
    assert!(tls(&from, home.path()).unwrap_err().to_string().contains("cannot read"));
    fs::write(&cert, "nothing").unwrap();
    fs::write(&key, "nothing").unwrap();
    assert!(tls(&from, home.path()).unwrap_err().to_string().contains("no certificate"));
}
