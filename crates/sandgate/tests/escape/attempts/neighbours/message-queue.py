# tries: open a message queue of others by its name
# layer: seccomp
# also: ipc, landlock
# control: escapes
# blocked: EPERM
def open_queue():
    os.close(syscall(NR.mq_open, b"{{MQ_NAME}}".lstrip(b"/"), os.O_RDONLY, 0, None))
    return "a queue"


attempt(open_queue)
