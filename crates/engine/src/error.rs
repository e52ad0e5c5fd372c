//! Why the engine could not start: one sentence that names the missing part of the host and what to do.

use std::path::PathBuf;

use sandgate_jail::cgroup::CgroupError;

use crate::runtime::RuntimeError;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    #[error(
        "user namespaces cannot be used here ({0}); allow them (sysctl user.max_user_namespaces, and kernel.unprivileged_userns_clone or the AppArmor restriction for an ordinary user) or start as root"
    )]
    UserNamespace(String),
    #[error(
        "limits need control groups, and none can be used ({0}); start as root, or in a group of this user's own (systemd-run --user --scope -p Delegate=yes sandgate …), or accept weaker per-process limits with SANDGATE_LIMITS=rlimits"
    )]
    Cgroups(CgroupError),
    #[error(
        "this kernel has no Landlock, which every sandbox needs; use Linux 5.13 or later with CONFIG_SECURITY_LANDLOCK and lsm=landlock"
    )]
    Landlock,
    #[error("the engine's helper could not start: {0}")]
    Helper(String),
    #[error("the process that sandboxes are forked from could not start: {0}")]
    Zygote(String),
    #[error("the way out of sandboxes could not be prepared: {0}")]
    Network(String),
    #[error("a first sandbox could not be made: {0}")]
    FirstSandbox(String),
    #[error("another server uses this home ({0}); stop it or set SANDGATE_HOME to another folder")]
    HomeInUse(PathBuf),
    #[error("cannot {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: std::io::Error },
}

impl StartError {
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }

    /// From the words of a step that failed in the helper.
    pub(crate) fn from_step(text: &str) -> Self {
        if text.starts_with("unshare") || text.starts_with("setresgid") || text.starts_with("mapping ids") {
            Self::UserNamespace(text.to_owned())
        } else {
            Self::Helper(text.to_owned())
        }
    }
}
