//! The variables that every program of a sandbox finds: kernels, commands and terminals alike.

use sandgate_core::SandboxSpec;

use super::language;
use crate::shared::Shared;
use crate::way_out;

/// What a sandbox installs goes here, as the runtimes are read-only; its `bin` is first on the `PATH`. That pip does
/// so too, and Python finds it, is the work of `runtimes/python/startup`.
pub(super) const PACKAGES: &str = "/home/user/.packages";

/// A plain Linux account's, and what was asked for; where both name a variable, what was asked for counts.
pub(super) fn environment(shared: &Shared, spec: &SandboxSpec) -> Vec<(String, String)> {
    let path = language::path(&shared.runtimes, spec);
    let own = [
        ("PATH", path.as_str()),
        ("HOME", "/home/user"),
        ("USER", "user"),
        ("LOGNAME", "user"),
        ("SHELL", "/bin/bash"),
        ("LANG", "C.UTF-8"),
        ("TERM", "dumb"),
        // No windows; and packages are installed once, not kept a second time.
        ("MPLBACKEND", "agg"),
        ("NPM_CONFIG_PREFIX", PACKAGES),
        ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
        ("PIP_NO_CACHE_DIR", "1"),
        ("PIP_ROOT_USER_ACTION", "ignore"),
    ];
    let own = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    own.chain(way_out::variables(&spec.network)).chain(spec.env.iter().cloned()).collect()
}
