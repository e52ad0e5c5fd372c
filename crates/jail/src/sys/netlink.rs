//! Routes of the current network namespace, said to the kernel by hand: one message, one answer.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

use super::{check, owned};
use crate::{Result, StepError};

const STEP: &str = "adding a local route";
/// The first device of every network namespace.
const LOOPBACK: u32 = 1;
const ATTRIBUTE_DESTINATION: u16 = 1;
const ATTRIBUTE_DEVICE: u16 = 4;
/// `nlmsghdr` and the code of an `nlmsgerr`.
const HEADER_BYTES: usize = 16;
const ERROR_BYTES: usize = 4;

/// Makes every address of a network one of this namespace's own: connections to them arrive at whoever listens
/// on all addresses. No error when it is there already.
pub fn add_local_route(network: Ipv4Addr, prefix: u8) -> Result<()> {
    // SAFETY: takes numbers.
    let socket = owned(STEP, unsafe {
        libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE)
    })?;
    let message = new_local_route(network, prefix);
    // SAFETY: pointer and length describe the message.
    let sent = unsafe { libc::send(socket.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) };
    check(STEP, sent as i64)?;
    let mut answer = [0u8; 1024];
    // SAFETY: pointer and length describe the buffer.
    let received = unsafe { libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), 0) };
    let length = usize::try_from(check(STEP, received as i64)?).unwrap_or(0);
    match refusal(&answer[..length.min(answer.len())]) {
        Some(0) => Ok(()),
        Some(code) if code == libc::EEXIST => Ok(()),
        Some(code) => Err(StepError::new(STEP, io::Error::from_raw_os_error(code))),
        None => Err(StepError::new(STEP, io::Error::other("the kernel's answer makes no sense"))),
    }
}

/// The error number of an acknowledgement; 0: done.
fn refusal(answer: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let code = answer.get(HEADER_BYTES..HEADER_BYTES + ERROR_BYTES)?;
    let code = i32::from_ne_bytes(code.try_into().ok()?);
    (i32::from(kind) == libc::NLMSG_ERROR).then_some(-code)
}

fn new_local_route(network: Ipv4Addr, prefix: u8) -> Vec<u8> {
    let mut body = vec![
        libc::AF_INET as u8,
        prefix,
        0,
        0,
        libc::RT_TABLE_LOCAL,
        libc::RTPROT_STATIC,
        libc::RT_SCOPE_HOST,
        libc::RTN_LOCAL,
    ];
    body.extend(0u32.to_ne_bytes());
    // The kernel refuses a destination where the prefix has no bits.
    if prefix > 0 {
        attribute(&mut body, ATTRIBUTE_DESTINATION, network.octets());
    }
    attribute(&mut body, ATTRIBUTE_DEVICE, LOOPBACK.to_ne_bytes());
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    let mut message = Vec::with_capacity(HEADER_BYTES + body.len());
    message.extend(u32::try_from(HEADER_BYTES + body.len()).unwrap_or(u32::MAX).to_ne_bytes());
    message.extend(libc::RTM_NEWROUTE.to_ne_bytes());
    message.extend((flags as u16).to_ne_bytes());
    // Number of the message, and who sends it: the kernel fills that in.
    message.extend(1u32.to_ne_bytes());
    message.extend(0u32.to_ne_bytes());
    message.extend(body);
    message
}

fn attribute(body: &mut Vec<u8>, kind: u16, value: [u8; 4]) {
    body.extend(8u16.to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
}
