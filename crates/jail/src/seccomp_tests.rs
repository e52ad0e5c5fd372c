//! Asks the compiled programs themselves, so that families and calls this kernel lacks are covered too.

use super::Filters;
use crate::seccomp_policy::{ALLOWED, ALLOWED_LEGACY};

const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;
const KILL: u32 = 0x8000_0000;
const X86_64: u32 = 0xc000_003e;
const I386: u32 = 0x4000_0003;

/// A system call as a filter sees it.
struct Call {
    number: u32,
    arch: u32,
    arguments: [u64; 6],
}

fn call(number: i64, arguments: &[u64]) -> Call {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    Call { number: u32::try_from(number).unwrap(), arch: X86_64, arguments: all }
}

/// A small interpreter of the kernel's filter machine.
fn verdict(filters: &Filters, call: &Call) -> u32 {
    let word = |offset: u32| -> u32 {
        match offset {
            0 => call.number,
            4 => call.arch,
            8 | 12 => 0,
            _ => {
                let at = (offset - 16) as usize;
                let argument = call.arguments[at / 8];
                if at.is_multiple_of(8) { argument as u32 } else { (argument >> 32) as u32 }
            }
        }
    };
    let (mut accumulator, mut at) = (0u32, 0usize);
    loop {
        let step = &filters.program()[at];
        at += 1;
        let jump = |taken: bool| usize::from(if taken { step.if_true } else { step.if_false });
        match step.code {
            0x20 => accumulator = word(step.value),
            0x15 => at += jump(accumulator == step.value),
            0x25 => at += jump(accumulator > step.value),
            0x35 => at += jump(accumulator >= step.value),
            0x45 => at += jump(accumulator & step.value != 0),
            0x06 => return step.value,
            other => panic!("instruction {other:#x}"),
        }
    }
}

fn refused_with(errno: i32) -> u32 {
    ERRNO | errno.unsigned_abs()
}

#[test]
fn exactly_the_listed_calls_pass_and_each_group_has_a_reason() {
    let filters = Filters::compile().unwrap();
    let listed: Vec<i64> =
        ALLOWED.iter().chain(ALLOWED_LEGACY).flat_map(|group| group.calls).copied().collect();
    let looked_into = [
        libc::SYS_clone,
        libc::SYS_clone3,
        libc::SYS_fallocate,
        libc::SYS_ioctl,
        libc::SYS_socket,
        libc::SYS_socketpair,
    ];
    assert!(ALLOWED.iter().chain(ALLOWED_LEGACY).all(|group| !group.why.is_empty()));
    for number in (0..1000).filter(|number| !looked_into.contains(number)) {
        let expected = if listed.contains(&number) { ALLOW } else { refused_with(libc::EPERM) };
        assert_eq!(verdict(&filters, &call(number, &[])), expected, "call {number}");
    }
}

#[test]
fn the_program_stays_short() {
    assert!(Filters::compile().unwrap().instructions() < 300);
}

#[test]
fn calls_that_reach_far_into_the_kernel_are_refused() {
    let filters = Filters::compile().unwrap();
    for number in [
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_setns,
        libc::SYS_unshare,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_io_uring_setup,
        libc::SYS_userfaultfd,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_kexec_load,
        libc::SYS_open_by_handle_at,
        libc::SYS_capset,
        libc::SYS_pidfd_getfd,
        libc::SYS_mknodat,
        libc::SYS_sethostname,
        libc::SYS_settimeofday,
        libc::SYS_seccomp,
        libc::SYS_fsopen,
        libc::SYS_move_mount,
        libc::SYS_open_tree,
        libc::SYS_acct,
    ] {
        assert_eq!(verdict(&filters, &call(number, &[])), refused_with(libc::EPERM), "call {number}");
    }
}

#[test]
fn every_socket_family_but_three_is_not_supported() {
    let filters = Filters::compile().unwrap();
    for family in 0..64u64 {
        for number in [libc::SYS_socket, libc::SYS_socketpair] {
            let allowed = [1, 2, 10].contains(&family);
            let expected = if allowed { ALLOW } else { refused_with(libc::EAFNOSUPPORT) };
            assert_eq!(verdict(&filters, &call(number, &[family])), expected, "family {family}");
        }
    }
}

#[test]
fn clone_makes_threads_but_no_namespaces_and_clone3_is_absent() {
    let filters = Filters::compile().unwrap();
    let thread = (libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_SIGHAND) as u64;
    assert_eq!(verdict(&filters, &call(libc::SYS_clone, &[thread])), ALLOW);
    for flag in crate::seccomp_policy::REFUSED_CLONES {
        let flags = u64::from(flag.cast_unsigned()) | thread;
        assert_eq!(verdict(&filters, &call(libc::SYS_clone, &[flags])), refused_with(libc::EPERM));
    }
    assert_eq!(verdict(&filters, &call(libc::SYS_clone3, &[])), refused_with(libc::ENOSYS));
    assert_eq!(verdict(&filters, &call(libc::SYS_fallocate, &[])), refused_with(libc::EOPNOTSUPP));
}

#[test]
fn terminal_input_cannot_be_forged_with_or_without_high_bits() {
    let filters = Filters::compile().unwrap();
    let forged = [libc::TIOCSTI, libc::TIOCSTI | 0xdead_0000_0000];
    for request in forged {
        assert_eq!(verdict(&filters, &call(libc::SYS_ioctl, &[0, request])), refused_with(libc::EPERM));
    }
    assert_eq!(verdict(&filters, &call(libc::SYS_ioctl, &[0, libc::TIOCGWINSZ])), ALLOW);
}

#[test]
fn other_architectures_do_not_slip_through() {
    let filters = Filters::compile().unwrap();
    for number in 0..600 {
        let x32 = Call { number: 0x4000_0000 | number, arch: X86_64, arguments: [0; 6] };
        assert_eq!(verdict(&filters, &x32), refused_with(libc::EPERM));
    }
    let i386 = Call { number: 3, arch: I386, arguments: [0; 6] };
    assert_eq!(verdict(&filters, &i386), KILL);
}
