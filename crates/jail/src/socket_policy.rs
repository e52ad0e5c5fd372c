//! Which sockets code in a sandbox may make, and what it may ask of them. Data; what is not here is refused.
//!
//! The network namespace keeps packets in; this keeps code away from protocols and options that few programs
//! use and that have had many faults: raw and ping sockets, multipath TCP, SCTP, urgent data, upper layer
//! protocols, programs attached to sockets, memory shared with them, tables of the packet filter.

use libc::{IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, IPPROTO_UDP, SOL_SOCKET};

/// Kinds of sockets that differ in nothing that is looked at.
pub(crate) struct Sockets {
    pub(crate) families: &'static [i32],
    pub(crate) kinds: &'static [Kinds],
}

pub(crate) struct Kinds {
    pub(crate) types: &'static [i32],
    pub(crate) protocols: &'static [i32],
}

/// The calls that make sockets. Of pairs, the kernel itself makes only local ones.
pub(crate) const MAKING: &[i64] = &[libc::SYS_socket, libc::SYS_socketpair];

/// Other families (netlink, packet, vsock, alg, …) are "not supported".
pub(crate) const SOCKETS: &[Sockets] = &[
    Sockets {
        families: &[libc::AF_UNIX],
        kinds: &[Kinds {
            types: &[libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_SEQPACKET],
            protocols: &[0],
        }],
    },
    Sockets {
        families: &[libc::AF_INET, libc::AF_INET6],
        kinds: &[
            Kinds { types: &[libc::SOCK_STREAM], protocols: &[0, IPPROTO_TCP] },
            Kinds { types: &[libc::SOCK_DGRAM], protocols: &[0, IPPROTO_UDP] },
        ],
    },
];

/// Bits beside the type in the same argument.
pub(crate) const TYPE_FLAGS: i32 = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;

/// The calls that take flags for a message, and which argument they are.
pub(crate) const MESSAGE_CALLS: &[(u32, &[i64])] = &[
    (2, &[libc::SYS_sendmsg, libc::SYS_recvmsg]),
    (3, &[libc::SYS_sendto, libc::SYS_recvfrom, libc::SYS_sendmmsg, libc::SYS_recvmmsg]),
];

/// Not among them: urgent data, the queue of errors, sending without a copy, data with the first packet.
pub(crate) const MESSAGE_FLAGS: &[i32] = &[
    libc::MSG_PEEK,
    libc::MSG_DONTROUTE,
    libc::MSG_CTRUNC,
    libc::MSG_TRUNC,
    libc::MSG_DONTWAIT,
    libc::MSG_EOR,
    libc::MSG_WAITALL,
    libc::MSG_NOSIGNAL,
    libc::MSG_MORE,
    libc::MSG_WAITFORONE,
    libc::MSG_CMSG_CLOEXEC,
];

/// Options by level. All numbers are below 32, which the program makes use of.
pub(crate) const OPTIONS: &[(i32, &[i32])] = &[
    (
        SOL_SOCKET,
        &[
            libc::SO_REUSEADDR,
            libc::SO_TYPE,
            libc::SO_ERROR,
            libc::SO_BROADCAST,
            libc::SO_SNDBUF,
            libc::SO_RCVBUF,
            libc::SO_KEEPALIVE,
            libc::SO_PRIORITY,
            libc::SO_LINGER,
            libc::SO_REUSEPORT,
            libc::SO_PASSCRED,
            libc::SO_RCVLOWAT,
            libc::SO_SNDLOWAT,
            libc::SO_RCVTIMEO,
            libc::SO_SNDTIMEO,
            libc::SO_TIMESTAMP,
            libc::SO_ACCEPTCONN,
        ],
    ),
    (
        IPPROTO_TCP,
        &[
            libc::TCP_NODELAY,
            libc::TCP_MAXSEG,
            libc::TCP_CORK,
            libc::TCP_KEEPIDLE,
            libc::TCP_KEEPINTVL,
            libc::TCP_KEEPCNT,
            libc::TCP_SYNCNT,
            libc::TCP_LINGER2,
            libc::TCP_DEFER_ACCEPT,
            libc::TCP_WINDOW_CLAMP,
            libc::TCP_QUICKACK,
            libc::TCP_USER_TIMEOUT,
            libc::TCP_NOTSENT_LOWAT,
        ],
    ),
    // The C library asks for errors of its questions to name servers, and fails where it may not.
    (
        IPPROTO_IP,
        &[libc::IP_TOS, libc::IP_TTL, libc::IP_MTU_DISCOVER, libc::IP_RECVERR, libc::IP_BIND_ADDRESS_NO_PORT],
    ),
    (
        IPPROTO_IPV6,
        &[libc::IPV6_UNICAST_HOPS, libc::IPV6_MTU_DISCOVER, libc::IPV6_RECVERR, libc::IPV6_V6ONLY],
    ),
];

/// What may be read besides.
pub(crate) const READ_OPTIONS: &[(i32, &[i32])] = &[
    (SOL_SOCKET, &[libc::SO_PEERCRED, libc::SO_OOBINLINE]),
    (IPPROTO_TCP, &[libc::TCP_INFO, libc::TCP_CONGESTION]),
];

/// And at the level of sockets, with larger numbers: Python asks what kind of socket a descriptor is.
pub(crate) const READ_LARGE_OPTIONS: &[i32] = &[libc::SO_PROTOCOL, libc::SO_DOMAIN];
