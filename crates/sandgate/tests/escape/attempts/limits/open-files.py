# tries: open 10,000 files at once
# layer: rlimit
# control: escapes
# blocked: EMFILE
import resource


def open_many():
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for _ in range(10_000):
        os.open("/dev/null", os.O_RDONLY)
    return "10,000 open files"


attempt(lambda: in_child(open_many))
