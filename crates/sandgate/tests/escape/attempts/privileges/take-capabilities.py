# tries: take all capabilities back
# layer: caps
# also: seccomp
# control: escapes
# blocked: EPERM
import struct


def take():
    bound = next(line for line in open("/proc/self/status") if line.startswith("CapBnd"))
    wanted = int(bound.split()[1], 16) or 1 << 21  # what could be had, else at least CAP_SYS_ADMIN
    low, high = wanted & 0xFFFFFFFF, wanted >> 32
    header = ctypes.create_string_buffer(struct.pack("Ii", 0x20080522, 0))
    syscall(NR.capset, header, ctypes.create_string_buffer(struct.pack("6I", low, low, 0, high, high, 0)))
    return "capabilities"


attempt(lambda: in_child(take))
