//! Variables that a secret cannot be named after: the sandbox, or a program in it, goes by what they say, and a
//! placeholder in them would break it.

const PROGRAMS: &str = "programs in the sandbox are found and run by it";
const LIBRARIES: &str = "every program is loaded by it";
const NETWORK: &str = "programs find the way out of the sandbox by it";
const TRUST: &str = "programs find the certificates that they trust by it";
const PACKAGES: &str = "packages are found and installed by it";
const LANGUAGE: &str = "a language of the sandbox starts by it";
const OURS: &str = "the sandbox keeps such names for itself";

/// As they are written: others in small letters are other variables.
const NAMES: &[(&str, &[&str])] = &[
    (
        PROGRAMS,
        &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TERM", "TZ", "PWD", "TMPDIR"],
    ),
    (PROGRAMS, &["BASH_ENV", "IFS", "SHELLOPTS"]),
    (NETWORK, &["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY", "NODE_USE_ENV_PROXY"]),
    (NETWORK, &["http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy"]),
    (
        TRUST,
        &["SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"],
    ),
    (TRUST, &["GIT_SSL_CAINFO", "AWS_CA_BUNDLE"]),
    (PACKAGES, &["UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL"]),
    (PACKAGES, &["GOPROXY", "GOSUMDB", "GOFLAGS", "GOENV", "GOPATH", "GOCACHE", "GOMODCACHE"]),
    (
        LANGUAGE,
        &["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONHASHSEED", "MPLBACKEND"],
    ),
    (
        LANGUAGE,
        &["NODE_OPTIONS", "NODE_PATH", "JAVA_HOME", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH"],
    ),
    (LANGUAGE, &["GOROOT", "GOTOOLCHAIN", "GODEBUG", "GOMAXPROCS", "CGO_ENABLED", "R_HOME", "R_LIBS"]),
];

/// Only where programs read every name that begins so; `NPM_TOKEN` and `UV_PUBLISH_TOKEN` are what secrets are for.
const BEGINNINGS: &[(&str, &str)] = &[
    ("LD_", LIBRARIES),
    ("PIP_", PACKAGES),
    ("NPM_CONFIG_", PACKAGES),
    ("npm_config_", PACKAGES),
    ("SANDGATE_", OURS),
];

/// Why no secret may have this name; None: one may.
pub(super) fn reserved(name: &str) -> Option<&'static str> {
    let whole = NAMES.iter().find(|(_, names)| names.contains(&name)).map(|(why, _)| *why);
    let begins = || BEGINNINGS.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, why)| *why);
    whole.or_else(begins)
}

#[cfg(test)]
#[path = "reserved_tests.rs"]
mod tests;
