# tries: put a symbolic link to a file of the host into the working folder and read through it
# layer: mount
# control: escapes
# blocked: ENOENT
def through_link():
    link = f".link-{os.getpid()}"
    os.symlink(HOST_FILE, link)
    try:
        return read_secret(link)
    finally:
        os.unlink(link)


attempt(through_link)
