# tries: fill 1.3 GiB of memory in one process
# layer: cgroup
# control: escapes
# blocked: SIGKILL|ENOMEM|MemoryError
import mmap

SIZE = 1331 << 20


def fill():
    with mmap.mmap(-1, SIZE) as memory:
        for page in range(0, SIZE, 4096):
            memory[page] = 1
    return "1.3 GiB"


attempt(lambda: in_child(fill))
