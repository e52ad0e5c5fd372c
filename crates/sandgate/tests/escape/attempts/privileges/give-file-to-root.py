# tries: give a file of one's own to root
# layer: caps
# control: escapes
# blocked: EPERM
def give():
    path = f".given-{os.getpid()}"
    open(path, "w").close()
    try:
        os.chown(path, 0, 0)
    finally:
        os.unlink(path)
    return "the file is root's"


attempt(give)
