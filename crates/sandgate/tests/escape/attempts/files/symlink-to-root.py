# tries: put a symbolic link to the root folder into the working folder and walk through it
# layer: mount
# control: escapes
# blocked: ENOENT
def through_link():
    link = f".link-{os.getpid()}"
    os.symlink("/", link)
    try:
        return read_secret(link + HOST_FILE)
    finally:
        os.unlink(link)


attempt(through_link)
