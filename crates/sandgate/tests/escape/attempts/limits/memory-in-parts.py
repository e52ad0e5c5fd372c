# tries: fill 1.3 GiB of memory in four processes, each below the limit
# layer: cgroup
# control: escapes
# blocked: SIGKILL|ENOMEM|MemoryError
import mmap

SIZE = 333 << 20


def fill_and_wait(ready, go):
    memory = mmap.mmap(-1, SIZE)
    for page in range(0, SIZE, 4096):
        memory[page] = 1
    os.write(ready, b"x")
    os.read(go, 1)
    os._exit(0)


def fill():
    ready_out, ready_in = os.pipe()
    go_out, go_in = os.pipe()
    os.set_blocking(ready_out, False)
    children, ready, status = [], 0, 0
    for _ in range(4):
        child = os.fork()
        if child == 0:
            os.close(go_in)
            fill_and_wait(ready_in, go_out)
        children.append(child)
    try:
        while ready < 4:
            for child in list(children):
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    children.remove(child)
                    raise Blocked(signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "MemoryError")
            try:
                ready += len(os.read(ready_out, 4))
            except BlockingIOError:
                time.sleep(0.02)
    finally:
        os.close(go_in)
        for child in children:
            os.waitpid(child, 0)
    return "1.3 GiB in four processes"


attempt(lambda: in_child(fill))
