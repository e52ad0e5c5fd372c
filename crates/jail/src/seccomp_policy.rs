//! Which system calls code in a sandbox may make. Data, one reason per group; what is not here is refused.
//!
//! Left out on purpose, because they reach far into the kernel and no interpreter needs them: mounting,
//! namespaces, tracing and other processes' memory, bpf, perf, io_uring, userfaultfd, keyrings, modules,
//! kexec, clocks that can be set, handles of files, quotas, swap, accounting, raw ports.

/// System calls and why they are allowed.
pub(crate) struct Group {
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the reason is for the reader, and a test asks for it")
    )]
    pub(crate) why: &'static str,
    pub(crate) calls: &'static [i64],
}

macro_rules! calls {
    ($($name:ident)*) => { &[$(libc::$name),*] };
}

pub(crate) const ALLOWED: &[Group] = &[
    Group {
        why: "reading and writing what is open",
        calls: calls! {
            SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64 SYS_preadv SYS_pwritev
            SYS_preadv2 SYS_pwritev2 SYS_lseek SYS_close SYS_dup SYS_dup3
            SYS_pipe2 SYS_sendfile SYS_splice SYS_tee SYS_copy_file_range SYS_fsync SYS_fdatasync
            SYS_sync_file_range SYS_fadvise64 SYS_readahead SYS_flock
        },
    },
    Group {
        why: "files and folders; the mount namespace and Landlock decide which",
        calls: calls! {
            SYS_openat SYS_openat2 SYS_newfstatat SYS_fstat SYS_statx SYS_statfs SYS_fstatfs SYS_faccessat
            SYS_faccessat2 SYS_readlinkat SYS_getdents64 SYS_getcwd SYS_chdir SYS_fchdir SYS_mkdirat
            SYS_unlinkat SYS_renameat SYS_renameat2 SYS_linkat SYS_symlinkat SYS_fchmod SYS_fchmodat SYS_fchmodat2
            SYS_fchown SYS_fchownat SYS_truncate SYS_ftruncate SYS_utimensat SYS_umask
            SYS_getxattr SYS_lgetxattr SYS_fgetxattr SYS_listxattr SYS_llistxattr SYS_flistxattr
            SYS_inotify_init1 SYS_inotify_add_watch SYS_inotify_rm_watch SYS_memfd_create
        },
    },
    Group {
        why: "memory of its own",
        calls: calls! {
            SYS_brk SYS_mmap SYS_munmap SYS_mremap SYS_mprotect SYS_madvise SYS_msync SYS_mincore
            SYS_mlock SYS_mlock2 SYS_munlock SYS_mlockall SYS_munlockall SYS_membarrier
            SYS_pkey_alloc SYS_pkey_free SYS_pkey_mprotect
        },
    },
    Group {
        why: "processes and threads of its own (clone is looked at further: no new namespaces)",
        calls: calls! {
            SYS_execve SYS_execveat SYS_exit SYS_exit_group SYS_wait4 SYS_waitid SYS_getpid SYS_getppid
            SYS_gettid SYS_getpgid SYS_setpgid SYS_getsid SYS_setsid SYS_set_tid_address SYS_set_robust_list
            SYS_get_robust_list SYS_rseq SYS_futex SYS_prctl SYS_kill SYS_tkill SYS_tgkill SYS_pidfd_open
            SYS_pidfd_send_signal SYS_getpriority SYS_setpriority SYS_sched_yield SYS_sched_getaffinity
            SYS_sched_setaffinity SYS_sched_getparam SYS_sched_getscheduler SYS_sched_get_priority_max
            SYS_sched_get_priority_min SYS_sched_rr_get_interval SYS_getcpu SYS_getrlimit SYS_setrlimit
            SYS_prlimit64 SYS_getrusage SYS_times SYS_sysinfo SYS_uname
        },
    },
    Group {
        why: "who am I; changing needs capabilities that nobody inside has",
        calls: calls! {
            SYS_getuid SYS_geteuid SYS_getgid SYS_getegid SYS_getresuid SYS_getresgid SYS_getgroups
            SYS_setuid SYS_setgid SYS_setreuid SYS_setregid SYS_setresuid SYS_setresgid SYS_setgroups
            SYS_capget
        },
    },
    Group {
        why: "signals",
        calls: calls! {
            SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_rt_sigpending SYS_rt_sigtimedwait
            SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo SYS_rt_sigsuspend SYS_sigaltstack SYS_signalfd4
            SYS_restart_syscall
        },
    },
    Group {
        why: "waiting and time; clocks can be read, not set",
        calls: calls! {
            SYS_ppoll SYS_pselect6 SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2
            SYS_eventfd2 SYS_nanosleep SYS_clock_nanosleep SYS_clock_gettime SYS_clock_getres
            SYS_gettimeofday SYS_getitimer SYS_setitimer SYS_timer_create SYS_timer_settime
            SYS_timer_gettime SYS_timer_getoverrun SYS_timer_delete SYS_timerfd_create
            SYS_timerfd_settime SYS_timerfd_gettime
        },
    },
    Group {
        why: "using sockets; making them, messages and options are looked at further (socket_policy.rs), and the network namespace is empty",
        calls: calls! {
            SYS_bind SYS_listen SYS_accept SYS_accept4 SYS_connect SYS_getsockname SYS_getpeername SYS_shutdown
        },
    },
    Group {
        why: "shared memory and queues of its own namespace (multiprocessing, databases)",
        calls: calls! {
            SYS_shmget SYS_shmat SYS_shmdt SYS_shmctl SYS_semget SYS_semop SYS_semtimedop SYS_semctl
            SYS_msgget SYS_msgsnd SYS_msgrcv SYS_msgctl
        },
    },
    Group { why: "randomness", calls: calls! { SYS_getrandom } },
];

