# A process of the host with the secret in its environment, for the attempts to aim at. Makes what only a call to
# the kernel can make, says so, and takes it away again when its input ends, which it also does when the harness dies.
import ctypes
import os
import sys

key, queue, memory_file = int(sys.argv[1]), sys.argv[2], "/dev/shm/" + sys.argv[3]
secret = os.environ["SANDGATE_ESCAPE_SECRET"].encode()
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
IPC_CREAT, IPC_EXCL, IPC_RMID = 0o1000, 0o2000, 0


def made(result, what):
    if result in (-1, ctypes.c_void_p(-1).value):
        sys.exit(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


os.umask(0)
segment = made(libc.shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0o666), "shmget")
try:
    ctypes.memmove(made(libc.shmat(segment, None, 0), "shmat"), secret, len(secret))
    made(libc.mq_open(b"/" + queue.encode(), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666, None), "mq_open")
    try:
        with open(memory_file, "xb") as file:
            file.write(secret)
        print("ready", flush=True)
        sys.stdin.read()
    finally:
        libc.mq_unlink(b"/" + queue.encode())
        if os.path.exists(memory_file):
            os.unlink(memory_file)
finally:
    libc.shmctl(segment, IPC_RMID, None)
