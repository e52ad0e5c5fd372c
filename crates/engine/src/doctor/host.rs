//! Parts of the host that can be tried without a sandbox.

use sandgate_core::random_hex;
use sandgate_jail::cgroup::Cgroups;
use sandgate_jail::{Filters, landlock_abi};

use super::Check;
use crate::LimitsBy;

const GROUP: &str = "host";

pub(super) fn checks(limits_by: LimitsBy) -> Vec<Check> {
    vec![kernel(), user(), landlock(), seccomp(), cgroups(limits_by)]
}

fn kernel() -> Check {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(['.', '-']).map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= (5, 13) {
        return Check::on(GROUP, "kernel", format!("Linux {release}"));
    }
    Check::missing(GROUP, "kernel", format!("Linux {release} is too old"), "use Linux 5.13 or later")
}

fn user() -> Check {
    if rustix::process::geteuid().is_root() {
        return Check::on(GROUP, "user ids", "started by root: every sandbox has host ids of its own");
    }
    let detail = "started by an ordinary user: all sandboxes share this user's id, and namespaces alone keep them apart";
    let mut check = Check::off(GROUP, "user ids", detail);
    check.remedy = Some("start as root".to_owned());
    check
}

fn landlock() -> Check {
    match landlock_abi() {
        0 => Check::missing(
            GROUP,
            "Landlock",
            "this kernel has none",
            "boot with lsm=landlock,… on Linux 5.13 or later",
        ),
        version => Check::on(GROUP, "Landlock", format!("version {version} of its interface")),
    }
}

fn seccomp() -> Check {
    match Filters::compile() {
        Ok(filters) => {
            Check::on(GROUP, "seccomp", format!("the filters have {} instructions", filters.instructions()))
        }
        Err(error) => Check::missing(GROUP, "seccomp", error.to_string(), "use an x86_64 or aarch64 machine"),
    }
}

/// Makes a group and removes it again.
fn cgroups(limits_by: LimitsBy) -> Check {
    let opened = Cgroups::open(&format!("sandgate-doctor-{}", random_hex(4)));
    let tried = opened.and_then(|groups| groups.remove_all().map(|()| groups.version()));
    match (tried, limits_by) {
        (Ok(version), _) => {
            Check::on(GROUP, "control groups", format!("version {version}, with memory, pids and cpu"))
        }
        (Err(error), LimitsBy::Rlimits) => {
            Check::off(GROUP, "control groups", format!("{error}; weaker limits per process were asked for"))
        }
        (Err(error), LimitsBy::Cgroups) => Check::missing(
            GROUP,
            "control groups",
            error.to_string(),
            "start as root, or in a group of this user's own (systemd-run --user --scope -p Delegate=yes sandgate …), or set SANDGATE_LIMITS=rlimits",
        ),
    }
}
