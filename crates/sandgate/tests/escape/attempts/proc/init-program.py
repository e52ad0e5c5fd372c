# tries: open the program of the sandbox's first process for writing, to run code when the next one starts
# layer: user
# also: caps, landlock, mount
# control: escapes
# blocked: EACCES|EPERM
def overwrite():
    try:
        return openable(f"/proc/{INIT_PID}/exe", os.O_WRONLY)
    except OSError as error:
        if error.errno != errno.ETXTBSY:
            raise
        return "the program could be written if it were not running"


attempt(overwrite)
