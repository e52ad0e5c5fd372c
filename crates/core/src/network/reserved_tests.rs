//! What the sandbox goes by is kept from secrets, and what secrets are usually called is not.

use super::reserved;

#[test]
fn what_the_sandbox_needs_is_reserved() {
    for name in [
        "PATH",
        "HOME",
        "LD_PRELOAD",
        "HTTPS_PROXY",
        "https_proxy",
        "SSL_CERT_FILE",
        "PIP_INDEX_URL",
        "PIP_CERT",
        "NPM_CONFIG_REGISTRY",
        "npm_config_registry",
        "GOPROXY",
        "PYTHONPATH",
        "SANDGATE_RUNTIMES",
    ] {
        assert!(reserved(name).is_some(), "{name}");
    }
}

#[test]
fn what_secrets_are_called_is_not() {
    for name in [
        "TOKEN",
        "OPENAI_API_KEY",
        "NPM_TOKEN",
        "UV_PUBLISH_TOKEN",
        "GOOGLE_API_KEY",
        "PYTHONANYWHERE_TOKEN",
        "NODE_AUTH_TOKEN",
        "PATH_TOKEN",
        "LDAP_PASSWORD",
        "HOMEASSISTANT_TOKEN",
        "user",
    ] {
        assert_eq!(reserved(name), None, "{name}");
    }
}
