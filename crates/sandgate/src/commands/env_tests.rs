//! What a shell is given.

use super::*;

fn settings(yaml: &str) -> Settings {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.yaml");
    std::fs::write(&path, yaml).unwrap();
    Settings::load_file(&path).unwrap()
}

fn lines(yaml: &str) -> Vec<String> {
    let settings = settings(yaml);
    e2b(&settings, settings.master_key.is_none())
}

#[test]
fn without_a_domain_both_addresses_are_the_one_port() {
    let said = lines("listen: 127.0.0.1:4001\n").join("\n");
    assert!(said.starts_with(
        "export E2B_API_URL=http://127.0.0.1:4001/e2b E2B_SANDBOX_URL=http://127.0.0.1:4001/e2b\n"
    ));
    assert!(said.contains("E2B_API_KEY:-e2b_0"), "{said}");
    let everywhere = "listen: 0.0.0.0:4001\nmaster_key: a-long-enough-master-key\n";
    let said = lines(everywhere).join("\n");
    assert!(said.contains("http://127.0.0.1:4001/e2b"), "{said}");
    // No key is made up where one is needed, and none is given away.
    assert!(!said.contains("\nexport E2B_API_KEY") && !said.contains("a-long-enough"), "{said}");
}

#[test]
fn with_a_domain_its_names_are_enough() {
    let said = lines("e2b: {domain: 'sbx.example:8443'}\n").join("\n");
    assert!(said.contains("export E2B_DOMAIN='sbx.example:8443'") && !said.contains("E2B_API_URL"), "{said}");
}

#[test]
fn opensandbox_has_one_address_for_all() {
    let said = opensandbox(&settings("listen: 127.0.0.1:4001\n"), true).join("\n");
    assert!(said.starts_with("export OPEN_SANDBOX_DOMAIN=127.0.0.1:4001 "), "{said}");
    assert!(said.contains("OPEN_SANDBOX_API_BASE=http://127.0.0.1:4001\n"), "{said}");
    assert!(said.contains("OPEN_SANDBOX_API_KEY:-any"), "{said}");
}

#[test]
fn a_quote_cannot_end_what_a_shell_reads() {
    assert_eq!(quoted(&"a'b"), r"'a'\''b'");
}
