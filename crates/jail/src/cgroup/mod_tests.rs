//! Signals to the members of a process group, with plain files in place of the kernel's list of processes.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};

use super::{Cgroups, V2};

fn sleeper(group: i32) -> Child {
    Command::new("sleep").arg("1000").process_group(group).spawn().unwrap()
}

fn id(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap()
}

#[test]
fn members_of_the_group_are_signalled_and_nobody_else() {
    let mut leader = sleeper(0);
    let mut member = sleeper(id(&leader));
    let mut of_another_group = sleeper(0);
    let mut of_another_context = sleeper(id(&leader));
    let folder = tempfile::tempdir().unwrap();
    let context = folder.path().join("sbx/context");
    fs::create_dir_all(&context).unwrap();
    let listed = [&leader, &member, &of_another_group].map(|child| child.id().to_string()).join("\n");
    fs::write(context.join("cgroup.procs"), listed).unwrap();

    let groups = Cgroups::V2(V2::left_in(folder.path().to_owned()));
    groups.signal_group("sbx", "context", id(&leader), libc::SIGINT).unwrap();
    for child in [&mut leader, &mut member] {
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGINT));
    }
    for child in [&mut of_another_group, &mut of_another_context] {
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    }
}
