# tries: make a second name for a file of the host
# layer: mount
# also: landlock
# control: escapes
# blocked: ENOENT
def second_name():
    name = os.path.join(HOST_WRITABLE, f"second-name-{os.getpid()}")
    os.link(HOST_FILE, name)
    try:
        return read_secret(name)
    finally:
        os.unlink(name)


attempt(second_name)
