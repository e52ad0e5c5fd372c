//! Asks the compiled programs themselves, so that families and calls this kernel lacks are covered too.

use super::{Filters, Instruction};
use crate::seccomp_policy::{ALLOWED, ALLOWED_LEGACY, ATTRIBUTES, NEWEST};

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
    answer(filters.program(), call)
}

fn answer(program: &[Instruction], call: &Call) -> u32 {
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
    let (mut accumulator, mut index, mut at) = (0u32, 0u32, 0usize);
    loop {
        let step = &program[at];
        at += 1;
        let jump = |taken: bool| usize::from(if taken { step.if_true } else { step.if_false });
        match step.code {
            0x00 => accumulator = step.value,
            0x05 => at += step.value as usize,
            0x07 => index = accumulator,
            0x20 => accumulator = word(step.value),
            0x54 => accumulator &= step.value,
            0x6c => accumulator = accumulator.checked_shl(index).unwrap(),
            0x87 => accumulator = index,
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
    let listed: Vec<i64> = ALLOWED
        .iter()
        .chain(ALLOWED_LEGACY)
        .flat_map(|group| group.calls)
        .chain(ATTRIBUTES)
        .copied()
        .collect();
    let looked_into = [
        libc::SYS_clone,
        libc::SYS_clone3,
        libc::SYS_close_range,
        libc::SYS_fallocate,
        libc::SYS_fcntl,
        libc::SYS_ioctl,
        libc::SYS_mknod,
        libc::SYS_mknodat,
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_sendto,
        libc::SYS_recvfrom,
        libc::SYS_sendmsg,
        libc::SYS_recvmsg,
        libc::SYS_sendmmsg,
        libc::SYS_recvmmsg,
        libc::SYS_setsockopt,
        libc::SYS_getsockopt,
    ];
    assert!(ALLOWED.iter().chain(ALLOWED_LEGACY).all(|group| !group.why.is_empty()));
    for number in (0..1000).filter(|number| !looked_into.contains(number)) {
        let refused = refused_with(if number > NEWEST { libc::ENOSYS } else { libc::EPERM });
        let expected = if listed.contains(&number) { ALLOW } else { refused };
        assert_eq!(verdict(&filters, &call(number, &[])), expected, "call {number}");
    }
    assert!(listed.iter().all(|number| *number <= NEWEST), "what is above is not there");
}

#[test]
fn a_disk_that_does_not_count_attributes_has_none() {
    let filters = Filters::compile().unwrap();
    let listed = |number: &u32| ATTRIBUTES.contains(&i64::from(*number));
    for number in (0..1000).filter(listed) {
        let without = answer(&filters.without_attributes, &call(i64::from(number), &[]));
        assert_eq!(without, refused_with(libc::EOPNOTSUPP), "call {number}");
    }
    for number in (0..1000).filter(|number| !listed(number)) {
        let asked = call(i64::from(number), &[]);
        assert_eq!(answer(&filters.without_attributes, &asked), verdict(&filters, &asked), "call {number}");
    }
}

#[test]
fn files_and_pipes_are_made_and_no_devices() {
    let filters = Filters::compile().unwrap();
    let kinds = (0..16u32).map(|kind| kind << 12);
    for kind in kinds {
        let allowed = [0, libc::S_IFREG, libc::S_IFIFO].contains(&kind);
        let expected = if allowed { ALLOW } else { refused_with(libc::EPERM) };
        // The kernel reads 16 bits of it.
        for noise in [0u64, 0o777, 1 << 16, 0xffff_ffff_ffff_0fff] {
            let mode = u64::from(kind) | noise;
            assert_eq!(verdict(&filters, &call(libc::SYS_mknod, &[1, mode, 9])), expected, "{mode:#x}");
            assert_eq!(verdict(&filters, &call(libc::SYS_mknodat, &[1, 1, mode, 9])), expected, "{mode:#x}");
        }
    }
}

#[test]
fn the_program_stays_short() {
    assert!(Filters::compile().unwrap().instructions() < 450);
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
fn only_local_tcp_and_udp_sockets_are_made() {
    let filters = Filters::compile().unwrap();
    let (local, internet) = ([1, 2, 5], [(1, 0), (1, 6), (2, 0), (2, 17)]);
    let flags = u64::from((libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK).cast_unsigned());
    for family in 0..64u64 {
        for kind in 0..16u64 {
            for protocol in (0..300u64).chain([1 << 32]) {
                let low = protocol & 0xffff_ffff;
                let allowed = family == 1 && local.contains(&kind) && low == 0
                    || [2, 10].contains(&family) && internet.contains(&(kind, low));
                for number in [libc::SYS_socket, libc::SYS_socketpair] {
                    let asked = call(number, &[family, kind | flags, protocol]);
                    let given = verdict(&filters, &asked) == ALLOW;
                    assert_eq!(given, allowed, "family {family}, type {kind}, protocol {protocol}");
                }
            }
        }
    }
}

#[test]
fn what_there_is_no_socket_for_is_answered_as_by_a_kernel_without_it() {
    let filters = Filters::compile().unwrap();
    for (family, kind, protocol, errno) in [
        (libc::AF_NETLINK, libc::SOCK_RAW, 0, libc::EAFNOSUPPORT),
        (libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP, libc::ESOCKTNOSUPPORT),
        (libc::AF_INET, libc::SOCK_SEQPACKET, libc::IPPROTO_SCTP, libc::ESOCKTNOSUPPORT),
        (libc::AF_INET, libc::SOCK_STREAM | 0x10, 0, libc::ESOCKTNOSUPPORT),
        (libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_MPTCP, libc::EPROTONOSUPPORT),
        (libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_ICMP, libc::EPROTONOSUPPORT),
    ] {
        let arguments = [family, kind, protocol].map(|value| u64::from(value.cast_unsigned()));
        assert_eq!(verdict(&filters, &call(libc::SYS_socket, &arguments)), refused_with(errno));
    }
}

#[test]
fn messages_have_no_flags_but_the_listed_ones() {
    let filters = Filters::compile().unwrap();
    let listed = crate::socket_policy::MESSAGE_FLAGS;
    let calls = [
        (libc::SYS_sendmsg, 2),
        (libc::SYS_recvmsg, 2),
        (libc::SYS_sendto, 3),
        (libc::SYS_recvfrom, 3),
        (libc::SYS_sendmmsg, 3),
        (libc::SYS_recvmmsg, 3),
    ];
    for (number, place) in calls {
        for bit in 0..32u32 {
            let flag = 1u32 << bit;
            // All other arguments are noise: it must be this one that is looked at.
            let mut arguments = [u64::MAX; 6];
            arguments[place] = u64::from(flag | libc::MSG_NOSIGNAL.cast_unsigned());
            let allowed = listed.contains(&flag.cast_signed());
            let expected = if allowed { ALLOW } else { refused_with(libc::EOPNOTSUPP) };
            assert_eq!(
                verdict(&filters, &call(number, &arguments)),
                expected,
                "call {number}, flag {flag:#x}"
            );
        }
    }
    assert!(!listed.contains(&libc::MSG_OOB) && !listed.contains(&libc::MSG_ZEROCOPY));
}

#[test]
fn socket_options_are_the_listed_ones_at_the_listed_levels() {
    use crate::socket_policy::{OPTIONS, READ_LARGE_OPTIONS, READ_OPTIONS};
    let filters = Filters::compile().unwrap();
    let on = |lists: &[(i32, &[i32])], level: i32, option: i32| {
        lists.iter().any(|(of, options)| *of == level && options.contains(&option))
    };
    let numbers = || (0..300).chain([i32::MAX, -1]);
    for level in numbers() {
        for option in numbers() {
            let written = on(OPTIONS, level, option);
            let large = level == libc::SOL_SOCKET && READ_LARGE_OPTIONS.contains(&option);
            let read = written || large || on(READ_OPTIONS, level, option);
            for (number, allowed) in [(libc::SYS_setsockopt, written), (libc::SYS_getsockopt, read)] {
                let (high, low) = (7u64 << 32, |value: i32| u64::from(value.cast_unsigned()));
                let asked = call(number, &[3, low(level) | high, low(option) | high]);
                let expected = if allowed { ALLOW } else { refused_with(libc::ENOPROTOOPT) };
                assert_eq!(verdict(&filters, &asked), expected, "level {level}, option {option}");
            }
        }
    }
    // The lists are sets of bits, so that a number too large would be lost in silence.
    for (_, options) in OPTIONS.iter().chain(READ_OPTIONS) {
        assert!(options.iter().all(|option| (0..32).contains(option)));
    }
    assert!(!on(OPTIONS, libc::IPPROTO_TCP, libc::TCP_ULP));
}

#[test]
fn leases_and_notices_are_refused_and_other_fcntls_are_not() {
    let filters = Filters::compile().unwrap();
    for (command, expected) in [
        (libc::F_SETLEASE, refused_with(libc::EINVAL)),
        (libc::F_NOTIFY, refused_with(libc::EINVAL)),
        (libc::F_SETLK, ALLOW),
        (libc::F_DUPFD_CLOEXEC, ALLOW),
    ] {
        let command = u64::from(command.cast_unsigned());
        assert_eq!(verdict(&filters, &call(libc::SYS_fcntl, &[3, command | 1 << 40])), expected);
    }
}

#[test]
fn clone_makes_threads_but_no_namespaces_and_clone3_is_absent() {
    let filters = Filters::compile().unwrap();
    let thread = (libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_SIGHAND | libc::CLONE_FILES) as u64;
    assert_eq!(verdict(&filters, &call(libc::SYS_clone, &[thread])), ALLOW);
    for flag in crate::seccomp_policy::REFUSED_CLONES {
        let flags = u64::from(flag.cast_unsigned()) | thread;
        assert_eq!(verdict(&filters, &call(libc::SYS_clone, &[flags])), refused_with(libc::EPERM));
    }
    assert_eq!(verdict(&filters, &call(libc::SYS_clone3, &[])), refused_with(libc::ENOSYS));
    assert_eq!(verdict(&filters, &call(libc::SYS_fallocate, &[])), refused_with(libc::EOPNOTSUPP));
}

#[test]
fn a_thread_has_the_descriptors_of_its_process() {
    let filters = Filters::compile().unwrap();
    let apart = (libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_SIGHAND) as u64;
    assert_eq!(verdict(&filters, &call(libc::SYS_clone, &[apart])), refused_with(libc::EPERM));
    let child = (libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD) as u64;
    assert_eq!(verdict(&filters, &call(libc::SYS_clone, &[child])), ALLOW);
    for (flags, expected) in
        [(0, ALLOW), (4, ALLOW), (2, refused_with(libc::EINVAL)), (6, refused_with(libc::EINVAL))]
    {
        assert_eq!(verdict(&filters, &call(libc::SYS_close_range, &[3, 9, flags])), expected);
    }
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
