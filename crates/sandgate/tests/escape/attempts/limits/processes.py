# tries: start 300 processes
# layer: cgroup
# also: rlimit
# control: escapes
# blocked: EAGAIN
def start_many():
    reader, writer = os.pipe()
    children = []
    try:
        for _ in range(300):
            child = os.fork()
            if child == 0:
                os.close(writer)
                os.read(reader, 1)
                os._exit(0)
            children.append(child)
    finally:
        os.close(writer)
        os.close(reader)
        for child in children:
            os.waitpid(child, 0)
    return f"{len(children)} processes at once"


attempt(start_many)
