# Helpers for the attempts. The harness puts this file before each of them.
#
# An attempt ends with one line: `ESCAPED <what it got>` or `BLOCKED <why>`. A fault of the attempt itself prints
# `BROKEN <fault>`, so that a mistake is never taken for a wall that held.
import ctypes
import errno
import mmap
import os
import signal
import time

INIT_PID = int("{{INIT_PID}}")
HOST_PID = int("{{HOST_PID}}")
NEIGHBOUR_PID = int("{{NEIGHBOUR_PID}}")
HOST_FILE = "{{HOST_FILE}}"
HOST_WRITABLE = "{{HOST_WRITABLE}}"
NEIGHBOUR_FILE = "{{NEIGHBOUR_FILE}}"

# Inside a sandbox PID 1 is the sandbox's own. In the control run a process of the harness stands in for it: the
# machine's own PID 1, and every other process of it, is left alone.
INSIDE = INIT_PID == 1


class NR:
    """Numbers of system calls on x86_64."""

    ioctl, socket, sendto, setsockopt, clone, shmget, shmat, shmdt = 16, 41, 44, 54, 56, 29, 30, 67
    ptrace, syslog, setresuid, capset, personality = 101, 103, 117, 126, 135
    modify_ldt, pivot_root, prctl, chroot, acct, settimeofday = 154, 155, 157, 161, 163, 164
    mount, umount2, swapon, swapoff, reboot = 165, 166, 167, 168, 169
    sethostname, setdomainname, iopl, ioperm = 170, 171, 172, 173
    init_module, delete_module, quotactl = 175, 176, 179
    clock_settime, mq_open, kexec_load, mknodat = 227, 240, 246, 259
    add_key, request_key, keyctl, unshare = 248, 249, 250, 272
    perf_event_open, fanotify_init, prlimit64 = 298, 300, 302
    name_to_handle_at, open_by_handle_at, setns = 303, 304, 308
    process_vm_readv, process_vm_writev, kcmp, finit_module = 310, 311, 312, 313
    seccomp, bpf, kexec_file_load, userfaultfd = 317, 321, 320, 323
    io_uring_setup, open_tree, move_mount, fsopen = 425, 428, 429, 430
    pidfd_open, clone3, close_range, openat2, pidfd_getfd = 434, 435, 436, 437, 438
    mount_setattr, memfd_secret = 442, 447


CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x10000000, 0x20000000, 0x40000000
AT_FDCWD = -100

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class Blocked(Exception):
    """The attempt came to nothing, for a reason that is not an error number."""


def errno_name(number):
    return errno.errorcode.get(number, f"errno-{number}")


def syscall(number, *arguments):
    """The raw call; raises OSError. Integers go as 64 bits, bytes and ctypes objects as pointers, None as NULL."""

    def word(value):
        if value is None:
            return ctypes.c_void_p(None)
        if isinstance(value, int):
            return ctypes.c_ulong(value & 0xFFFFFFFFFFFFFFFF)
        if isinstance(value, bytes):
            return ctypes.c_char_p(value)
        return ctypes.byref(value)

    result = _libc.syscall(ctypes.c_long(number), *(word(a) for a in arguments))
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def reached(number, *arguments, answers):
    """Calls with harmless nonsense. The kernel's own complaint (`answers`) proves that nothing stood in between."""
    try:
        syscall(number, *arguments)
    except OSError as error:
        name = errno_name(error.errno)
        if name in answers.split():
            return f"the kernel itself answered {name}"
        raise
    return "the kernel did it"


# push rbx; mov eax, edi; mov ebx, esi; mov ecx, edx; xor edx, edx; xor esi, esi; int 0x80; pop rbx; ret
_OLD_DOOR = bytes.fromhex("53 89f8 89f3 89d1 31d2 31f6 cd80 5b c3")


def by_the_old_door(number, first, second):
    """A 32-bit system call from 64-bit code. Its numbers are others: 26 is ptrace there and msync here."""
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(_OLD_DOOR)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    result = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int)(address)(number, first, second)
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return f"the old door answered {result}"


class Piece(ctypes.Structure):
    """A piece of memory, as process_vm_readv and process_vm_writev take it."""

    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def in_child(action):
    """Does it in a forked child, so that what succeeds changes no more than the child."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            line = _outcome(action)
        except BaseException as fault:
            line = f"BROKEN {type(fault).__name__}"
        os.write(writer, line.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        line = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        raise Blocked(signal.Signals(os.WTERMSIG(status)).name)
    word, _, rest = line.partition(" ")
    if word == "ESCAPED":
        return rest
    if word == "BLOCKED":
        raise Blocked(rest)
    raise RuntimeError(f"in the child: {rest}")


def own_mounts():
    """In the control run, gives the child mounts of its own, so that the machine's stay as they are."""
    if not INSIDE:
        syscall(NR.unshare, CLONE_NEWNS)
        syscall(NR.mount, b"none", b"/", None, 0x44000, None)  # MS_REC | MS_PRIVATE


def secret():
    """What the harness hid. It stands here backwards, so that a search through memory does not find this text."""
    return "{{HOST_SECRET_REVERSED}}"[::-1].encode()


def secret_in(data, where):
    if secret() in data:
        return f"the secret, from {where}"
    raise Blocked("empty" if not data else "other-content")


def read_secret(path):
    with open(path, "rb") as file:
        return secret_in(file.read(65536), path)


def look(path):
    """Opens and reads a little; what it says is not repeated."""
    with open(path, "rb") as file:
        size = len(file.read(256))
    if not size:
        raise Blocked("empty")
    return f"{path} can be read"


def openable(path, flags):
    """Opens and closes, no more. A mask over the path, which is the null device, is not the real thing."""
    fd = os.open(path, flags | os.O_CLOEXEC)
    try:
        if os.fstat(fd).st_rdev == os.stat("/dev/null").st_rdev:
            raise Blocked("empty")
    finally:
        os.close(fd)
    return f"{path} can be opened"


def creatable(folder):
    """Makes an empty file and takes it away again."""
    path = os.path.join(folder, f".sandgate-escape-{os.getpid()}")
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    os.unlink(path)
    return f"made a file in {folder}"


def _outcome(action):
    try:
        return f"ESCAPED {action()}"
    except OSError as error:
        return f"BLOCKED {errno_name(error.errno)}"
    except Blocked as reason:
        return f"BLOCKED {reason}"
    except MemoryError:
        return "BLOCKED MemoryError"
    except Exception as fault:
        return f"BROKEN {type(fault).__name__}: {fault}"


def attempt(action):
    print(" ".join(_outcome(action).split()), flush=True)


# ---- the attempt ----
