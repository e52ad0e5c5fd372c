# tries: walk up from /proc/self/cwd and from every open descriptor to a file of the host
# layer: mount
# control: escapes
# blocked: ENOENT
def walk():
    starts = ["/proc/self/cwd"] + [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
    for start in starts:
        try:
            return read_secret(start + "/.." * 64 + HOST_FILE)
        except NotADirectoryError:
            pass  # a pipe or a socket
        except FileNotFoundError as error:
            missing = error
    raise missing


attempt(walk)