/// Older forms that only this architecture has; newer ones above do the same.
#[cfg(target_arch = "x86_64")]
pub(crate) const ALLOWED_LEGACY: &[Group] = &[Group {
    why: "older forms of the calls above, still used by libraries and static programs",
    calls: calls! {
        SYS_open SYS_creat SYS_stat SYS_lstat SYS_access SYS_readlink SYS_getdents SYS_mkdir SYS_rmdir
        SYS_unlink SYS_rename SYS_link SYS_symlink SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes
        SYS_futimesat SYS_dup2 SYS_pipe SYS_poll SYS_select SYS_epoll_create SYS_epoll_wait SYS_eventfd
        SYS_signalfd SYS_inotify_init SYS_alarm SYS_pause SYS_time SYS_fork SYS_vfork SYS_getpgrp
        SYS_arch_prctl
    },
}];
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const ALLOWED_LEGACY: &[Group] = &[];

/// Answered with "no such call", so that the C library falls back to an older one that can be looked into.
pub(crate) const NOT_THERE: &[i64] = calls! { SYS_clone3 };

/// Attributes of files: allowed where the disk below counts them, else not supported. Without capabilities a process
/// sets those of the user and access lists, on files of its own.
pub(crate) const ATTRIBUTES: &[i64] = calls! {
    SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr
};

/// The newest call that was thought about here. Those above are answered with "no such call", as by a kernel that has
/// them not: the C library then does without, and with any other answer gives up.
pub(crate) const NEWEST: i64 = libc::SYS_fchmodat2;

/// What is above is no call of today's kernels but the form of another architecture (x32): refused.
pub(crate) const OTHER_FORMS: u32 = 0x4000_0000;

/// Kinds of files that `mknod` may make: plain ones and pipes. No devices, not even the one that needs no capability
/// and hides files of overlays.
pub(crate) const MADE_FILES: &[u32] = &[0, libc::S_IFREG, libc::S_IFIFO];

/// The forms of `mknod`, and which argument says the kind.
#[cfg(target_arch = "x86_64")]
pub(crate) const MAKING_FILES: &[(u32, i64)] = &[(1, libc::SYS_mknod), (2, libc::SYS_mknodat)];
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const MAKING_FILES: &[(u32, i64)] = &[(2, libc::SYS_mknodat)];

/// Answered with "not supported", so that the C library writes instead: reserving a disk takes milliseconds,
/// filling it takes long enough to be noticed.
pub(crate) const NOT_SUPPORTED: &[i64] = calls! { SYS_fallocate };

/// Flags of `clone` that would make namespaces, or children of somebody else.
pub(crate) const REFUSED_CLONES: &[i32] = &[
    libc::CLONE_PARENT,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Flags of `close_range`: not the one that gives a thread descriptors of its own.
pub(crate) const CLOSE_RANGE_FLAGS: u32 = libc::CLOSE_RANGE_CLOEXEC;

/// What `fcntl` does not do: leases and notices, by which code inside could hold up whoever opens its files
/// from outside.
pub(crate) const REFUSED_FCNTLS: &[i32] = &[libc::F_SETLEASE, libc::F_NOTIFY];

/// Requests on descriptors: terminals of its own, sizes, close-on-exec. Not among them: pushing input
/// into a terminal, anything of a device.
pub(crate) const IOCTLS: &[u64] = &[
    libc::TCGETS,
    libc::TCSETS,
    libc::TCSETSW,
    libc::TCSETSF,
    libc::TIOCGWINSZ,
    libc::TIOCSWINSZ,
    libc::TIOCGPGRP,
    libc::TIOCSPGRP,
    libc::TIOCSCTTY,
    libc::TIOCNOTTY,
    libc::TIOCGPTN,
    libc::TIOCSPTLCK,
    libc::TIOCGSID,
    libc::TIOCOUTQ,
    libc::TCSBRK,
    libc::TCXONC,
    libc::TCFLSH,
    // The same as the first four, with speeds; newer C libraries ask by these.
    libc::TCGETS2,
    libc::TCSETS2,
    libc::TCSETSW2,
    libc::TCSETSF2,
    libc::FIONREAD,
    libc::FIONBIO,
    libc::FIOCLEX,
    libc::FIONCLEX,
    libc::FIOASYNC,
    libc::SIOCGIFCONF,
    libc::SIOCGIFFLAGS,
    libc::SIOCGIFADDR,
    libc::SIOCGIFINDEX,
];
