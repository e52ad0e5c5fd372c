# tries: fill 1.3 GiB of memory through files that live in memory alone
# layer: cgroup
# control: escapes
# blocked: SIGKILL|ENOMEM|MemoryError
import mmap

SIZE = 666 << 20


def fill():
    kept = []
    for part in range(2):
        fd = os.memfd_create(f"part-{part}")
        os.ftruncate(fd, SIZE)
        memory = mmap.mmap(fd, SIZE)
        for page in range(0, SIZE, 4096):
            memory[page] = 1
        kept.append(memory)
    return "1.3 GiB in memory files"


attempt(lambda: in_child(fill))
