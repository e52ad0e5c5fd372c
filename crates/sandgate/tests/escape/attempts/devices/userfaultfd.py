# tries: get page fault handling from its device instead of its system call
# layer: mount
# also: user, landlock
# control: escapes
# blocked: ENOENT
attempt(lambda: openable("/dev/userfaultfd", os.O_RDWR))
